"""A job whose base is not there: what is shared by all kinds needs none."""

import json

import pytest

from ragmend.detector.training.checkpoints import mark_complete
from ragmend.detector.training.job import Job
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import Recipe, TrainedModelConfig

PARTS = ("adapter_model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth")


@pytest.fixture
def make_job(tmp_path):
    """Make a job; settings of its recipe may be given."""

    def make(*, kind="generative", quantization=None, trackers=(), **recipe):
        model = ModelConfig(id="org/base", quantization=quantization)
        return Job(
            name="tiny",
            trained=TrainedModelConfig(kind=kind, model=model),
            recipe=Recipe(**recipe),
            seed=3,
            trackers=trackers,
            folder=tmp_path / "tiny",
        )

    return make


@pytest.fixture
def job(make_job):
    """A job of three epochs."""
    return make_job(epochs=3)


@pytest.fixture
def save_checkpoint(job):
    """Write a checkpoint as the Trainer and the recorder leave it."""

    def save(step, epoch, *, n_steps=30, complete=True, state=None):
        folder = job.folder / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        for part in PARTS:
            (folder / part).write_bytes(b"numbers")
        found = {"global_step": step, "max_steps": n_steps, "epoch": epoch}
        text = json.dumps(found) if state is None else state
        (folder / "trainer_state.json").write_text(text)
        if complete:
            mark_complete(folder)
        return folder

    return save


@pytest.fixture
def write_log(job):
    """Write lines of a log: a row for a whole number, else what is given."""

    def write(*lines):
        job.folder.mkdir(parents=True, exist_ok=True)
        rows = [_row(line) if isinstance(line, int) else line for line in lines]
        (job.folder / "log.jsonl").write_text("".join(rows))

    return write


def _row(step):
    return json.dumps({"step": step, "epoch": step / 10, "loss": 1.0}) + "\n"
