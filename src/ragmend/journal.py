"""Journals: answers survive a kill, and a resumed run repeats none of them.

A journal is append-only JSONL with one writer a shard. An entry's key is the SHA-256 of
everything that changes the answer (model, revision, prompt, sampling, input) and of nothing
that does not (batch size, retries, time-outs). A failure is never recorded as an answer.
No database: shared cluster file systems do not honour database locks.
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pydantic import JsonValue

from ragmend.errors import DataError
from ragmend.io import Line, parse_object

Answer = dict[str, JsonValue]  # one record, as JSON
ADVICE = "delete that line, and its answer is asked again"
SYNC_EVERY = 64  # entries between two fsyncs: what a power failure (not a kill) may cost


class Journal:
    """The recorded answers of one shard; use as a context manager while appending."""

    def __init__(self, path: Path) -> None:
        """Open a journal and read what it holds.

        Raises:
            DataError: A line other than the last is not an entry.
        """
        self.path = path
        self.entries, self.n_torn, intact = _read(path)
        self._n_unsynced = 0
        self._file: IO[bytes] | None = None
        self._intact_bytes = intact

    def __enter__(self) -> Self:
        """Start appending; a torn last line is cut off first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("r+b" if self.path.exists() else "w+b")
        self._file.truncate(self._intact_bytes)
        self._file.seek(0, os.SEEK_END)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make everything durable and stop appending."""
        if self._file is not None:
            self._sync()
            self._file.close()
            self._file = None

    def append(self, key: str, answer: list[Answer]) -> None:
        """Record the answer to one request; it survives a kill from here on."""
        if self._file is None:
            raise RuntimeError("a journal is appended to inside its `with` block")
        line = json.dumps({"key": key, "answer": answer}, allow_nan=False, separators=(",", ":"))
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        self.entries[key] = answer
        self._n_unsynced += 1
        if self._n_unsynced >= SYNC_EVERY:
            self._sync()

    def _sync(self) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._n_unsynced = 0


def _read(path: Path) -> tuple[dict[str, list[Answer]], int, int]:
    """Return the entries, how many torn last lines there are (0 or 1), and the intact bytes."""
    entries: dict[str, list[Answer]] = {}
    if not path.exists():
        return entries, 0, 0
    intact = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                # Only the last line can lack its end: the writer was killed in it.
                return entries, 1, intact
            key, answer = _entry(raw, f"{path}:{number}")
            entries[key] = answer
            intact += len(raw)
    return entries, 0, intact


def _entry(raw: bytes, where: str) -> tuple[str, list[Answer]]:
    try:
        value = parse_object(Line(where, raw.decode().rstrip("\n")))
    except DataError as error:
        raise DataError(f"{error}; {ADVICE}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 ({error.reason}); {ADVICE}") from error
    if set(value) != {"key", "answer"} or not isinstance(value["answer"], list):
        raise DataError(f"{where}: not a journal entry (expected `key` and `answer`); {ADVICE}")
    return str(value["key"]), value["answer"]
