"""`ragmend cancel`: end the jobs of one run, and no others."""

from pathlib import Path

import click


@click.command("cancel")
@click.argument("run", type=click.Path(path_type=Path))
def cancel_command(run: Path) -> None:
    """End the SLURM jobs of RUN that are in the queue; what is done is kept.

    Only jobs that bear this run's mark are ended, whatever else runs under the same user.
    """
    from ragmend.cli.experiment import reopen_experiment
    from ragmend.cli.submitting.earlier import (
        cancel_tasks,
        find_queued,
        read_submissions,
        refuse_other_cluster,
        withdraw_interrupted,
    )
    from ragmend.run_lock import FileLock
    from ragmend.slurm.commands import Slurm

    paths = reopen_experiment(run).context.paths
    slurm = Slurm.find()
    if not paths.jobs.root.is_dir():
        click.echo(f"{run} was never submitted; nothing to cancel")
        return
    with FileLock(paths.jobs.lock, unlock=paths.root):
        submissions = read_submissions(paths)
        refuse_other_cluster(slurm, submissions)
        n_withdrawn = withdraw_interrupted(slurm, submissions)
        queued = find_queued(slurm, submissions)
        tasks = [*queued.alive, *queued.stuck]
        ids = cancel_tasks(slurm, tasks)
    if not ids and n_withdrawn:
        return
    if not ids:
        click.echo(f"{run}: no job of it is in the queue; nothing to cancel")
        return
    click.echo(f"cancelled {len(tasks)} tasks of {len(ids)} jobs: {', '.join(ids)}")
    click.echo(f"`ragmend submit {run} --resume` goes on from what is done")
