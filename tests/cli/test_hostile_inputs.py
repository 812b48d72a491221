"""Every reader of every command against everything that can be wrong with its file.

Each row: the reader, the fault, and what the one line says. The line names the file, the exit
code is 1, complete files stay as they are, nothing half-written is left, and once the file is
whole again the same command ends as if nothing had been.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from ragmend.datasets.ragtruth import demo_folder
from ragmend.repair.lexical.parameters import parameters_path

CONFIG = """name = "x"
[data]
path = "data"
[detector]
kind = "lexical"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
"""


class Reader(NamedTuple):
    """A file and a command that reads it, inside the folder `inputs`."""

    file: str
    words: tuple[str, ...]
    is_enough: bool = True


DETECT = ("run", "c.toml", "--out", "new", "--only", "detect")
IMPORT = (*DETECT, "--set", "detector.kind=predictions", "--set", "detector.predictions={}")
RESUME = ("run", "demo", "--out", "run")
READERS = {
    "responses": Reader("data/response.jsonl", DETECT),
    "sources": Reader("data/source_info.jsonl", DETECT),
    "training answers": Reader(
        "train/response.jsonl",
        ("fit-verifier", "--data", "train", "--out", "new.json"),
        is_enough=False,  # the command asks for more data than the built-in set holds
    ),
    "predictions": Reader("p.jsonl", IMPORT),
    "predictions CSV": Reader("p.csv", IMPORT),
    "configuration": Reader("c.toml", DETECT),
    "parameters": Reader("v.json", (*DETECT, "--set", "verifier.parameters={}")),
    "answer to split": Reader("a.txt", ("split", "a.txt")),
    "run's configuration": Reader("run/config.toml", ("analyze", "run")),
    "status's configuration": Reader("run/config.toml", ("status", "run")),
    "manifest": Reader("run/05-verdicts/manifest.json", RESUME),
    "scores' manifest": Reader("run/02-population/manifest.json", ("detect", "score", "run")),
    "protocol": Reader("run/protocol.lock.json", RESUME),
    "records": Reader("run/03-claims/claims.jsonl", RESUME),
    "records to analyse": Reader("run/05-verdicts/verdicts.jsonl", ("analyze", "run")),
    "scores": Reader("run/02-population/detector_scores.jsonl", ("detect", "score", "run")),
    "journal": Reader("run/08-judgements/shards/shard-0000.jsonl", RESUME),
    "run lock": Reader("run/run.lock", RESUME),
}


def cut(content):
    return content.rstrip(b"\n")[:-20]


def zipped(content):
    return gzip.compress(content, mtime=0)


def first_row(content, change):
    """Change the first JSON row of a file by a function of it."""
    first, _, rest = content.partition(b"\n")
    row = json.loads(first)
    return json.dumps(change(row) or row).encode() + b"\n" + rest


def whole(content, change):
    row = json.loads(content)
    return json.dumps(change(row) or row).encode()


def label(row, **changes):
    text = row["response"]
    row["labels"] = [
        {
            "start": 0,
            "end": 1,
            "text": text[:1],
            "meta": "",
            "label_type": "Evident Conflict",
            "implicit_true": False,
            "due_to_null": False,
        }
        | changes
    ]


def rename(row, old, new):
    row[new] = row.pop(old)


def set_to(row, **changes):
    row.update(changes)


FAULTS = {
    "is empty": lambda content: b"",
    "is not gzip": lambda content: content,
    "is cut gzip": lambda content: zipped(content)[:-30],
    "is damaged gzip": lambda content: zipped(content)[:-12] + b"\0" * 12,
    "is not UTF-8": lambda content: content[:30] + b"\xff" + content[30:],
    "is cut": cut,
    "is cut in a record": lambda content: b"\n".join(content.split(b"\n")[:2])[:-9],
    "is a list": lambda content: b"[]\n" + content,
    "is nested without end": lambda content: b'{"a":' * 50_000 + b"\n" + content,
    "has NaN": lambda content: content.replace(b":", b":NaN,", 1),
    "has a key twice": lambda content: b'{"id": "1", "id": "2"}\n' + content,
    "has a row twice": lambda content: content + content,
    "has half a surrogate": lambda content: b'{"id": "\\ud800"}\n' + content,
    "has a number of 5,000 digits": lambda content: b'{"id": ' + b"9" * 5000 + b"}\n" + content,
    "has a number for text": lambda content: first_row(content, lambda r: set_to(r, id=7)),
    "has an unknown key": lambda content: first_row(content, lambda r: rename(r, "split", "splt")),
    "has a span out of text": lambda content: first_row(content, lambda r: label(r, end=9**9)),
    "has a span of other text": lambda content: first_row(content, lambda r: label(r, text="\n")),
    "has no source": lambda content: first_row(content, lambda r: set_to(r, source_id="none")),
    "has another task": lambda content: first_row(content, lambda r: set_to(r, task_type="QS")),
    "predicts an unknown record": lambda content: first_row(content, lambda r: set_to(r, id="0")),
    "predicts a span out of text": lambda content: first_row(
        content, lambda r: set_to(r, spans=[[0, 9**9]])
    ),
    "predicts a word": lambda content: first_row(content, lambda r: set_to(r, spans="maybe")),
    "predicts too little": lambda content: content.partition(b"\n")[2],
    "lacks a row": lambda content: b"\n".join(content.split(b"\n")[:-2]) + b"\n",
    "has an unknown record": lambda content: content + b"0,1\n",
    "has a line twice": lambda content: content + content.split(b"\n")[1] + b"\n",
    "has no verdict": lambda content: content.replace(b",1\n", b",\n", 1),
    "has a short row": lambda content: content + b"0\n",
    "has an open quote": lambda content: content + b'"0,1\n',
    "misspells a key": lambda content: content + b"[verifier]\ntreshold = 0.4\n",
    "has a threshold of 1.5": lambda content: content + b"[verifier]\nthreshold = 1.5\n",
    "has a word for a number": lambda content: content + b'[evidence]\ntop_k = "many"\n',
    "has a section twice": lambda content: content + b"[data]\n",
    "has brackets without end": lambda content: b"a = " + b"[" * 5000 + content,
    "has an infinite number": lambda content: whole(
        content, lambda r: set_to(r, format_version=1e999)
    ),
    "has a number too large": lambda content: content.replace(b"0.0", b"1e999", 1),
    "is of another version": lambda content: whole(content, lambda r: set_to(r, format_version=0)),
    "misspells a name": lambda content: whole(
        content, lambda r: rename(r, "format_version", "format_versoin")
    ),
    "misspells counts": lambda content: whole(content, lambda r: rename(r, "counts", "count")),
    "has text for counts": lambda content: whole(content, lambda r: set_to(r, counts="many")),
    "has a changed word": lambda content: content.replace(b"statement", b"heading", 1),
    "has a strange line": lambda content: b"what?\n" + content,
    "has a line that is not UTF-8": lambda content: b"\xff\n" + content,
    "has a damaged answer": lambda content: b'{"key":"k","answer":[7]}\n' + content,
    "is of nobody": lambda content: b"",
}
ROWS = [
    ("responses", "is missing", "none of response.jsonl, response.jsonl.gz"),
    ("responses", "is a directory", "response.jsonl: is a directory, a file was expected"),
    ("responses", "is empty", "response.jsonl: no test response of QA, Data2txt, Summary"),
    ("responses", "is not gzip", "response.jsonl.gz: the name ends in .gz but"),
    ("responses", "is cut gzip", "response.jsonl.gz:"),
    ("responses", "is damaged gzip", "broken gzip file"),
    ("responses", "is not UTF-8", "response.jsonl:1: not UTF-8"),
    ("responses", "is cut", "response.jsonl:48: not valid JSON"),
    ("responses", "is cut in a record", "response.jsonl:2: not valid JSON"),
    ("responses", "is a list", "response.jsonl:1: expected a JSON object, found list"),
    ("responses", "is nested without end", "response.jsonl:1: not valid JSON"),
    ("responses", "has NaN", "response.jsonl:1: NaN is not a JSON number"),
    ("responses", "has a key twice", "response.jsonl:1: key 'id' appears twice"),
    ("responses", "has a row twice", "response.jsonl:49: id '1001' appears twice"),
    ("responses", "has half a surrogate", "response.jsonl:1: a lone surrogate"),
    ("responses", "has a number of 5,000 digits", "response.jsonl:1: not valid JSON"),
    ("responses", "has a number for text", "response.jsonl:1: id: Input should be a valid string"),
    ("responses", "has an unknown key", "unknown key 'splt'; did you mean 'split'?"),
    ("responses", "has a span out of text", "label 0: span 0:387420489 leaves the text"),
    ("responses", "has a span of other text", "label 0: span 0:1 does not hold"),
    ("responses", "has no source", "source 'none' is not in source_info.jsonl"),
    ("sources", "is missing", "none of source_info.jsonl"),
    ("sources", "is a directory", "source_info.jsonl: is a directory"),
    ("sources", "is empty", "is not in source_info.jsonl"),
    ("sources", "is not gzip", "source_info.jsonl.gz: the name ends in .gz but"),
    ("sources", "is cut gzip", "broken gzip file"),
    ("sources", "is not UTF-8", "source_info.jsonl:1: not UTF-8"),
    ("sources", "is cut", "not valid JSON"),
    ("sources", "has a row twice", "source_id"),
    ("sources", "has another task", "task_type: Input should be 'QA', 'Data2txt' or 'Summary'"),
    ("training answers", "is missing", "train: none of response.jsonl"),
    ("training answers", "is empty", "response.jsonl: no train response"),
    ("training answers", "is cut", "response.jsonl:48: not valid JSON"),
    ("training answers", "is not UTF-8", "response.jsonl:1: not UTF-8"),
    ("predictions", "is missing", "p.jsonl: no such file"),
    ("predictions", "is a directory", "p.jsonl: is a directory"),
    ("predictions", "is empty", "p.jsonl: the file holds no prediction"),
    ("predictions", "is not gzip", "p.jsonl.gz: the name ends in .gz but"),
    ("predictions", "is cut gzip", "broken gzip file"),
    ("predictions", "is not UTF-8", "p.jsonl:1: not UTF-8"),
    ("predictions", "is cut", "p.jsonl:48: not valid JSON"),
    ("predictions", "has a row twice", "p.jsonl:49: id '1001' appears twice"),
    ("predictions", "predicts an unknown record", "p.jsonl:1: record '0' is not in the data"),
    ("predictions", "predicts a span out of text", "p.jsonl:1: span 0:387420489 leaves the text"),
    ("predictions", "predicts a word", "p.jsonl:1: spans: not valid JSON"),
    ("predictions", "predicts too little", "p.jsonl: no prediction for 1 of 48 records"),
    ("predictions CSV", "is missing", "p.csv: no such file"),
    ("predictions CSV", "is a directory", "p.csv: is a directory"),
    ("predictions CSV", "is empty", "p.csv: the file is empty"),
    ("predictions CSV", "is not gzip", "p.csv.gz: the name ends in .gz but"),
    ("predictions CSV", "is cut gzip", "broken gzip file"),
    ("predictions CSV", "is not UTF-8", "not UTF-8"),
    ("predictions CSV", "is cut", "p.csv: no prediction for"),
    ("predictions CSV", "has a line twice", "p.csv:50: id '1001' appears twice"),
    ("predictions CSV", "has an unknown record", "p.csv:50: record '0' is not in the data"),
    ("predictions CSV", "has no verdict", "p.csv:2: verdict must be one of"),
    ("predictions CSV", "lacks a row", "p.csv: no prediction for 1 of 48 records"),
    ("predictions CSV", "has a short row", "p.csv:50: 1 cells, the header has 2"),
    ("predictions CSV", "has an open quote", "p.csv:50: not valid CSV"),
    ("configuration", "is missing", "c.toml: neither a file nor a shipped configuration"),
    ("configuration", "is a directory", "c.toml: is a directory"),
    ("configuration", "is empty", "c.toml: name: is required and not there"),
    ("configuration", "is not UTF-8", "c.toml: not UTF-8"),
    ("configuration", "is cut", "c.toml: not valid TOML"),
    ("configuration", "misspells a key", "did you mean 'verifier.threshold'"),
    ("configuration", "has a threshold of 1.5", "verifier.threshold: Input should be less than"),
    ("configuration", "has a word for a number", "evidence.top_k: Input should be a valid integer"),
    ("configuration", "has a section twice", "c.toml: not valid TOML"),
    ("configuration", "has brackets without end", "c.toml: not valid TOML"),
    ("parameters", "is missing", "v.json: no such parameter file"),
    ("parameters", "is a directory", "v.json: is a directory"),
    ("parameters", "is empty", "v.json: not valid JSON"),
    ("parameters", "is not UTF-8", "v.json: not UTF-8"),
    ("parameters", "is cut", "v.json: not valid JSON"),
    ("parameters", "has an infinite number", "v.json: Infinity is not a JSON number"),
    ("parameters", "has a number too large", "v.json: 1e999 is too large for a number"),
    ("parameters", "is of another version", "v.json: format_version: Input should be"),
    ("parameters", "misspells a name", "unknown key 'format_versoin'; did you mean 'format_vers"),
    ("answer to split", "is missing", "a.txt: no such file"),
    ("answer to split", "is a directory", "a.txt: is a directory"),
    ("answer to split", "is not UTF-8", "a.txt: not UTF-8 (byte 30"),
    ("run's configuration", "is missing", "run: no run folder (there is no config.toml in it)"),
    ("run's configuration", "is a directory", "run: no run folder"),
    ("run's configuration", "is empty", "config.toml: name: is required"),
    ("run's configuration", "is not UTF-8", "config.toml: not UTF-8"),
    ("run's configuration", "is cut", "config.toml: not valid TOML"),
    ("status's configuration", "is empty", "config.toml: name: is required"),
    ("status's configuration", "is not UTF-8", "config.toml: not UTF-8"),
    ("manifest", "is a directory", "05-verdicts/manifest.json: is a directory"),
    ("manifest", "is empty", "05-verdicts/manifest.json: not valid JSON"),
    ("manifest", "is not UTF-8", "05-verdicts/manifest.json: not UTF-8"),
    ("manifest", "is cut", "05-verdicts/manifest.json: not valid JSON"),
    ("manifest", "misspells counts", "unknown key 'count'; did you mean 'counts'?"),
    ("manifest", "has text for counts", "manifest.json: counts: Input should be an object"),
    ("scores' manifest", "is missing", "stage select is absent"),
    ("scores' manifest", "is empty", "02-population/manifest.json: not valid JSON"),
    ("protocol", "is missing", "protocol.lock.json is missing or cannot be read"),
    ("protocol", "is a directory", "protocol.lock.json is missing or cannot be read"),
    ("protocol", "is empty", "protocol.lock.json is missing or cannot be read"),
    ("protocol", "is not UTF-8", "protocol.lock.json is missing or cannot be read"),
    ("protocol", "is cut", "protocol.lock.json is missing or cannot be read"),
    ("records", "is missing", "stage split is damaged: 03-claims/claims.jsonl is missing or"),
    ("records", "is a directory", "stage split is damaged: 03-claims/claims.jsonl is missing or"),
    ("records", "is empty", "stage split is damaged: 03-claims/claims.jsonl is missing or was"),
    ("records", "is not UTF-8", "stage split is damaged: 03-claims/claims.jsonl is missing or"),
    ("records", "is cut", "stage split is damaged: 03-claims/claims.jsonl is missing or was"),
    ("records", "has a changed word", "stage split is damaged: 03-claims/claims.jsonl is missing"),
    ("records", "has a row twice", "stage split is damaged: 03-claims/claims.jsonl is missing or"),
    ("records to analyse", "is cut", "stage verify is damaged: 05-verdicts/verdicts.jsonl is"),
    ("records to analyse", "is missing", "stage verify is damaged: 05-verdicts/verdicts.jsonl"),
    ("scores", "is empty", "stage select is damaged: 02-population/detector_scores.jsonl is"),
    ("scores", "is missing", "stage select is damaged: 02-population/detector_scores.jsonl is"),
    ("journal", "is a directory", "shards/shard-0000.jsonl: is a directory"),
    ("journal", "has a line that is not UTF-8", "shards/shard-0000.jsonl:1: not UTF-8"),
    ("journal", "has a strange line", "shard-0000.jsonl:1: not valid JSON"),
    ("journal", "has a damaged answer", "shard-0000.jsonl:1: not a journal entry"),
    ("journal", "is nested without end", "shard-0000.jsonl:1: not valid JSON"),
    ("run lock", "is of nobody", "run.lock: does not say who holds it"),
    ("run lock", "is a directory", "run.lock: does not say who holds it"),
]


def test_every_reader_and_every_fault_is_tried():
    assert {reader for reader, _, _ in ROWS} == set(READERS)
    assert {fault for _, fault, _ in ROWS} == {*FAULTS, "is missing", "is a directory"}


@pytest.fixture
def inputs(tmp_path, monkeypatch, request):
    """A folder with one whole file of every kind; the working directory is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ragmend.run_lock.PATIENCE_S", 0.02)
    shutil.copytree(demo_folder(), "data")
    shutil.copytree(demo_folder(), "train")
    answers = Path("train/response.jsonl")
    answers.write_text(answers.read_text().replace('"split": "test"', '"split": "train"'))
    rows = [json.loads(row) for row in Path("data/response.jsonl").read_text().splitlines()]
    ids = [row["id"] for row in rows]
    spans = [{"id": i, "spans": [[0, 1]]} for i in ids]
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in spans))
    Path("p.csv").write_text("id,verdict\n" + "".join(f"{i},1\n" for i in ids))
    Path("c.toml").write_text(CONFIG)
    Path("a.txt").write_text("It is red. It is old. Nobody knows why.\n")
    shutil.copy(parameters_path(), "v.json")
    return tmp_path


