"""`ragmend unlock`: clear the locks that a killed command left behind."""

import os
from pathlib import Path

import click

from ragmend.errors import MissingInputError, RunStateError
from ragmend.io import PARTIAL
from ragmend.paths import JOBS, TRAINING, RunPaths, is_lock_path, lock_paths
from ragmend.run_lock import LockState
from ragmend.unlocking import clear_locks, clear_locks_of_job


@click.command("unlock")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Even if the holder runs, or is on another host.")
@click.option("--slurm-job", metavar="ID", help="Only those of a SLURM job that has ended.")
def unlock_command(run: Path, force: bool, slurm_job: str | None) -> None:
    """Clear the lock that a killed command left in the folder RUN (or one lock file).

    While its holder runs on this host, or where that cannot be seen, nothing is cleared. What
    is no lock of ragmend's is left alone. Where there is no lock, all is well. With --slurm-job,
    exactly the locks that say they are that job's are cleared, whichever host it ran on.
    """
    if slurm_job is not None:
        if force:
            raise click.UsageError("--slurm-job says whose locks to clear; --force clears all")
        _clear_of_job(run, slurm_job)
        return
    cleared = clear_locks(_locks(run), unlock=run, force=force)
    _print_cleared(cleared)
    if not cleared:
        click.echo(f"{run}: no lock; nothing to clear")


def _clear_of_job(run: Path, slurm_job: str) -> None:
    removed, left = clear_locks_of_job(_locks(run), slurm_job)
    _print_cleared(removed)
    for state in left:
        click.echo(f"left     {state.describe(run)}")
    if not removed:
        click.echo(f"{run}: no lock of SLURM job {slurm_job} to clear")


def _print_cleared(cleared: list[LockState]) -> None:
    for state in cleared:
        holder = "" if state.holder is None else f" (of {state.holder})"
        click.echo(f"cleared  {state.path}{holder}")


def _locks(run: Path) -> list[Path]:
    if run.is_dir():
        _refuse_other_folder(run)
        return lock_paths(run)
    if not os.path.lexists(run):
        raise MissingInputError(f"{run}: no such run folder or lock")
    if not is_lock_path(run):
        raise RunStateError(
            f"{run}: is neither a run folder nor a lock of ragmend's (run.lock, submit.lock, or "
            "shards/shard-….jsonl.lock); it is left alone"
        )
    return [run]


def _refuse_other_folder(root: Path) -> None:
    """Check that a folder is a run, or is empty and may become one."""
    config, lock = RunPaths(root).config.name, RunPaths(root).run_lock.name
    present = {path.name for path in root.iterdir()}
    if present and not present & {config, f"{config}{PARTIAL}", lock, TRAINING, JOBS}:
        raise RunStateError(
            f"{root}: is no run folder (neither {config} nor {lock} in it); it is left alone"
        )
