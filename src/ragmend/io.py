r"""Reading and writing records: strict on the way in, atomic on the way out.

JSONL is split at "\n" only (U+2028 and U+0085 may stand inside strings). Duplicate keys,
NaN, infinities and lone surrogates are refused with file and line.
"""

import difflib
import gzip
import hashlib
import json
import math
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, TypeVar

from pydantic import ValidationError

from ragmend.errors import DataError, MissingInputError, OutputError, RagmendError
from ragmend.records import Record

M = TypeVar("M", bound=Record)
GZIP_MAGIC = b"\x1f\x8b"
BOM = "\ufeff"
PARTIAL = ".partial"


class Line(NamedTuple):
    """One line of a text file; `where` is "file:line" for messages."""

    where: str
    text: str


def read_lines(path: Path) -> Iterator[Line]:
    r"""Yield the lines of a UTF-8 file, plain or gzip, split at "\n" only.

    A byte order mark at the start is no part of the text.

    Raises:
        MissingInputError: No such file, or a directory, or no permission.
        DataError: Not UTF-8, or broken gzip, or the system cannot read it.
    """
    number = 0
    with name_reading_errors(path), _open_binary(path) as file:
        try:
            for number, raw in enumerate(file, 1):
                text = _decode(raw, f"{path}:{number}").rstrip("\n")
                yield Line(f"{path}:{number}", text.removeprefix(BOM) if number == 1 else text)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"{path}:{number + 1}: broken gzip file ({error}); fetch it again"
            ) from error


