"""Jobs and pairs that a tiny model can learn by heart."""

import pytest

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.training.job import Job, Pair
from ragmend.records import GoldSpan, Response, Source
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import LoraConfig, Recipe, TrainedModelConfig

ANSWERS = (
    ("The library opens at nine.", None),
    ("Tickets cost six dollars each day.", "six dollars"),
    ("The museum is free of charge.", None),
    ("The museum is closed on Sundays.", "closed on Sundays"),
)

REPEATS = 6
"""Answers are learnt so often in an epoch."""


class Quiet:
    """A watch that never stops anything, and keeps what it is told."""

    def __init__(self, stop_after=None):
        self.lines = []
        self._left = stop_after

    def should_stop(self):
        if self._left is None:
            return False
        self._left -= 1
        return self._left <= 0

    def say(self, text):
        self.lines.append(text)


@pytest.fixture(scope="session")
def quiet():
    """Build a watch; it may ask for an end after so many steps."""
    return Quiet


@pytest.fixture(scope="session")
def pairs():
    """Four annotated responses, two of them hallucinated."""
    return [_make_pair(str(number), *answer) for number, answer in enumerate(ANSWERS, 1)]


@pytest.fixture(scope="session")
def make_pair():
    """Make an annotated pair; `wrong` is its unsupported part, or None."""
    return _make_pair


@pytest.fixture(scope="session")
def make_job():
    """Make a job of a model's folder."""
    return _make_job


@pytest.fixture(scope="session")
def learnt(llama, make_job, pairs, tmp_path_factory):
    """A training in NF4 that has learnt its four answers by heart, with what it was told."""
    job = make_job(llama, tmp_path_factory.mktemp("runs") / "learnt")
    watch = Quiet()
    GENERATIVE.fit(job, pairs * REPEATS, list(GENERATIVE.batches(job, pairs)), watch)
    return job, watch


def _make_pair(record_id, text, wrong, source="The library opens at nine. The museum is free."):
    spans = ()
    if wrong is not None:
        start = text.index(wrong)
        spans = (
            GoldSpan(
                start=start, end=start + len(wrong), text=wrong, label_type="Evident Conflict"
            ),
        )
    return Pair(
        Response(
            record_id=record_id,
            source_id=f"s{record_id}",
            generator="g",
            text=text,
            gold_spans=spans,
            split="train",
        ),
        Source(source_id=f"s{record_id}", task_type="Summary", text=source),
    )


def _make_job(
    folder, run_folder, *, quantization="bitsandbytes", dtype="float32", seed=3, **recipe
):
    settings = {
        "epochs": 5,
        "learning_rate": 5e-3,
        "schedule": "constant",
        "batch_size": 4,
        "micro_batch_size": 2,
        "max_length": 512,
        "answer_tokens": 64,
        "lora": LoraConfig(r=16, alpha=32, dropout=0.0),
        "gradient_checkpointing": False,
        "save_steps": 1000,
        "max_grad_norm": 1.0,
        **recipe,
    }
    return Job(
        name="tiny",
        trained=TrainedModelConfig(
            model=ModelConfig(
                id="org/tiny", folder=str(folder), dtype=dtype, quantization=quantization
            )
        ),
        recipe=Recipe(**settings),
        seed=seed,
        trackers=(),
        folder=run_folder,
    )
