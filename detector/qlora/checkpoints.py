"""Checkpoints: from which a training goes on, and which are no more than half of one."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from ragmend.detector.qlora.adapters import WEIGHTS
from ragmend.detector.training.job import CHECKPOINTS, LOG, Job
from ragmend.errors import DataError
from ragmend.io import parse_record, read_lines, write_records
from ragmend.trained import LogRow

_STATE = "trainer_state.json"  # the Trainer writes it last
_PARTS = (WEIGHTS, "optimizer.pt", "scheduler.pt", "rng_state.pth", _STATE)


class Checkpoint(NamedTuple):
    """A complete checkpoint: its folder, its step, and how many epochs were ended by then."""

    folder: Path
    step: int
    n_epochs: int


def find_checkpoint(job: Job) -> Checkpoint | None:
    """Return the last checkpoint that is complete; whatever lies behind it is taken away.

    One is complete where all its parts are there and the weights of every epoch before it are:
    a process that is killed while it saves leaves less.
    """
    folders = sorted((job.folder / CHECKPOINTS).glob("checkpoint-*"), key=_step_of, reverse=True)
    for folder in folders:
        found = _read_checkpoint(folder)
        if found is not None and all(job.weights(n + 1).is_dir() for n in range(found.n_epochs)):
            return found
        shutil.rmtree(folder, ignore_errors=True)
    return None


def keep_log_until(job: Job, step: int) -> None:
    """Drop the rows of the log behind a step: they are trained, and written, again.

    Raises:
        DataError: A row that stays is not there, or cannot be read.
    """
    path = job.folder / LOG
    kept: list[LogRow] = []
    for line in read_lines(path) if path.exists() else ():
        if len(kept) == step:
            break  # the last line may be torn; it is behind
        kept.append(parse_record(line, LogRow))
    if [row.step for row in kept] != list(range(1, step + 1)):
        raise DataError(
            f"{path}: expected one row for each step up to {step}, of the last checkpoint, found "
            f"{len(kept)}; it was changed: train again with --redo"
        )
    write_records(path, kept)


def _step_of(folder: Path) -> int:
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _read_checkpoint(folder: Path) -> Checkpoint | None:
    if not all((folder / part).is_file() for part in _PARTS):
        return None
    try:
        state: dict[str, Any] = json.loads((folder / _STATE).read_bytes())
        step, epoch = int(state["global_step"]), float(state["epoch"])
    except (ValueError, KeyError, TypeError):  # cut while it was written
        return None
    return Checkpoint(folder, step, int(epoch)) if step == _step_of(folder) else None
