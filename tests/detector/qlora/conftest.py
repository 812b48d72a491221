"""A tokenizer of one token a character, and pairs: what needs no library of models."""

import pytest

from ragmend.detector.qlora.tokens import Coder
from ragmend.detector.training.job import Job, Pair
from ragmend.records import GoldSpan, Response, Source
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import Recipe, TrainedModelConfig


class CharacterTokenizer:
    """Each character is a token, its code point; 1 begins and 2 ends."""

    bos_token_id = 1
    name_or_path = "characters"

    def encode(self, text, *, add_special_tokens, split_special_tokens):
        assert not add_special_tokens
        assert split_special_tokens
        return [ord(character) for character in text]

    def decode(self, ids, **how):
        return "".join(chr(token) for token in ids if token > 2)

    def convert_ids_to_tokens(self, token):
        return chr(token)


@pytest.fixture(scope="session")
def coder():
    return Coder(CharacterTokenizer(), begin_id=1, end_id=2, end_ids=frozenset({2}), pad_id=0)


@pytest.fixture(scope="session")
def make_pair():
    """Make a pair; each of `wrong` is a gold span, at its first occurrence or as (start, end)."""
    return _make_pair


@pytest.fixture
def make_job(tmp_path):
    """Make a job whose base is not there."""

    def make(**recipe):
        model = ModelConfig(id="org/base", quantization="bitsandbytes")
        return Job(
            name="tiny",
            trained=TrainedModelConfig(model=model),
            recipe=Recipe(**recipe),
            seed=3,
            trackers=(),
            folder=tmp_path / "tiny",
        )

    return make


def _make_pair(text="The answer.", wrong=(), *, record_id="1", source="A. B.", **more):
    spans = None if wrong is None else tuple(_gold_span(text, each) for each in wrong)
    task = more.pop("task_type", "Summary")
    body = {"text": source} if isinstance(source, str) else {"fields": source}
    return Pair(
        Response(
            record_id=record_id,
            source_id="s",
            generator="g",
            text=text,
            gold_spans=spans,
            split="train",
        ),
        Source(source_id="s", task_type=task, **body, **more),
    )


def _gold_span(text, wrong):
    start, end = (text.index(wrong), text.index(wrong) + len(wrong)) if isinstance(
        wrong, str
    ) else wrong  # fmt: skip
    return GoldSpan(start=start, end=end, text=text[start:end], label_type="Evident Conflict")
