"""Tiny random encoders with tokenizers of their own, made on the spot: nothing is downloaded."""

from importlib.util import find_spec

import pytest
from tiny_encoders import make_encoder

from ragmend.detector.training.job import Job, Pair
from ragmend.records import GoldSpan, Response, Source
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import Recipe, TrainedModelConfig

SOURCE = (
    "The library opens at nine and closes at five on every day of the week. It stands on the "
    "market square, beside the old bridge, and has two floors."
)
# What brackets enclose is unsupported.
ANSWERS = (
    "The library opens at nine.",
    "The library opens [at noon].",
    "It has two floors and [stands in the harbour].",
    "It closes at five.",
    "It stands on the market square. [It has seven floors.]",
    "[The bridge is made of steel] and the library opens at nine.",
)


@pytest.fixture(scope="session")
def libraries():
    """The libraries of the extra; tests that need them fail without them, and are not skipped."""
    missing = [
        n for n in ("torch", "transformers", "accelerate", "tensorboard") if not find_spec(n)
    ]
    if missing:
        pytest.fail(f"{', '.join(missing)} not installed: pip install -e '.[train,dev]'")


@pytest.fixture(scope="session")
def make_base(libraries):
    """Write a random encoder and its tokenizer to a folder; return the folder."""
    return make_encoder


@pytest.fixture(scope="session")
def modernbert(make_base, tmp_path_factory):
    """A folder with a random ModernBERT."""
    return make_base(tmp_path_factory.mktemp("base") / "modernbert", "modernbert")


@pytest.fixture(scope="session")
def bert(make_base, tmp_path_factory):
    """A folder with a random BERT, which lowers letters and tells its two sequences apart."""
    return make_base(tmp_path_factory.mktemp("base") / "bert", "bert")


@pytest.fixture
def make_job(modernbert, tmp_path):
    """Build a job; settings of model and recipe may be given."""

    def make(folder=None, *, base=modernbert, model=None, seed=3, trackers=(), **recipe):
        settings = {
            "epochs": 2, "learning_rate": 2e-3, "batch_size": 3, "micro_batch_size": 3,
            "max_length": 256, "answer_tokens": 8, "max_grad_norm": 1.0, "save_steps": 100,
        }  # fmt: skip
        fields = {"id": "org/tiny", "folder": str(base), **(model or {})}
        return Job(
            name="tiny",
            trained=TrainedModelConfig(kind="token-classification", model=ModelConfig(**fields)),
            recipe=Recipe(**{**settings, **recipe}),
            seed=seed,
            trackers=trackers,
            folder=folder or tmp_path / "run",
        )

    return make


@pytest.fixture
def pairs():
    """Six answers about one source, four with an unsupported part."""
    return [make_pair(str(number), marked) for number, marked in enumerate(ANSWERS)]


class QuietWatch:
    """Takes down what is said; asks for an end when so many steps are done."""

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


@pytest.fixture
def watch():
    """A watch that never asks for an end."""
    return QuietWatch()


@pytest.fixture
def stop_after():
    """Build a watch that asks for an end after so many steps."""
    return QuietWatch


@pytest.fixture(scope="session")
def pair_of():
    """Build a pair of an answer, its unsupported part in brackets, and a source."""
    return make_pair


def make_pair(record_id, marked, source=SOURCE, question="When does the library open?"):
    start, end = marked.find("["), marked.find("]") - 1
    text = marked.replace("[", "").replace("]", "")
    spans = [(start, end)] if start >= 0 else []
    return Pair(
        Response(
            record_id=record_id, source_id="s", generator="g", text=text, split="train",
            gold_spans=tuple(
                GoldSpan(start=start, end=end, text=text[start:end], label_type="Evident Conflict")
                for start, end in spans
            ),
        ),
        Source(source_id="s", task_type="QA", text=source, question=question),
    )  # fmt: skip