def break_file(file, fault):
    """Break a file; return the path it has now."""
    content = file.read_bytes() if file.exists() else b""
    if file.exists():
        file.unlink()
    if fault == "is missing":
        return file
    if fault == "is a directory":
        file.mkdir(parents=True)
        return file
    if "gzip" in fault:
        file = file.with_name(file.name + ".gz")
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(FAULTS[fault](content))
    return file


def content_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize(("reader", "fault", "words"), ROWS, ids=[f"{r}: {f}" for r, f, _ in ROWS])
def test_a_hostile_file_is_one_line_and_costs_nothing(
    reader, fault, words, inputs, finished, command, files_of
):
    file, command_words = Path(READERS[reader].file), READERS[reader].words
    if file.parts[0] == "run":
        shutil.copytree(finished, "run")
    if reader == "journal":
        (file.parent.parent / "manifest.json").unlink()
    before = file.read_bytes() if file.exists() else None
    broken = break_file(file, fault)
    state = content_of(inputs)

    done = command(*(word.format(broken) for word in command_words))

    assert_one_line(done, words)
    assert left_over(inputs) == []
    assert content_of(inputs) == state, "a refused command changes nothing"

    if not READERS[reader].is_enough:
        return
    remove(broken)
    if before is not None:
        file.write_bytes(before)
    done = command(*(word.format(file) for word in command_words))
    assert done.returncode == 0, done.stderr
    if file.parts[0] == "run":
        assert files_of("run") == files_of(finished)


def assert_one_line(done, words):
    lines = done.stderr.splitlines()
    errors = [line for line in lines if line.startswith("ragmend: ")]
    assert (done.returncode, len(errors), lines[-1:]) == (1, 1, errors), done.stderr
    assert words in errors[0]


def left_over(folder):
    """Return what only a command at work may have: half-written files and locks of its own."""
    mine = [path for path in folder.rglob("*") if path.suffix in (".partial", ".lock")]
    return [path for path in mine if path.name != "run.lock"]
