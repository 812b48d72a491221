"""`ragmend submit`: the same experiment as a SLURM job graph."""

from pathlib import Path

import click

from ragmend.cli.commands.stages import options
from ragmend.cli.context import Context


@click.command("submit")
@click.argument("config")
@click.option(
    "--cluster",
    metavar="FILE",
    help="Cluster file, or a shipped name [with --resume: as it was submitted].",
)
@options
@click.option("--dry-run", is_flag=True, help="Write scripts and commands; submit nothing.")
@click.option("--resume", is_flag=True, help="Submit only what is missing of a run.")
@click.option("--accept-faults", metavar="REASON", help="Go on without faulty records.")
def submit_command(
    config: str,
    cluster: str | None,
    out: Path | None,
    overrides: tuple[str, ...],
    dry_run: bool,
    resume: bool,
    accept_faults: str | None,
) -> None:
    """Submit the whole experiment to a SLURM cluster, print its jobs, and return.

    Code, configuration and scripts are copied into RUN/jobs: editing them later changes nothing.
    CONFIG may be the run folder itself with --resume.
    """
    from ragmend.cli.experiment import open_experiment, reopen_experiment
    from ragmend.cli.submitting.showing import describe_graph
    from ragmend.cli.submitting.submit import Wish, submit, write_dry_run
    from ragmend.slurm.cluster import load_cluster

    if accept_faults is not None and not accept_faults.strip():
        raise click.BadParameter(
            "give a reason; it stands in the manifest", param_hint="--accept-faults"
        )
    is_run = resume and Path(config).is_dir()
    if is_run and (out is not None or overrides):
        raise click.UsageError("a run folder has its configuration: leave --out and --set out")
    experiment = (
        reopen_experiment(Path(config)) if is_run else open_experiment(config, out, overrides)
    )
    context = experiment.context
    where = cluster or (_last_cluster(context) if resume else None)
    if where is None:
        raise click.UsageError("--cluster names the cluster file")
    wish = Wish(context, load_cluster(where), resume, accept_faults)
    done = write_dry_run(wish) if dry_run else submit(wish)
    if not done.pieces:
        click.echo(f"nothing is missing in {context.paths.root}: nothing was submitted")
        return
    for line in describe_graph(done.pieces, done.ids, done.estimates):
        click.echo(line)
    run = context.paths.root
    if dry_run:
        click.echo(f"scripts  {done.folder / 'scripts'}")
        click.echo(f"commands {done.folder / 'commands.sh'}")
        return
    click.echo(f"submitted {len(done.ids)} jobs; `ragmend status {run}` shows how far they are")


def _last_cluster(context: Context) -> str | None:
    """Return the cluster file of a run's last submission."""
    files = [own.cluster for own in context.paths.jobs.submissions() if own.cluster.is_file()]
    return str(files[-1]) if files else None
