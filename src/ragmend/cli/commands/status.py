"""`ragmend status`: what is complete, partial, stale or missing, and the command that helps."""

from pathlib import Path

import click

from ragmend.cli.context import Context, Stage
from ragmend.cli.engine import inspect_stage
from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.stages import STAGES
from ragmend.errors import RagmendError
from ragmend.manifest import Manifest


@click.command("status")
@click.argument("run", type=click.Path(path_type=Path))
def status_command(run: Path) -> None:
    """Show the stages of a run: state, counts, what is missing, what is stale."""
    context = reopen_experiment(run).context
    click.echo(f"{context.config.name} in {context.paths.root}")
    for stage in STAGES:
        click.echo(f"{stage.name:9} {_describe(stage, context)}")


def _describe(stage: Stage, context: Context) -> str:
    try:
        state = inspect_stage(stage, context)
    except RagmendError as error:
        return f"unreadable: {error}"
    if state.kind == "complete" and state.manifest is not None:
        return f"complete  {_counts(state.manifest)}"
    if state.reasons:
        help_text = f"ragmend run … --redo {stage.name}"
        return f"{state.kind}  {'; '.join(state.reasons)} ({help_text})"
    n_recorded = _n_recorded(stage.manifest(context).parent)
    return f"partial   {n_recorded:,} units recorded" if n_recorded else "missing"


def _counts(manifest: Manifest) -> str:
    parts = [
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}"
        for name, value in manifest.counts.items()
    ]
    if manifest.n_faults:
        parts.append(f"faults {manifest.n_faults}, accepted: {manifest.accepted_faults}")
    return ", ".join(parts)


def _n_recorded(folder: Path) -> int:
    """Count whole lines of the journals, without reading what they say."""
    journals = sorted((folder / "shards").glob("shard-*.jsonl"))
    return sum(journal.read_bytes().count(b"\n") for journal in journals)
