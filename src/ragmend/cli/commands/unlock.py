"""`ragmend unlock`: clear the locks that a killed command left behind."""

from pathlib import Path

import click

from ragmend.errors import MissingInputError
from ragmend.paths import lock_paths
from ragmend.run_lock import clear_locks


@click.command("unlock")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Even if the holder runs, or is on another host.")
def unlock_command(run: Path, force: bool) -> None:
    """Clear the lock that a killed command left in the folder RUN (or one lock file).

    While its holder runs on this host, or where that cannot be seen, nothing is cleared.
    """
    if not run.exists():
        raise MissingInputError(f"{run}: no such run folder or lock")
    paths = [run] if run.suffix == ".lock" and not run.is_dir() else lock_paths(run)
    cleared = clear_locks(paths, unlock=run, force=force)
    for state in cleared:
        holder = "" if state.holder is None else f" (of {state.holder})"
        click.echo(f"cleared  {state.path}{holder}")
    if not cleared:
        click.echo(f"{run}: no lock; nothing to clear")
