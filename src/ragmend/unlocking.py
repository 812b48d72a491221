"""Clearing the locks that killed processes left: only those, and only ragmend's own."""

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import OutputError, RunStateError
from ragmend.io import PARTIAL
from ragmend.run_lock import LockState, inspect_lock, signals_wait


class ClearedOfJob(NamedTuple):
    """The locks of a job that were removed, and those that may be its own and were not."""

    removed: list[LockState]
    left: list[LockState]


def clear_locks(paths: Sequence[Path], *, unlock: Path, force: bool) -> list[LockState]:
    """Remove locks that killed processes left.

    Args:
        paths: The lock files, the last to go at the end.
        unlock: What `ragmend unlock` was given, for messages.
        force: Also those whose holder is alive or cannot be checked.

    Returns:
        What was removed.

    Raises:
        RunStateError: One is no lock of ragmend's, or a holder is alive or on another host
            and `force` is not given: then nothing is removed. Or one changed hands just now.
        OutputError: One cannot be removed.
    """
    found = [state for path in paths if (state := inspect_lock(path)) is not None]
    for state in found:
        is_in_use = state.kind in ("alive", "elsewhere")
        if state.kind == "foreign" or (is_in_use and not force):
            raise RunStateError(state.describe(unlock))
    return [state for state in found if _remove(state)]


def clear_locks_of_job(paths: Sequence[Path], slurm_job_id: str) -> ClearedOfJob:
    """Remove the locks that processes of a SLURM job left, wherever they ran.

    Whoever calls this says that the job has ended. A lock of the job whose process is seen to
    live is left alone, as are those of others and those that do not say whose they are.

    Raises:
        OutputError: One cannot be removed.
        RunStateError: One changed hands just now.
    """
    found = [state for path in paths if (state := inspect_lock(path)) is not None]
    of_job = [s for s in found if s.holder and s.holder.slurm_job_id == slurm_job_id]
    ended = [state for state in of_job if state.kind != "alive"]
    left = [s for s in found if s.kind == "unnamed" or (s in of_job and s.kind == "alive")]
    return ClearedOfJob([state for state in ended if _remove(state)], left)


def _remove(state: LockState) -> bool:
    """Remove a lock if it still is what was found; return whether it was there.

    It is moved aside first: under its own name, another process may have taken it meanwhile.
    A kill in between leaves a partial file, which the next run sweeps away.
    """
    path = state.path
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}{PARTIAL}")
    try:
        with signals_wait():
            try:
                path.rename(aside)
            except FileNotFoundError:
                return False
            if aside.read_bytes() == state.content:
                aside.unlink()
                return True
            _put_back(aside, path)
    except OSError as error:
        raise OutputError.of(path, error) from error
    raise RunStateError(f"{path}: changed hands just now and is left alone; see who holds it")


def _put_back(aside: Path, path: Path) -> None:
    try:
        with suppress(FileExistsError):  # a third process was quicker: the lock is its own
            os.link(aside, path)  # unlike a rename, it replaces nothing
    except OSError:
        aside.rename(path)  # a file system without hard links
    aside.unlink(missing_ok=True)
