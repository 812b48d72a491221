"""Journals: answers survive a kill, and a resumed run repeats none of them.

A journal is append-only JSONL with one writer a shard. An entry's key is the SHA-256 of
everything that changes the answer (model, revision, prompt, sampling, input) and of nothing
that does not (batch size, retries, time-outs). A failure is never recorded as an answer.
No database: shared cluster file systems do not honour database locks.
"""

import json
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self, TypeVar

from pydantic import JsonValue, ValidationError

from ragmend.errors import DataError, OutputError
from ragmend.io import Line, explain, name_reading_errors, parse_object
from ragmend.paths import shard_lock_path
from ragmend.records import Record
from ragmend.run_lock import FileLock

M = TypeVar("M", bound=Record)
Answer = dict[str, JsonValue]  # one record, as JSON
ADVICE = (
    "delete that line, and the .done.json of that shard if there is one: its answer is asked again"
)
SYNC_EVERY = 64  # entries between two fsyncs: what a power failure (not a kill) may cost


class Recorded(NamedTuple):
    """What a journal holds: answers by key, torn last lines (0 or 1), bytes of whole lines."""

    entries: dict[str, list[Answer]]
    n_torn: int
    n_bytes: int


class Journal:
    """The recorded answers of one shard, for its one writer; a context manager.

    Attributes:
        entries: The answers by key.
        n_torn: How many last lines were torn by a kill and cut off: 0 or 1.
    """

    def __init__(self, path: Path) -> None:
        """Prepare a journal; its `with` block reads it and appends."""
        self.path = path
        self.entries: dict[str, list[Answer]] = {}
        self.n_torn = 0
        self._n_bytes = 0
        self._n_unsynced = 0
        self._file: IO[bytes] | None = None
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        """Lock the shard, read what it holds, cut a torn last line off.

        Raises:
            RunStateError: Another process writes this shard.
            DataError: A line other than the last is not an entry.
            OutputError: It cannot be written.
        """
        with ExitStack() as stack:
            stack.enter_context(FileLock(shard_lock_path(self.path)))
            self.entries, self.n_torn, self._n_bytes = read_journal(self.path)
            self._file = stack.enter_context(_open_at(self.path, self._n_bytes))
            stack.callback(self._sync)
            self._closing = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make everything durable, stop appending, give the shard free."""
        self._closing.close()
        self._file = None

    def read(self, key: str, model: type[M]) -> list[M] | None:
        """Return the answer to a request as records; None where none is recorded.

        Raises:
            DataError: It is not made of such records.
        """
        recorded = self.entries.get(key)
        if recorded is None:
            return None
        try:
            return [model.model_validate_json(json.dumps(record)) for record in recorded]
        except ValidationError as error:
            found = explain(error, model.__name__)
            raise DataError(
                f"{self.path}: a recorded answer is damaged ({found}); {ADVICE}"
            ) from error

    def append(self, key: str, answer: list[Answer]) -> None:
        """Record the answer to one request; it survives a kill from here on.

        Raises:
            OutputError: It cannot be written; the journal is as it was before.
        """
        if self._file is None:
            raise RuntimeError("a journal is appended to inside its `with` block")
        line = json.dumps({"key": key, "answer": answer}, allow_nan=False, separators=(",", ":"))
        content = line.encode() + b"\n"
        try:
            _write_all(self._file, content)
        except OSError as error:
            self._file.truncate(self._n_bytes)
            raise OutputError.of(self.path, error) from error
        self._n_bytes += len(content)
        self.entries[key] = answer
        self._n_unsynced += 1
        if self._n_unsynced >= SYNC_EVERY:
            self._sync()

    def _sync(self) -> None:
        if self._file is None:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError.of(self.path, error) from error
        self._n_unsynced = 0


def read_journal(path: Path) -> Recorded:
    """Read a journal; one that is not there holds nothing.

    Raises:
        DataError: A line other than the last is not an entry, or a key has two answers.
        MissingInputError: It is a directory, or may not be read.
    """
    entries: dict[str, list[Answer]] = {}
    if not path.exists():
        return Recorded(entries, 0, 0)
    n_bytes = 0
    with name_reading_errors(path), path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                # Only the last line can lack its end: the writer was killed in it.
                return Recorded(entries, 1, n_bytes)
            where = f"{path}:{number}"
            key, answer = _entry(raw, where)
            if entries.setdefault(key, answer) != answer:
                raise DataError(f"{where}: key {key!r} has another answer above; {ADVICE}")
            n_bytes += len(raw)
    return Recorded(entries, 0, n_bytes)


def _entry(raw: bytes, where: str) -> tuple[str, list[Answer]]:
    try:
        value = parse_object(Line(where, raw.decode().rstrip("\n")))
    except DataError as error:
        raise DataError(f"{error}; {ADVICE}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 ({error.reason}); {ADVICE}") from error
    if set(value) != {"key", "answer"} or not _is_entry(value["key"], value["answer"]):
        raise DataError(f"{where}: not a journal entry (expected `key` and `answer`); {ADVICE}")
    return value["key"], value["answer"]


def _is_entry(key: object, answer: object) -> bool:
    is_records = isinstance(answer, list) and all(isinstance(record, dict) for record in answer)
    return isinstance(key, str) and is_records


def _open_at(path: Path, n_bytes: int) -> IO[bytes]:
    """Open a file for appending behind its first bytes, without a buffer of our own."""
    try:
        file = path.open("ab", buffering=0)
        file.truncate(n_bytes)
    except OSError as error:
        raise OutputError.of(path, error) from error
    return file


def _write_all(file: IO[bytes], content: bytes) -> None:
    # A full disk may take a part of it first.
    while content:
        content = content[file.write(content) :]
