"""A tiny random Llama with a tokenizer of its own, made on the spot: nothing is downloaded."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from ragmend.sections.models import ModelConfig

SENTENCES = (
    "Is the whole claim supported by the source? Answer Yes or No.",
    "Yes No Yes No, Yes. No. Yes, No",
    "Yes\n", "No\n", " Yes", " No", "Yes", "No",
    "The library opens at nine and closes at five on every day of the week.",
    "A source and a claim are given between tags; the claim is supported or it is not.",
    '{"spans": ["the library", "closes at five"]}',
    '{"rewrite": null}',
)  # fmt: skip
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content']"
    " + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


@pytest.fixture(scope="session")
def local():
    """The libraries of the extra; tests that need them fail without them, and are not skipped."""
    missing = [
        name for name in ("torch", "transformers", "llguidance", "gguf") if not find_spec(name)
    ]
    if missing:
        pytest.fail(f"{', '.join(missing)} not installed: pip install -e '.[local,dev]'")


@pytest.fixture(scope="session")
def make_model(local):
    """Write a random model and its tokenizer to a folder; return the folder."""
    return _make_model


@pytest.fixture(scope="session")
def tiny(make_model, tmp_path_factory):
    """A folder with the random Llama that most tests ask."""
    return make_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def config(tiny):
    """Its configuration."""
    return ModelConfig(id="org/tiny", folder=str(tiny), dtype="float32")


def _make_model(folder, *, architecture="llama", template=TEMPLATE, seed=0, **settings):
    """Make a model whose weights are drawn wider than usual, so that no two answers are near."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = _make_tokenizer(template)
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "max_position_embeddings": 2048,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "initializer_range": 0.2,
    }
    torch.manual_seed(seed)
    config = AutoConfig.for_model(architecture, **{**sizes, **settings})
    model = AutoModelForCausalLM.from_config(config)
    model.to(torch.float32).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def _make_tokenizer(template):
    """Train a byte-level tokenizer on a few sentences; "Yes" and " Yes" are tokens of their own."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES * 4, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=template,
    )
