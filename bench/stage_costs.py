"""What the stages of a run cost by themselves: CPU time, memory and bytes an answer.

Every stage runs as it would on a cluster, in processes of their own: stages that ask are answered
in shards and folded. Answers are gold-flagged ones, all of them under repair, repeated with new
ids where there are not enough. Two sizes are measured; what lies beyond is a straight line through
them, and nobody has been there.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import cycle, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ragmend.datasets.ragtruth import demo_folder, find_files
from ragmend.io import read_lines
from ragmend.paths import STAGE_NAMES

N_SMALL, N_LARGE = 100, 400
N_SHARDS = 8
ROLES = {
    "verify": ("verifier",),
    "propose": ("rewriter", "verifier"),
    "judge": ("overlap", "numbers-names", "sentence-support"),
}
JOURNALS, MARKERS = "*/shards/*.jsonl", "*/shards/*.done.json"


class Used(NamedTuple):
    """What one process used: seconds of CPU, and its peak of memory in bytes."""

    cpu_s: float
    peak: float


class Measured(NamedTuple):
    """One run of all stages.

    Attributes:
        n_answers: Answers under repair.
        used: By step: a stage, "verify verifier shard" (one of several), "verify verifier reading"
            (the same when all is recorded), "verify-fold".
        journal_bytes: By stage, of all its journals together.
        record_bytes: By folder of the run.
    """

    n_answers: int
    used: Mapping[str, Used]
    journal_bytes: Mapping[str, float]
    record_bytes: Mapping[str, float]


class Line(NamedTuple):
    """A straight line: what is there anyway, and what each answer adds."""

    fixed: float
    an_answer: float

    def at(self, n_answers: int) -> float:
        """Return what so many answers need."""
        return self.fixed + self.an_answer * n_answers


class StageCosts(NamedTuple):
    """The lines of every step, and whose answers they were measured on."""

    answers: str
    cpu_s: Mapping[str, Line]
    peak: Mapping[str, Line]
    journal_bytes: Mapping[str, float]
    record_bytes: Mapping[str, float]


@cache
def measure_stages(n_small: int = N_SMALL, n_large: int = N_LARGE) -> StageCosts:
    """Run everything for two numbers of answers, and lay lines through what it used."""
    small, large = (_run_in_folder(n) for n in (n_small, n_large))
    name = "RAGTruth's flagged answers" if os.environ.get("RAGMEND_DATA") else "built-in answers"
    return StageCosts(
        f"{name}, {small.n_answers:,} and {large.n_answers:,}",
        {step: _line(small, large, step, "cpu_s") for step in large.used},
        {step: _line(small, large, step, "peak") for step in large.used},
        {stage: n / large.n_answers for stage, n in large.journal_bytes.items()},
        {folder: n / large.n_answers for folder, n in large.record_bytes.items()},
    )


def measure_run(folder: Path, n_answers: int) -> Measured:
    """Run all stages on so many answers under repair, each step in a process of its own."""
    n_answers = _write_dataset(folder / "data", n_answers)
    root, settings = folder / "run", _settings(folder)
    used: dict[str, Used] = {}
    journals: dict[str, float] = {}
    for stage in STAGE_NAMES:
        words = ("run", *settings, "--out", str(root), "--only", stage)
        if stage not in ROLES:
            used[stage] = _measure(*words)
            continue
        for role in ROLES[stage]:
            used |= _measure_role(root, settings, stage, role)
        journals[stage] = float(sum(f.stat().st_size for f in root.glob(JOURNALS)))
        used[f"{stage}-fold"] = _measure(*words, "--fold")
    return Measured(n_answers, used, journals, _folder_sizes(root))


def _measure_role(
    root: Path, settings: tuple[str, ...], stage: str, role: str
) -> Mapping[str, Used]:
    """Answer all shards of a role: the first one alone, and once more when nobody is asked."""
    words = ("shard", settings[0], stage, *settings[1:], "--out", str(root))
    words = (*words, "--role", role, "--of", str(N_SHARDS))
    first = _measure(*words, "--shard", "0")
    # The marker that came last is the role's: without it all is read, and found to be recorded.
    max(root.glob(MARKERS), key=lambda path: path.name).unlink()
    again = _measure(*words, "--shard", "0")
    _measure(*words, *(word for n in range(1, N_SHARDS) for word in ("--shard", str(n))))
    return {f"{stage} {role} shard": first, f"{stage} {role} reading": again}


def _folder_sizes(root: Path) -> Mapping[str, float]:
    sizes: dict[str, float] = {}
    for path in root.rglob("*"):
        if path.is_file():
            name = path.relative_to(root).parts[0]
            sizes[name] = sizes.get(name, 0.0) + path.stat().st_size
    return sizes


def _run_in_folder(n_answers: int) -> Measured:
    with TemporaryDirectory() as folder:
        return measure_run(Path(folder), n_answers)


def _settings(folder: Path) -> tuple[str, ...]:
    data = folder / "data"
    chosen = {
        "data.kind": "ragtruth",
        "data.path": str(data),
        "detector.kind": "predictions",
        "detector.predictions": str(data / "flags.jsonl"),
    }
    return ("demo", *(word for k, v in chosen.items() for word in ("--set", f"{k}={v}")))


def _measure(*words: str) -> Used:
    """Run ragmend in a process and return what that process alone used.

    Raises:
        CalledProcessError: It failed.
    """
    command = [sys.executable, "-m", "ragmend", *words]
    with subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        said = "" if process.stderr is None else process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said)
    return Used(usage.ru_utime + usage.ru_stime, 1024.0 * usage.ru_maxrss)


def _line(small: Measured, large: Measured, step: str, what: str) -> Line:
    low, high = (getattr(each.used[step], what) for each in (small, large))
    # A machine's noise may not make more answers cheaper.
    an_answer = max(0.0, (high - low) / (large.n_answers - small.n_answers))
    return Line(max(0.0, high - an_answer * large.n_answers), an_answer)


def _write_dataset(folder: Path, n_answers: int) -> int:
    """Write flagged answers, whole sources at a time; return how many."""
    folder.mkdir(parents=True)
    responses: list[dict[str, Any]] = []
    sources: dict[str, dict[str, Any]] = {}
    flags: list[dict[str, str]] = []
    for turn, answers, source in _repeated_sources():
        if len(responses) >= n_answers:
            break
        key = f"{source['source_id']}-{turn}"
        sources[key] = {**source, "source_id": key}
        for answer in answers:
            own = {**answer, "id": f"{answer['id']}-{turn}", "source_id": key}
            responses.append(own)
            flags.append({"record_id": own["id"], "verdict": "hallucinated"})
    _write(folder / "response.jsonl", responses)
    _write(folder / "source_info.jsonl", list(sources.values()))
    _write(folder / "flags.jsonl", flags)
    return len(responses)


def _repeated_sources() -> Iterator[tuple[int, list[dict[str, Any]], dict[str, Any]]]:
    """Yield the sources with their flagged answers over and over, with the number of the turn."""
    data = os.environ.get("RAGMEND_DATA")
    files = find_files(Path(data) / "ragtruth" if data else demo_folder(), "test")
    sources = {row["source_id"]: row for row in _read(files.sources)}
    flagged = [row for row in _read(files.responses) if row["labels"] and row["split"] == "test"]
    flagged.sort(key=lambda row: str(row["source_id"]))
    groups = [(key, list(own)) for key, own in groupby(flagged, lambda row: row["source_id"])]
    # Tasks lie together in the files; any number of sources is to have all of them.
    random.Random(7).shuffle(groups)  # noqa: S311 - an order, no secret
    for place, (key, answers) in enumerate(cycle(groups)):
        yield place // len(groups), answers, sources[key]


def _read(path: Path) -> Iterator[dict[str, Any]]:
    for line in read_lines(path):
        yield json.loads(line.text)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
