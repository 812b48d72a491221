"""The readers under fuzzing: each breaks a valid input of its kind and reads it."""

import gzip
import re
import tomllib

import tomli_w
from fuzz_mutate import change_value, mutate, mutate_text

from ragmend.cli.protocol import Lock
from ragmend.config import load_config, read_resolved_config
from ragmend.datasets.ragtruth import DatasetFiles, demo_folder, load_ragtruth
from ragmend.detector.predictions import import_predictions
from ragmend.io import read_lines, read_record, read_records
from ragmend.journal import read_journal
from ragmend.manifest import read_manifest
from ragmend.records import (
    TASKS,
    Action,
    Candidate,
    Claim,
    Detection,
    DetectorScore,
    Evidence,
    Fault,
    Judgement,
    RepairedAnswer,
    Response,
    Selected,
    Source,
    Verdict,
)
from ragmend.repair.lexical.parameters import load_parameters, parameters_path
from ragmend.repair.splitting.claims import split_claims
from ragmend.run_lock import Holder
from ragmend.text.fragments import source_fragments
from ragmend.trained import DetectorAnswer, EpochScore, HealthReport, LedgerEntry, LogRow

CONFIG = b"""name = "x"
[data]
kind = "demo"
tasks = ["QA", "Summary"]
[detector]
kind = "lexical"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
[verifier]
threshold = 0.5
[analysis]
n_resamples = 1_000
confidence = 0.95
"""
SETTINGS = (
    "verifier.threshold=0.4", 'data.tasks=["QA"]', "data.path=${HOME}/x", "analysis.seed=1",
    "judges.panel=[{name = 'overlap'}]", "name=x", "population.limit=7",
)  # fmt: skip
TEXTS = (
    "Ann Lee, who earns $3.5 million, left the U.S. in 2019, and Bob stayed. He said, “No.”",
    "To cook it, follow these steps:\n\n1. Heat 2 cups of oil.\n2. Add salt (a pinch) and stir.\n",
    "**Hours**\n\n* Monday: 9:0-22:30\n* Sunday: closed\n\nIt has Wi-Fi, but no parking; dogs too.",
    "Dr. Jones says e.g. “it’s fine!” Does it open? Yes: a) daily b) weekly. 誰？ はい。",
    "| A | B |\n|---|---|\n| 1 | 2 |\n\nStep 2: Clean the chain (see p. 4).",
)
MODELS = {
    "02-population/population.jsonl": Response,
    "02-population/sources.jsonl": Source,
    "02-population/selection.jsonl": Selected,
    "02-population/detector_scores.jsonl": DetectorScore,
    "01-detections/lexical/detections.jsonl": Detection,
    "03-claims/claims.jsonl": Claim,
    "04-evidence/evidence.jsonl": Evidence,
    "05-verdicts/verdicts.jsonl": Verdict,
    "06-candidates/candidates.jsonl": Candidate,
    "07-arms/actions.jsonl": Action,
    "07-arms/answers.jsonl": RepairedAnswer,
    "08-judgements/judgements.jsonl": Judgement,
}
FAULT = b'{"stage":"verify","record_id":"1","status":"empty","message":"m","raw":null}\n'
ANSWER = (
    b'{"record_id":"1","text":"{}","n_tokens":3,"ended":true,"scores":[{"start":0,"end":2,"p":0.5}],'
    b'"left_out_fragments":0,"problem":null,"message":null}\n'
)
EPOCH = (
    b'{"epoch":1,"level":"span","n_responses":3,"tp":1,"fp":1,"fn":0,"tn":1,"n_empty":0,'
    b'"n_unparsed":1,"threshold":0.5,"chosen":true}\n'
)
LEDGER = (
    b'{"event":"begun","number":1,"split":"test","settings_sha256":"ab","reason":null,"at":"t"}\n'
)
HEALTH = (
    b'{"run_id":"a/seed-1","verdict":"usable","reasons":[],"answers":{"n":1,"empty":0.0,'
    b'"malformed":0.0,"truncated":0.0,"no_end":0.0,"contradicting":0.0,"hallucinated":1.0},'
    b'"tokens":null,"n_reload_differs":0,"first_loss":1.0,"last_loss":0.5,"n_bad_losses":0,'
    b'"layers":[{"layer":"a","a":1.0,"b":1.0,"delta":0.5}]}\n'
)
SAMPLES = {
    "faults": (Fault, FAULT),
    "answers": (DetectorAnswer, ANSWER),
    "log": (LogRow, b'{"step":1,"epoch":0.5,"loss":2.0,"grad_norm":null,"learning_rate":0.1}\n'),
    "epochs": (EpochScore, EPOCH),
    "ledger": (LedgerEntry, LEDGER),
    "health": (HealthReport, HEALTH),
}
JOURNAL = b'{"key":"a","answer":[{"p":0.5}]}\n{"key":"b","answer":[]}\n{"key":"c","answer":[{}]}\n'
HOLDER = b'{"host":"h","pid":7,"process_start":1,"slurm_job_id":null,"started_at":"2026"}\n'


