"""`ragmend status`: what is complete, partial, stale or missing, and the command that helps."""

from collections.abc import Iterator
from pathlib import Path

import click

from ragmend.cli.context import Context, Stage, format_counts
from ragmend.cli.engine import inspect_stage
from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.stages import STAGES
from ragmend.errors import RagmendError
from ragmend.manifest import State
from ragmend.run_lock import inspect_lock


@click.command("status")
@click.argument("run", type=click.Path(path_type=Path))
def status_command(run: Path) -> None:
    """Show the stages of a run: state, counts, what is missing, what is stale."""
    context = reopen_experiment(run).context
    click.echo(f"{context.config.name} in {context.paths.root}")
    lock = inspect_lock(context.paths.run_lock)
    if lock is not None:
        click.echo(lock.describe(context.paths.root))
    for line in _trainings(context):
        click.echo(line)
    broken: str | None = None
    for stage in STAGES:
        state = _inspect(stage, context)
        note = f"  (but {broken}, before it, is not)" if broken and state.kind == "complete" else ""
        click.echo(f"{stage.name:9} {_describe(stage, state, context)}{note}")
        if broken is None and state.kind in ("stale", "damaged"):
            broken = stage.name


def _trainings(context: Context) -> Iterator[str]:
    """Yield a line a detector that is trained here: how far it is, and how it is."""
    if context.config.detector.kind != "trained":
        return
    from ragmend.cli.training.progress import describe_training

    for run in context.config.trainings.run_ids():
        yield f"train     {run}: {describe_training(context, run)}"


def _inspect(stage: Stage, context: Context) -> State:
    try:
        return inspect_stage(stage, context)
    except (RagmendError, OSError) as error:
        return State("damaged", (f"cannot be read: {error}",))


def _describe(stage: Stage, state: State, context: Context) -> str:
    if state.kind == "complete" and state.manifest is not None:
        faults = f", faults {state.manifest.n_faults}, accepted: {state.manifest.accepted_faults}"
        counts = format_counts(state.manifest.counts)
        return f"complete  {counts}{faults if state.manifest.n_faults else ''}"
    if state.reasons:
        helps = f"ragmend run … --redo {stage.name}"
        return f"{state.kind:9} {'; '.join(state.reasons)} ({helps})"
    folder = stage.manifest(context).parent
    n_units, n_answers = _n_recorded(folder, "shard-????"), _n_recorded(folder, "shard-????-*")
    if not n_units and not n_answers:
        return "missing"
    answers = f", {n_answers:,} answers of language models" if n_answers else ""
    return f"partial   {n_units:,} units recorded{answers}"


def _n_recorded(folder: Path, name: str) -> int:
    """Count whole lines of the journals, without reading what they say."""
    journals = sorted((folder / "shards").glob(f"{name}.jsonl"))
    return sum(journal.read_bytes().count(b"\n") for journal in journals)
