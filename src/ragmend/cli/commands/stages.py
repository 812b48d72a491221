"""The stages one by one, with the same runners as `ragmend run`."""

from collections.abc import Callable
from pathlib import Path

import click

from ragmend.cli.experiment import open_experiment, reopen_experiment
from ragmend.cli.scores import format_scores
from ragmend.paths import StageName

REPAIR_STAGES: tuple[StageName, ...] = (
    "select", "split", "match", "verify", "propose", "assemble",
)  # fmt: skip


def _options(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option("--out", type=click.Path(path_type=Path), help="Run folder.")(function)
    return click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key."
    )(function)


@click.group("detect")
def detect_group() -> None:
    """Find hallucinated answers, and score who finds them."""


@detect_group.command("predict")
@click.argument("config")
@_options
def detect_predict_command(config: str, out: Path | None, overrides: tuple[str, ...]) -> None:
    """Write the detector's verdict on every response of the split."""
    open_experiment(config, out, overrides).run(only="detect")


@detect_group.command("score")
@click.argument("run", type=click.Path(path_type=Path))
def detect_score_command(run: Path) -> None:
    """Print a run's response- and span-level scores in the RAGTruth protocol."""
    click.echo(format_scores(reopen_experiment(run).context))


@click.command("repair")
@click.argument("config")
@_options
def repair_command(config: str, out: Path | None, overrides: tuple[str, ...]) -> None:
    """Repair the flagged answers: select, split, match, verify, propose, assemble."""
    experiment = open_experiment(config, out, overrides)
    for stage in REPAIR_STAGES:
        experiment.run(only=stage)


@click.command("judge")
@click.argument("config")
@_options
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
