"""`ragmend detect`: train detectors, let them predict, score them, find out how they are."""

from collections.abc import Callable
from pathlib import Path

import click

from ragmend.cli.commands.stages import options
from ragmend.cli.experiment import Experiment, open_experiment, reopen_experiment
from ragmend.cli.scores import format_scores
from ragmend.errors import ConfigError
from ragmend.io import write_bytes


@click.group("detect")
def detect_group() -> None:
    """Find hallucinated answers: train detectors, let them predict, score and diagnose them."""


def _run_options(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option(
        "--seed", type=click.IntRange(min=0), help="One seed; all when left out."
    )(function)
    return click.option("--model", metavar="NAME", help="One detector; all when left out.")(
        function
    )


@detect_group.command("train")
@click.argument("config")
@_run_options
@options
@click.option("--redo", is_flag=True, help="Discard what is there and train again.")
def detect_train_command(
    config: str,
    model: str | None,
    seed: int | None,
    out: Path | None,
    overrides: tuple[str, ...],
    redo: bool,
) -> None:
    """Fine-tune the detectors of CONFIG on the train split, each with a verdict on its health.

    A training that was interrupted goes on from its last checkpoint; a complete one is skipped.
    SIGTERM and SIGUSR1 save and end with exit code 75.
    """
    from ragmend.cli.training.plan import choose_runs
    from ragmend.cli.training.runner import prepare_training, train_run
    from ragmend.cli.training.stopping import SignalWatch

    context = open_experiment(config, out, overrides).context
    runs = choose_runs(context.config, model, seed)
    if redo and len(runs) > 1:
        raise click.UsageError("--redo discards one training: give --model and --seed")
    prepare_training(context)
    with SignalWatch() as watch:
        for run in runs:
            watch.raise_if_asked(f"before {run.run_id}")
            train_run(context, run, watch, redo=redo)


@detect_group.command("predict")
@click.argument("config")
@_run_options
@options
@click.option(
    "--server", metavar="URL", help="Ask a vLLM server that has base and adapter (`detect serve`)."
)
@click.option("--again", metavar="REASON", help="Evaluate on the test split once more; reported.")
@click.option("--accept-faults", metavar="REASON", help="Go on without faulty records.")
def detect_predict_command(
    config: str,
    model: str | None,
    seed: int | None,
    out: Path | None,
    overrides: tuple[str, ...],
    server: str | None,
    again: str | None,
    accept_faults: str | None,
) -> None:
    """Write the detectors' verdicts on every response of the split."""
    for name, reason in (("--again", again), ("--accept-faults", accept_faults)):
        if reason is not None and not reason.strip():
            raise click.BadParameter("give a reason; it is written down", param_hint=name)
    experiment = open_experiment(config, out, overrides, accept_faults=accept_faults)
    context = experiment.context
    if context.config.detector.kind != "trained":
        _refuse_run_options(model, seed, again, server)
        experiment.run(only="detect")
        return
    from ragmend.cli.engine import run_alone
    from ragmend.cli.training.plan import choose_runs
    from ragmend.cli.training.predicting import predict_stage
    from ragmend.cli.training.stopping import SignalWatch

    runs = choose_runs(context.config, model, seed)
    if again is not None and len(runs) > 1:
        raise click.UsageError("--again is about one training: give --model and --seed")
    if server is not None and len(runs) > 1:
        raise click.UsageError("--server has one detector: give --model and --seed")
    with SignalWatch() as watch:
        for run in runs:
            watch.raise_if_asked(f"before {run.run_id}")
            stage = predict_stage(run, again=again, server=server, watch=watch)
            run_alone(context, stage, redo=again is not None)


def _refuse_run_options(
    model: str | None, seed: int | None, again: str | None, server: str | None
) -> None:
    given = (("--model", model), ("--seed", seed), ("--again", again), ("--server", server))
    for name, value in given:
        if value is not None:
            raise ConfigError(f"{name} is about trained detectors; detector.kind is another")


@detect_group.command("serve")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME", required=True, help="The detector.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Its seed.")
@click.option("--port", type=click.IntRange(1, 65535), help="Its port [any that is free].")
@click.option(
    "--log", type=click.Path(path_type=Path), help="Where its output goes [RUN/servers/NAME.log]."
)
@click.option("--dry-run", is_flag=True, help="Print the command and its variables only.")
def detect_serve_command(
    run: Path, model: str, seed: int, port: int | None, log: Path | None, dry_run: bool
) -> None:
    """Start a vLLM server with a generative detector's base and adapter, until Ctrl-C.

    Once it answers, it is checked: it has this adapter, and uses it.
    """
    from ragmend.cli.training.plan import choose_runs, plan_training
    from ragmend.cli.training.predicting import require_trained
    from ragmend.cli.training.serving import serve_detector

    context = reopen_experiment(run).context
    (wanted,) = choose_runs(context.config, model, seed)
    require_trained(context, wanted)
    plan = plan_training(context, wanted)
    for line in serve_detector(context, plan, port=port, log=log, dry_run=dry_run):
        click.echo(line)


@detect_group.command("score")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--runs",
    "table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the trained runs there too, for `ragmend analyze --runs`.",
)
def detect_score_command(run: Path, table: Path | None) -> None:
    """Print a run's scores in the RAGTruth protocol; of trained detectors, Table 1 and the rest."""
    experiment = reopen_experiment(run)
    if experiment.context.config.detector.kind == "trained":
        _score_trained(experiment, table)
        return
    if table is not None:
        raise ConfigError("--runs is about trained detectors; detector.kind is another")
    click.echo(format_scores(experiment.context))


