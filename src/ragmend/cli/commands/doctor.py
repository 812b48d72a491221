"""`ragmend doctor`: every check before anything expensive, and of a run afterwards."""

from pathlib import Path

import click

from ragmend.errors import RagmendError


class ChecksFailedError(RagmendError, RuntimeError):
    """At least one check failed; each has said why."""


@click.command("doctor")
@click.argument("target", metavar="CONFIG|RUN")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; KEY= unsets it."
)
@click.option("--out", type=click.Path(path_type=Path), help="Run folder [runs/<config name>].")
@click.option("--serve", is_flag=True, help="Start the servers it needs here, one after another.")
@click.option("--role", metavar="NAME", help="Check this role and what it needs, no other.")
@click.option("--without-models", is_flag=True, help="Check all but what a role must answer.")
def doctor_command(
    target: str,
    overrides: tuple[str, ...],
    out: Path | None,
    serve: bool,
    role: str | None,
    without_models: bool,
) -> None:
    """Check a configuration before it is run, or the folder of a run.

    One line a check: that configuration, data and keys are in order, threshold, prompts and
    protocol as locked, that each role opens and answers a small case; of a run also that its
    files are as recorded, keys unique, and that the saved actions give every text.
    """
    from ragmend.cli.doctor.checkup import check_up

    n_checks, failed = 0, []
    for finding in check_up(
        target, overrides, out=out, asks_models=not without_models, serves=serve, role=role
    ):
        click.echo(finding.line)
        n_checks += finding.kind != "unchecked"
        if finding.kind == "failed":
            failed.append(finding.name)
    if failed:
        raise ChecksFailedError(f"{len(failed)} of {n_checks} checks failed: {', '.join(failed)}")
