"""The stages one by one, with the same runners as `ragmend run`."""

from collections.abc import Callable
from pathlib import Path

import click

from ragmend.cli.context import say
from ragmend.cli.experiment import Experiment, open_experiment, reopen_experiment
from ragmend.errors import RunStateError
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
@click.option(
    "--partial",
    is_flag=True,
    help="Of a run that is not finished: of what is complete, into RUN/partial.",
)
@click.option("--config", help="The run's configuration, where it is not to be read from RUN.")
def report_command(run: Path, *, redo: bool, partial: bool, config: str | None) -> None:
    """Write report.md and report.html of a run."""
    experiment = reopen_experiment(run) if config is None else open_experiment(config, run)
    if partial:
        _report_what_exists(experiment, redo=redo)
        return
    experiment.run(only="report", redo="report" if redo else None)
    click.echo(f"report   {experiment.context.paths.report}")


def _report_what_exists(experiment: Experiment, *, redo: bool) -> None:
    from ragmend.cli.partial.report import name_missing, report_what_exists
    from ragmend.cli.submitting.jobs import failed_jobs

    jobs = failed_jobs(experiment.context.paths)
    made = report_what_exists(experiment, redo=redo, job_lines=jobs)
    if made is None:
        click.echo(f"report   {experiment.context.paths.report}")
        return
    say(f"INCOMPLETE: {name_missing(made.missing)}")
    for missing in made.missing:
        say(f"  {missing.line}")
    click.echo(f"report   {made.path}")
    if not made.n_tables:
        raise RunStateError(
            f"{experiment.context.paths.root}: nothing that is complete makes a table yet; "
            f"{made.path} says what is missing and why"
        )