def _score_trained(experiment: Experiment, table: Path | None) -> None:
    from ragmend.cli.detector_tables import format_detector_tables, runs_csv

    config, paths = experiment.context.config, experiment.context.paths
    click.echo(format_detector_tables(config, paths))
    if table is not None:
        write_bytes(table, runs_csv(config, paths))
        click.echo(f"runs     {table}")


@detect_group.command("diagnose")
@click.argument("run", type=click.Path(path_type=Path))
@_run_options
@click.option("--probe", is_flag=True, help="Load the weights and ask the probe once more.")
def detect_diagnose_command(run: Path, model: str | None, seed: int | None, probe: bool) -> None:
    """Say how each training of RUN is, and why: health, files, norms, losses, answers."""
    from ragmend.cli.training.diagnosing import diagnose
    from ragmend.cli.training.plan import choose_runs

    context = reopen_experiment(run).context
    for each in choose_runs(context.config, model, seed):
        for line in diagnose(context, each, probe=probe):
            click.echo(line)


@detect_group.command("merge")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME", required=True, help="The detector.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Its seed.")
@click.option("--into", type=click.Path(path_type=Path), required=True, help="A new folder.")
def detect_merge_command(run: Path, model: str, seed: int, into: Path) -> None:
    """Merge an adapter into its base, and measure how far the answers move."""
    from ragmend.cli.training.merging import merge
    from ragmend.cli.training.plan import choose_runs

    context = reopen_experiment(run).context
    (wanted,) = choose_runs(context.config, model, seed)
    for line in merge(context, wanted, into):
        click.echo(line)


@detect_group.command("push")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME", required=True, help="The detector.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Its seed.")
@click.option("--repo", required=True, metavar="OWNER/NAME", help="The hub's repository.")
@click.option("--public", is_flag=True, help="Make a new repository public.")
@click.option("--although-unhealthy", is_flag=True, help="Push it although it is not usable.")
def detect_push_command(
    run: Path, model: str, seed: int, repo: str, public: bool, although_unhealthy: bool
) -> None:
    """Upload a detector and its card to a model hub; HF_TOKEN holds the token."""
    from ragmend.cli.training.plan import choose_runs
    from ragmend.cli.training.pushing import push

    context = reopen_experiment(run).context
    (wanted,) = choose_runs(context.config, model, seed)
    click.echo(push(context, wanted, repo, public=public, although_unhealthy=although_unhealthy))
