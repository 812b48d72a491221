"""A detector that is trained by a script, so that the runner is tested without torch."""

import hashlib
import json
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from training_data import write_training_data

from ragmend.cli.training import plan as plans
from ragmend.cli.training import runner
from ragmend.detector.training.job import IN_MEMORY, LOG
from ragmend.errors import PreemptedError
from ragmend.io import write_records
from ragmend.records import Detection
from ragmend.trained import (
    DetectorAnswer,
    LayerNorm,
    LengthRow,
    LogRow,
    MemoryPart,
    TokenFacts,
)

TEXTS = {True: '{"hallucinated": true}', False: '{"hallucinated": false}'}


class Script(NamedTuple):
    """What goes wrong in the trained detector, if anything."""

    wrong_in_epoch: tuple[int, ...] = ()
    ended: bool = True
    empty: bool = False
    forgets_on_disk: bool = False
    pad_is_end: bool = False
    too_long: frozenset[str] = frozenset()
    problem: str = "too_long"
    stop_in_epoch: int | None = None
    delta: float = 1.0
    losses: tuple[float | None, ...] = (2.0, 1.5, 1.0)


class ScriptedKind:
    """A `Kind` that knows the gold labels and is wrong when told so."""

    def __init__(self):
        self.script = Script()
        self.fits = []
        self.asked = []
        self.loaded = 0

    def measure(self, job, pairs):
        tasks = sorted({pair.source.task_type for pair in pairs})
        numbers = dict.fromkeys(set(LengthRow.model_fields) - {"task"}, 1)
        return [LengthRow(task=task, **numbers) for task in tasks]

    def memory(self, job):
        return [MemoryPart(part="base", gib=0.25)]

    def fit(self, job, train, probe, watch):
        self.fits.append(job.run_id)
        rows = []
        for epoch in range(1, job.recipe.epochs + 1):
            if epoch == self.script.stop_in_epoch:
                write_records(job.folder / LOG, rows)
                raise PreemptedError(f"{job.run_id}: saved at epoch {epoch}")
            rows += [
                LogRow(step=len(rows) + n + 1, epoch=epoch, loss=loss, grad_norm=1.0)
                for n, loss in enumerate(self.script.losses)
            ]
            folder = job.weights(epoch)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "adapter_model.safetensors").write_text(f"{job.run_id} {epoch}")
            (folder / "adapter_config.json").write_text("{}")
        write_records(job.folder / LOG, rows)
        last = self._answer(job.recipe.epochs, [pair for batch in probe for pair in batch])
        if self.script.forgets_on_disk:
            last = [answer.model_copy(update={"text": "otherwise"}) for answer in last]
        write_records(job.folder / IN_MEMORY, last)

    @contextmanager
    def open(self, job, weights):
        self.loaded += 1
        epoch = int((weights / "adapter_model.safetensors").read_text().split()[1])
        yield _Opened(self, epoch)

    def batches(self, job, pairs):
        for at in range(0, len(pairs), 4):
            yield pairs[at : at + 4]

    def read(self, answer, response, *, run_id, threshold):
        common = {"record_id": response.record_id, "run_id": run_id, "raw": answer.text}
        if not answer.ended:
            return Detection(verdict="unparsed", status="truncated", **common)
        if not answer.text:
            return Detection(verdict="empty", status="empty", **common)
        flagged = json.loads(answer.text)["hallucinated"]
        return Detection(verdict="hallucinated" if flagged else "clean", status="ok", **common)

    def choose_threshold(self, answers, responses):
        return None

    def norms(self, job, weights):
        return [
            LayerNorm(layer=f"layer.{n}", a=1.0, b=1.0, delta=self.script.delta) for n in (0, 1)
        ]

    def token_facts(self, job, pairs):
        numbers = {"n_without_end": 0, "n_double_begin": 0, "n_served_otherwise": 0}
        pad = "</s>" if self.script.pad_is_end else "<pad>"
        return TokenFacts(
            pad_token=pad, end_token="</s>", pad_is_end=self.script.pad_is_end,
            n_targets=len(pairs), **numbers,
        )  # fmt: skip

    def _answer(self, epoch, pairs):
        return [self._answer_one(epoch, pair.response) for pair in pairs]

    def _answer_one(self, epoch, response):
        if response.record_id in self.script.too_long:
            return DetectorAnswer(
                record_id=response.record_id, problem=self.script.problem, message="long"
            )
        is_wrong = epoch in self.script.wrong_in_epoch and _draw(response.record_id) < 0.4
        text = "" if self.script.empty else TEXTS[bool(response.gold_spans) != is_wrong]
        return DetectorAnswer(
            record_id=response.record_id, text=text, n_tokens=9, ended=self.script.ended
        )


class _Opened(NamedTuple):
    kind: ScriptedKind
    epoch: int

    def answer(self, batch):
        self.kind.asked += [pair.response.record_id for pair in batch]
        return self.kind._answer(self.epoch, batch)


def _draw(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8


@pytest.fixture
def scripted(monkeypatch):
    """The scripted detector, in place of both kinds."""
    kind = ScriptedKind()
    monkeypatch.setattr(plans, "kind_of", lambda name: kind)
    monkeypatch.setattr(runner, "require_training_libraries", lambda: None)
    return kind


CONFIG = """
name = "trained"
[data]
path = "{data}"
[detector]
kind = "trained"
[population]
run = "big/seed-2"
[training]
seeds = [1, 2]
probe = 8
trackers = []
[training.development]
sources = 4
[training.recipe]
epochs = 2
[training.models.small.model]
id = "none/small"
[training.models.big.model]
id = "none/big"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
"""


class Experiment(NamedTuple):
    """A configuration on disk and the folder of its run."""

    config: Path
    out: Path

    @property
    def where(self):
        return (str(self.config), "--out", str(self.out))

    def training(self, run_id="big/seed-2"):
        return self.out / "00-training" / run_id

    def detections(self, run_id="big/seed-2"):
        return self.out / "01-detections" / run_id


@pytest.fixture
def experiment(tmp_path):
    """An experiment with two detectors and two seeds on a small train split."""
    config = tmp_path / "trained.toml"
    config.write_text(CONFIG.format(data=write_training_data(tmp_path / "data")))
    return Experiment(config, tmp_path / "run")


ONE = ("--model", "big", "--seed", "2")


@pytest.fixture
def trained(scripted, experiment, command):
    """One detector, trained."""
    done = command("detect", "train", *experiment.where, *ONE)
    assert done.returncode == 0, done.stderr
    return experiment


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def killed():
    """What `fail` raises."""
    return Killed


@pytest.fixture
def fail():
    """End the process, in place of any function."""

    def end(*words, **more):
        raise Killed

    return end
