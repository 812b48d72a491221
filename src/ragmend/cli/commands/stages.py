"""The stages one by one, with the same runners as `ragmend run`."""

from collections.abc import Callable
from pathlib import Path

import click

from ragmend.cli.experiment import open_experiment, reopen_experiment
from ragmend.paths import StageName

REPAIR_STAGES: tuple[StageName, ...] = (
    "select", "split", "match", "verify", "propose", "assemble",
)  # fmt: skip


def options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a command that runs stages: its folder, and overrides."""
    function = click.option("--out", type=click.Path(path_type=Path), help="Run folder.")(function)
    return click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key."
    )(function)


@click.command("repair")
@click.argument("config")
@options
def repair_command(config: str, out: Path | None, overrides: tuple[str, ...]) -> None:
    """Repair the flagged answers: select, split, match, verify, propose, assemble."""
    experiment = open_experiment(config, out, overrides)
    for stage in REPAIR_STAGES:
        experiment.run(only=stage)


@click.command("judge")
@click.argument("config")
@options
def judge_command(config: str, out: Path | None, overrides: tuple[str, ...]) -> None:
    """Let the panel judge every answer in every condition."""
    open_experiment(config, out, overrides).run(only="judge")


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--redo", is_flag=True, help="Write the report again although it is complete.")
def report_command(run: Path, redo: bool) -> None:
    """Write report.md and report.html of a run."""
    experiment = reopen_experiment(run)
    experiment.run(only="report", redo="report" if redo else None)
    click.echo(f"report   {experiment.context.paths.report}")
