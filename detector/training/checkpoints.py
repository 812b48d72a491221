"""Checkpoints: from which a training goes on, and which are no more than half of one."""

import json
import math
import shutil
from pathlib import Path
from typing import NamedTuple

from ragmend.detector.training.job import CHECKPOINTS, LOG, Job
from ragmend.detector.training.writing import settle_folder
from ragmend.errors import DataError
from ragmend.io import parse_record, read_lines, write_bytes, write_records
from ragmend.trained import LogRow

COMPLETE = "complete.json"
"""Written into a checkpoint when all else of it is there: the size of each file."""
N_CHECKPOINTS = 2
"""How many are kept: the last may be half of one."""
_STATE = "trainer_state.json"


class Checkpoint(NamedTuple):
    """A complete checkpoint.

    Attributes:
        folder: Where it lies.
        step: The last step before it.
        n_epochs: How many epochs' weights are to be there by then.
        is_last: Whether no step follows.
    """

    folder: Path
    step: int
    n_epochs: int
    is_last: bool


def mark_complete(folder: Path) -> None:
    """Say that a checkpoint is complete; one without that is passed over."""
    settle_folder(folder)
    write_bytes(folder / COMPLETE, json.dumps(_sizes(folder)).encode())


def find_checkpoint(job: Job) -> Checkpoint | None:
    """Return the last checkpoint that is complete; whatever lies behind it is taken away.

    One is complete where it is marked so and the weights of every epoch before it are there: a
    process that is killed while it saves leaves less.
    """
    folders = sorted((job.folder / CHECKPOINTS).glob("checkpoint-*"), key=_step_of, reverse=True)
    for folder in folders:
        found = _read_checkpoint(folder)
        if found is not None and not missing_weights(job, found.n_epochs):
            return found
        shutil.rmtree(folder, ignore_errors=True)
    return None


def missing_weights(job: Job, n_epochs: int) -> list[Path]:
    """Return the folders of weights that are not there, of so many epochs."""
    folders = [job.weights(epoch) for epoch in range(1, n_epochs + 1)]
    return [folder for folder in folders if not folder.is_dir()]


def cut_log(job: Job, last_step: int) -> None:
    """Drop the rows of the log behind a step: they are trained, and written, again.

    Raises:
        DataError: A row that stays is not there, or cannot be read.
    """
    path = job.folder / LOG
    kept: list[LogRow] = []
    for line in read_lines(path) if path.exists() else ():
        if len(kept) == last_step:
            break  # the last line may be torn; it is behind
        kept.append(parse_record(line, LogRow))
    if [row.step for row in kept] != list(range(1, last_step + 1)):
        raise DataError(
            f"{path}: expected one row for each step up to {last_step}, of the last checkpoint, "
            f"found {len(kept)}; it was changed: put it back, or train again with --redo"
        )
    write_records(path, kept)


def _step_of(folder: Path) -> int:
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _read_checkpoint(folder: Path) -> Checkpoint | None:
    try:
        marked = json.loads((folder / COMPLETE).read_bytes())
        state = json.loads((folder / _STATE).read_bytes())
        step, is_last = int(state["global_step"]), state["global_step"] >= state["max_steps"]
        n_epochs = (math.ceil if is_last else math.floor)(state["epoch"])
    except (OSError, ValueError, KeyError, TypeError):  # not written, or cut while it was
        return None
    is_complete = marked == _sizes(folder) and step == _step_of(folder)
    return Checkpoint(folder, step, n_epochs, is_last) if is_complete else None


def _sizes(folder: Path) -> dict[str, int]:
    files = [path for path in sorted(folder.iterdir()) if path.name != COMPLETE]
    return {path.name: path.stat().st_size for path in files}