def read_file(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        MissingInputError, DataError: As `read_lines`.
    """
    with name_reading_errors(path):
        return path.read_bytes()


def path_text(path: Path) -> str:
    """Return a path, with forward slashes, as text that a record can hold.

    Raises:
        DataError: Its name is not UTF-8.
    """
    text = path.as_posix()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{text!r}: the name is not UTF-8; rename it") from error
    return text


@contextmanager
def name_reading_errors(path: Path) -> Iterator[None]:
    """Turn what the system says while a file is read into errors that name the file.

    Raises:
        MissingInputError, DataError: As `read_lines`.
    """
    if "\0" in str(path):
        raise MissingInputError(f"{str(path)!r}: no file's name can hold a NUL character")
    try:
        yield
    except RagmendError:
        raise
    except FileNotFoundError as error:
        raise MissingInputError(f"{path}: no such file") from error
    except IsADirectoryError as error:
        raise MissingInputError(f"{path}: is a directory, a file was expected") from error
    except PermissionError as error:
        raise MissingInputError(f"{path}: no permission to read it") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def parse_object(line: Line) -> dict[str, Any]:
    """Parse one JSON object strictly; see `parse_json`.

    Raises:
        DataError: As there, or not an object.
    """
    value = parse_json(line)
    if not isinstance(value, dict):
        raise DataError(f"{line.where}: expected a JSON object, found {type(value).__name__}")
    return value


def parse_json(line: Line) -> Any:  # noqa: ANN401 - any JSON value
    """Parse one JSON value strictly.

    Raises:
        DataError: Not JSON, a duplicate key, a number that is not finite, a lone surrogate.
    """

    def refuse_constant(name: str) -> NoReturn:
        raise DataError(f"{line.where}: {name} is not a JSON number")

    def finite(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            raise DataError(f"{line.where}: {digits} is too large for a number")
        return number

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"{line.where}: key {twice!r} appears twice")
        return found

    try:
        value = json.loads(
            line.text,
            object_pairs_hook=unique,
            parse_constant=refuse_constant,
            parse_float=finite,
        )
        has_lone_surrogate = _has_lone_surrogate(line.text, value)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"{line.where}: not valid JSON ({error})") from error
    if has_lone_surrogate:
        raise DataError(f"{line.where}: a lone surrogate (half of a UTF-16 pair) is not text")
    return value


def parse_record(line: Line, model: type[M]) -> M:
    """Parse one line as a record of the given type.

    Raises:
        DataError: Not JSON as above, or not such a record.
    """
    parse_object(line)
    try:
        return model.model_validate_json(line.text)
    except ValidationError as error:
        found = explain(error, model.__name__, known=model.model_fields)
        raise DataError(f"{line.where}: {found}") from error


def read_record(path: Path, model: type[M]) -> M:
    """Read a file that is one record, as strictly as a line of many.

    Raises:
        MissingInputError, DataError: As `read_lines` and `parse_record`.
    """
    return parse_record(Line(str(path), _decode(read_file(path), str(path))), model)


def read_records(path: Path, model: type[M]) -> Iterator[M]:
    """Yield the records of a JSONL file, one a line.

    Raises:
        MissingInputError, DataError: As `read_lines` and `parse_record`.
    """
    for line in read_lines(path):
        yield parse_record(line, model)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the complete new one."""
    with _atomic_file(path) as file:
        file.write(content)


def write_bytes_of_many(path: Path, content: bytes) -> None:
    """Write a file as `write_bytes` does, where others may write the same one just now.

    Raises:
        OutputError: It cannot be written.
    """
    with _atomic_file(path, own=f".{os.getpid()}-{secrets.token_hex(4)}") as file:
        file.write(content)


def dump_record(record: Record) -> bytes:
    """Return one record as an indented JSON file."""
    return record.model_dump_json(indent=2).encode() + b"\n"


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write records as JSONL, atomically and without holding them all; return how many."""
    n_records = 0
    with _atomic_file(path) as file:
        for record in records:
            file.write(record.model_dump_json().encode() + b"\n")
            n_records += 1
    return n_records


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, ASCII, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_of(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hex.

    Raises:
        MissingInputError, DataError: As `read_lines`.
    """
    with name_reading_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explain(error: ValidationError, what: str, known: Iterable[str] = ()) -> str:
    """Put a validation error into one line: one finding, and how many more there are.

    Args:
        error: What pydantic found.
        what: The name of the whole, for a finding about no single key.
        known: The keys of the record; the nearest is named beside an unknown one.
    """
    findings = error.errors(include_url=False)
    unknown = [finding for finding in findings if finding["type"] == "extra_forbidden"]
    first = (unknown or findings)[0]  # a mistyped key is also missing under its right name
    place = ".".join(str(part) for part in first["loc"]) or what
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    if unknown:
        candidates = list(known) if len(first["loc"]) == 1 else []
        near = difflib.get_close_matches(place, candidates, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"unknown key {place!r}{hint}{more}"
    if first["type"] == "missing":
        return f"{place}: is required and not there{more}"
    return f"{place}: {first['msg']}, found {shorten(first['input'])}{more}"


def shorten(value: object, limit: int = 80) -> str:
    """Return a value as it may stand in a message: its `repr`, cut."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes out
        text = f"{type(value).__name__} too long to print"
    return text if len(text) <= limit else text[: limit - 1] + "…"


@contextmanager
def _atomic_file(path: Path, own: str = "") -> Iterator[IO[bytes]]:
    """Write to `<path>.partial`; it takes the path's place when all went well, else it goes."""
    partial = path.with_name(path.name + own + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and not isinstance(error, RagmendError):
            raise OutputError.of(path, error) from error
        raise


def _open_binary(path: Path) -> Any:  # noqa: ANN401 - gzip and plain files share no useful type
    file = path.open("rb")
    if path.suffix.lower() != ".gz":
        return file
    with file:
        if file.read(2) != GZIP_MAGIC:
            raise DataError(f"{path}: the name ends in .gz but the content is not gzip")
    return gzip.open(path, "rb")


def _decode(raw: bytes, where: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 (byte {error.start}: {error.reason})") from error


def _has_lone_surrogate(text: str, value: object) -> bool:
    # Only an escape can bring one in: decoded UTF-8 has none.
    if "\\u" not in text:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _sync_folder(folder: Path) -> None:
    # Makes the rename itself durable.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
