"""What a killed training resumes from, and the log that goes with it."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import DataError
from ragmend.io import parse_record, read_lines, write_bytes, write_records
from ragmend.trained import LogRow

COMPLETE = "complete.json"
"""Written into a checkpoint when all else of it is there: the size of each file."""
_NAME = re.compile(r"checkpoint-([0-9]+)")


class Checkpoint(NamedTuple):
    """A complete checkpoint, of the state after `step` steps."""

    step: int
    folder: Path


def mark_complete(folder: Path) -> None:
    """Say that a checkpoint is complete; one without that is passed over."""
    write_bytes(folder / COMPLETE, json.dumps(_sizes(folder)).encode())


def last_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the last complete checkpoint, and take away what a killed process left half-written.

    Args:
        folder: Where they lie; it need not be there.
    """
    found = [(int(name[1]), path) for path in _folders(folder) if (name := _name(path))]
    complete = [Checkpoint(step, path) for step, path in found if _is_complete(path)]
    for _, path in found:
        if path not in {checkpoint.folder for checkpoint in complete}:
            shutil.rmtree(path)
    return max(complete, default=None)


def cut_log(path: Path, last_step: int) -> None:
    """Drop the rows of a log that come after a step: they are computed again.

    Raises:
        DataError: A row up to it is missing or cannot be read.
    """
    rows = [row for row in _rows(path) if row.step <= last_step]
    if [row.step for row in rows] != list(range(1, last_step + 1)):
        raise DataError(
            f"{path}: holds {len(rows)} of the rows of steps 1 to {last_step}, which the last "
            "checkpoint is of; put the whole log back, or train again from the beginning"
        )
    write_records(path, rows)


def append_row(path: Path, row: LogRow) -> None:
    """Add the row of one step to a log."""
    with path.open("ab") as file:
        file.write(row.model_dump_json().encode() + b"\n")


def _rows(path: Path) -> Iterator[LogRow]:
    """Yield the rows of a log; of a torn last line nothing is known."""
    if not path.exists():
        return
    is_torn = not path.read_bytes().endswith(b"\n")
    lines = list(read_lines(path))
    for line in lines[: len(lines) - is_torn]:
        yield parse_record(line, LogRow)


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def _name(path: Path) -> re.Match[str] | None:
    return _NAME.fullmatch(path.name)


def _is_complete(folder: Path) -> bool:
    marker = folder / COMPLETE
    return marker.is_file() and json.loads(marker.read_bytes()) == _sizes(folder)


def _sizes(folder: Path) -> dict[str, int]:
    files = [path for path in sorted(folder.iterdir()) if path.name != COMPLETE]
    return {path.name: path.stat().st_size for path in files}
