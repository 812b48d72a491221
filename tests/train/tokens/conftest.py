"""Tiny random encoders with tokenizers of their own, made on the spot: nothing is downloaded."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from ragmend.detector.training.job import Job, Pair
from ragmend.records import GoldSpan, Response, Source
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import Recipe, TrainedModelConfig

SPECIAL = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]",
           "mask_token": "[MASK]"}  # fmt: skip
TEXT = (
    "Task: QA Summary Question: When does the library open? Source:",
    "The library opens at nine and closes at five on every day of the week.",
    "It stands on the market square, beside the old bridge, and has two floors.",
    "The library closes at noon. It has seven floors. The bridge is made of steel.",
)
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
    missing = [n for n in ("torch", "transformers", "accelerate", "tensorboard") if not find_spec(n)]
    if missing:
        pytest.fail(f"{', '.join(missing)} not installed: pip install -e '.[train,dev]'")


@pytest.fixture(scope="session")
def make_base(libraries):
    """Write a random encoder and its tokenizer to a folder; return the folder."""
    return _make_base


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
    spans = [GoldSpan(start=start, end=end, text=text[start:end], label_type="Evident Conflict")]
    return Pair(
        Response(
            record_id=record_id, source_id="s", generator="g", text=text, split="train",
            gold_spans=tuple(spans if start >= 0 else ()),
        ),
        Source(source_id="s", task_type="QA", text=source, question=question),
    )  # fmt: skip


def _make_base(folder, architecture, *, seed=0, **settings):
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM

    tokenizer = _make_tokenizer(architecture)
    sizes = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 512,
        "pad_token_id": 0, "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2,
        "sep_token_id": 2,
    }  # fmt: skip
    torch.manual_seed(seed)
    config = AutoConfig.for_model(architecture, **{**sizes, **settings})
    # As bases come: with the layers that guess masked words, without those that classify.
    AutoModelForMaskedLM.from_config(config).to(torch.float32).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def _make_tokenizer(architecture):
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    make = {"modernbert": _make_bpe, "bert": _make_wordpiece}[architecture]
    tokenizer = make(list(SPECIAL.values()))
    second = ":1" if architecture == "bert" else ""
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=f"[CLS] $A [SEP] $B{second} [SEP]{second}",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    names = ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=[*names, "token_type_ids"] if architecture == "bert" else names,
        **SPECIAL,
    )


def _make_bpe(special):
    """Make a byte-level tokenizer that composes accents, as ModernBERT's."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    return tokenizer


def _make_wordpiece(special):
    """Make a tokenizer that lowers letters, strips accents and drops control characters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    return tokenizer
