"""`ragmend run`: the whole experiment, resumable."""

from contextlib import nullcontext
from pathlib import Path

import click

from ragmend.cli.experiment import open_experiment
from ragmend.cli.sharding.parts import SHARDED_STAGES
from ragmend.cli.summary import summarize_run
from ragmend.paths import STAGE_NAMES, StageName


@click.command("run")
@click.argument("config")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder [runs/<config name>].")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; KEY= unsets it."
)
@click.option("--only", type=click.Choice(STAGE_NAMES), help="Run this stage only.")
@click.option("--fold", is_flag=True, help="Make --only STAGE of its shards' answers; ask nobody.")
@click.option("--redo", type=click.Choice(STAGE_NAMES), help="Discard this stage and all later.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many flagged answers.")
@click.option("--export-all", is_flag=True, help="Write unflagged answers too, marked.")
@click.option("--accept-faults", metavar="REASON", help="Go on without faulty records.")
@click.option("--serve", is_flag=True, help="Start the servers it needs here, one after another.")
def run_command(
    config: str,
    out: Path | None,
    overrides: tuple[str, ...],
    only: StageName | None,
    fold: bool,
    redo: StageName | None,
    limit: int | None,
    export_all: bool,
    accept_faults: str | None,
    serve: bool,
) -> None:
    """Run an experiment: detect, select, split, match, verify, propose, assemble, judge, analyze.

    What is complete is skipped; what a kill interrupted goes on where it was.
    """
    if accept_faults is not None and not accept_faults.strip():
        raise click.BadParameter(
            "give a reason; it stands in the manifest", param_hint="--accept-faults"
        )
    if fold and (only not in SHARDED_STAGES or redo is not None or serve):
        raise click.BadParameter(
            f"goes with --only STAGE ({', '.join(SHARDED_STAGES)}), not with --redo or --serve",
            param_hint="--fold",
        )
    if limit is not None:
        overrides = (*overrides, f"population.limit={limit}")
    experiment = open_experiment(config, out, overrides, accept_faults=accept_faults)
    with experiment.served() if serve else nullcontext(experiment) as served:
        served.run(only=only, redo=redo, fold=fold)
    if export_all:
        experiment.export_all()
    if only is None:
        click.echo(summarize_run(experiment.context.paths))
