"""Tiny random models and tokenizers, made on the spot: nothing is downloaded."""

from importlib.util import find_spec

import pytest
from tiny_llamas import make_byte_fallback, make_byte_level, make_llama_folder

from ragmend.llm.in_process.installed import silence_transformers


@pytest.fixture(scope="session")
def training_libraries():
    """The libraries of the extra; tests that need them fail without them, and are not skipped."""
    needed = ("torch", "transformers", "peft", "trl", "datasets", "bitsandbytes", "tensorboard")
    missing = [name for name in needed if not find_spec(name)]
    if missing:
        pytest.fail(f"{', '.join(missing)} not installed: pip install -e '.[train,dev]'")
    silence_transformers()


@pytest.fixture(scope="session")
def make_llama(training_libraries):
    """Write a random Llama and a tokenizer to a folder; return the folder."""
    return make_llama_folder


@pytest.fixture(scope="session")
def make_tokenizer(training_libraries):
    """Make a tokenizer: "byte-level", as GPT-2's, or "byte-fallback", as Llama-2's."""
    return {"byte-level": make_byte_level, "byte-fallback": make_byte_fallback}


@pytest.fixture(scope="session")
def llama(make_llama, tmp_path_factory):
    """A folder with a tiny Llama whose tokenizer has a padding token of its own."""
    return make_llama(tmp_path_factory.mktemp("model") / "llama", make_byte_level())


@pytest.fixture(scope="session")
def llama_2(make_llama, tmp_path_factory):
    """A folder with one whose tokenizer begins a text by itself and has no padding token."""
    return make_llama(tmp_path_factory.mktemp("model") / "llama-2", make_byte_fallback())
