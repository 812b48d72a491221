"""`ragmend status`: what is complete, partial, stale or missing, and the command that helps."""

from collections.abc import Iterator
from pathlib import Path

import click

from ragmend.cli.context import Context
from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.stages import STAGES
from ragmend.cli.states import describe_state, look_at_stage
from ragmend.run_lock import inspect_lock


@click.command("status")
@click.argument("run", type=click.Path(path_type=Path))
def status_command(run: Path) -> None:
    """Show the stages of a run: state, counts, what is missing, what is stale.

    Of a run that was submitted to a cluster also its jobs: why they wait, or how they failed.
    """
    context = reopen_experiment(run).context
    click.echo(f"{context.config.name} in {context.paths.root}")
    lock = inspect_lock(context.paths.run_lock)
    if lock is not None:
        click.echo(lock.describe(context.paths.root))
    for line in _trainings(context):
        click.echo(line)
    broken: str | None = None
    for stage in STAGES:
        state = look_at_stage(stage, context)
        note = f"  (but {broken}, before it, is not)" if broken and state.kind == "complete" else ""
        click.echo(f"{stage.name:9} {describe_state(stage, state, context)}{note}")
        if broken is None and state.kind in ("stale", "damaged"):
            broken = stage.name
    for line in _jobs(context):
        click.echo(line)


def _trainings(context: Context) -> Iterator[str]:
    """Yield a line a detector that is trained here: how far it is, and how it is."""
    if context.config.detector.kind != "trained":
        return
    from ragmend.cli.training.progress import describe_training

    for run in context.config.trainings.run_ids():
        yield f"train     {run}: {describe_training(context, run)}"


def _jobs(context: Context) -> Iterator[str]:
    """Yield what there is to say of jobs, where the run was submitted to a cluster."""
    if not context.paths.jobs.root.is_dir():
        return
    from ragmend.cli.submitting.jobs import describe_jobs

    yield from describe_jobs(context.paths)