class Readers:
    """A folder and one function a kind of input; each function takes the broken bytes."""

    def __init__(self, folder, run):
        self.folder, self.file = folder, folder / "input.jsonl"
        self.run = run
        demo = demo_folder()
        self.answers = b"".join((demo / "response.jsonl").read_bytes().splitlines(True)[:3])
        self.sources = b"".join((demo / "source_info.jsonl").read_bytes().splitlines(True)[:3])
        self.whole = {"response.jsonl": self.answers, "source_info.jsonl": self.sources}
        for name, content in self.whole.items():
            (folder / name).write_bytes(content)
        self.responses = load_ragtruth(self._files(), split="test", tasks=TASKS).responses
        ids = [response.record_id.encode() for response in self.responses]
        self.spans = b"".join(b'{"id": "%s", "spans": [[0, 1]], "score": 0.5}\n' % i for i in ids)
        self.verdicts = b"id,verdict,score\n" + b"".join(b"%s,1,0.5\n" % i for i in ids)

    def _files(self, **changed):
        names = ("response.jsonl", "source_info.jsonl")
        return DatasetFiles(*(changed.get(n.partition(".")[0], self.folder / n) for n in names), ())

    def records(self, draw):
        name = draw.choice([*MODELS, *SAMPLES])
        model, content = SAMPLES[name] if name in SAMPLES else (MODELS[name], self._head(name))
        self.file.write_bytes(mutate(content, draw))
        list(read_records(self.file, model))

    def _head(self, name):
        path = self.run / name
        if path not in self.whole:
            self.whole[path] = b"".join(path.read_bytes().splitlines(keepends=True)[:2])
        return self.whole[path]

    def ragtruth(self, draw):
        which = draw.choice(("response", "source_info"))
        self.file.write_bytes(mutate(self.whole[f"{which}.jsonl"], draw))
        load_ragtruth(self._files(**{which: self.file}), split="test", tasks=TASKS)

    def zipped(self, draw):
        path = self.folder / "input.jsonl.gz"
        path.write_bytes(mutate(gzip.compress(self.spans, mtime=0), draw))
        for _ in read_lines(path):
            pass

    def predictions(self, draw):
        is_csv = draw.random() < 0.5
        path = self.folder / "p.csv" if is_csv else self.file
        path.write_bytes(mutate(self.verdicts if is_csv else self.spans, draw))
        import_predictions(
            path,
            self.responses,
            system=draw.choice((None, None, "verdict", "id")),
            run_id="r",
            unknown_records=draw.choice(("error", "ignore")),
            missing_records=draw.choice(("error", "exclude")),
        )

    def config(self, draw):
        path = self.folder / "config.toml"
        if draw.random() < 0.5:
            path.write_bytes(mutate(CONFIG, draw))
        else:
            changed = change_value(tomllib.loads(CONFIG.decode()), draw)
            path.write_bytes(as_toml(changed).encode("utf-8", "surrogatepass"))
        if draw.random() < 0.5:
            read_resolved_config(path)
        else:
            load_config(str(path), environ={"HOME": "h"})

    def settings(self, draw):
        path = self.folder / "whole.toml"
        if not path.exists():
            path.write_bytes(CONFIG)
        setting = mutate(draw.choice(SETTINGS).encode(), draw)
        load_config(str(path), [setting.decode("utf-8", "surrogateescape")], {"HOME": "h"})

    def one_record(self, draw):
        kind = draw.choice(("manifest", "protocol", "lock", "journal"))
        path = self.folder / f"{kind}.json"
        if kind == "manifest":
            path.write_bytes(mutate(self._file("05-verdicts/manifest.json"), draw))
            read_manifest(path)
        elif kind == "protocol":
            path.write_bytes(mutate(self._file("protocol.lock.json"), draw))
            read_record(path, Lock)
        elif kind == "lock":
            path.write_bytes(mutate(HOLDER, draw))
            read_record(path, Holder)
        else:
            path.write_bytes(mutate(JOURNAL, draw))
            read_journal(path)

    def _file(self, name):
        path = self.run / name
        return self.whole.setdefault(path, path.read_bytes())

    def parameters(self, draw):
        content = self.whole.setdefault("parameters", parameters_path().read_bytes())
        path = self.folder / "parameters.json"
        path.write_bytes(mutate(content, draw))
        load_parameters(path)

    def splitter(self, draw):
        text = mutate_text(draw.choice(TEXTS), draw)[:2000]
        check_claims(text, split_claims(text, record_id="r"))

    def fragments(self, draw):
        self.file.write_bytes(mutate(self._head("02-population/sources.jsonl"), draw))
        for source in read_records(self.file, Source):
            parts = source_fragments(source)
            assert all(part.text.strip() for part in parts)
            assert len({part.fragment_id for part in parts}) == len(parts)


def as_toml(value):
    """Write a changed configuration; what TOML has no word for becomes a string."""
    try:
        return tomli_w.dumps(value)
    except (AttributeError, TypeError, ValueError):
        return tomli_w.dumps({"name": repr(value)})


COUNTER = r"\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,4}|[IVX]{2,4})[.)]"
GAP = re.compile(rf"(?:(?<![^\W_]){COUNTER}(?![^\W_])|\[[xX]\]|[\W_])*\Z")


def check_claims(text, claims):
    """Claims are exact and in order, and what is between them has no word."""
    end = 0
    for claim in claims:
        assert end <= claim.start < claim.end
        assert text[claim.start : claim.end] == claim.text
        assert GAP.match(text[end : claim.start]), text[end : claim.start]
        end = claim.end
    assert GAP.match(text[end:]), text[end:]
