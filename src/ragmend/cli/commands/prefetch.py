"""`ragmend prefetch`: fetch what jobs on machines without internet will need."""

import os
from pathlib import Path

import click

from ragmend.cli.context import say
from ragmend.cli.experiment import load_experiment_config
from ragmend.cli.prefetching.data import fetch_dataset, missing_files
from ragmend.cli.prefetching.hub import FetchedModel, describe_leftovers, fetch_model
from ragmend.cli.prefetching.models import NeededModel, missing_models, needed_models
from ragmend.config import Config
from ragmend.datasets.official import OFFICIAL
from ragmend.errors import MissingInputError


@click.command("prefetch")
@click.argument("config")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; KEY= unsets it."
)
@click.option(
    "--data",
    "datasets",
    multiple=True,
    type=click.Choice(sorted(OFFICIAL)),
    help="The official files of a data set, too; can be given several times.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="Where data sets go, each to a folder of its name [$RAGMEND_DATA, or data].",
)
@click.option("--check", is_flag=True, help="Only say what is missing; exit 1 if something is.")
def prefetch_command(
    config: str,
    overrides: tuple[str, ...],
    datasets: tuple[str, ...],
    data_dir: Path | None,
    check: bool,
) -> None:
    """Fetch the language models of CONFIG into the hub's cache, on a machine with internet.

    Each comes at its revision: safetensors, settings and tokenizer, no pickle and no code. What is
    there already is not fetched again. HF_HOME or HF_HUB_CACHE says where the cache is; jobs must
    see the same, with HF_HUB_OFFLINE=1. A gated model wants its licence accepted and HF_TOKEN.
    """
    loaded = load_experiment_config(config, overrides)
    names = sorted(set(datasets))
    root = (data_dir or Path(os.environ.get("RAGMEND_DATA") or "data")).expanduser().absolute()
    if check:
        _check(loaded, names, root)
        return
    models = needed_models(loaded)
    for number, model in enumerate(models, 1):
        say(f"prefetch  {model.label} ({number} of {len(models)} models)")
        _show_model(model, fetch_model(model, os.environ))
    if not models:
        click.echo("models    none comes from the hub")
    for name in names:
        _fetch_data(name, root)


def _show_model(model: NeededModel, fetched: FetchedModel) -> None:
    how = "already there" if fetched.was_there else "fetched"
    size = f"{fetched.n_bytes:,} bytes"
    click.echo(f"model     {model.label}: {fetched.snapshot}, {size}, {how}")
    if not model.is_pinned:
        click.echo(
            f"pin       {model.id} ({', '.join(model.used_by)}): a later job could get another "
            f'commit; put into its table: revision = "{fetched.snapshot.name}"'
        )
    if (leftovers := describe_leftovers(model, os.environ)) is not None:
        say(f"note      {leftovers}")


def _fetch_data(name: str, root: Path) -> None:
    dataset = OFFICIAL[name]
    click.echo(f"data      {name}: {dataset.title}")
    click.echo(f"licence   {name}: {dataset.licence}")
    for file in fetch_dataset(name, dataset, root):
        how = "already there" if file.was_there else "fetched"
        known = "as published" if file.is_known else "recorded, nobody has published it"
        click.echo(f"file      {file.path}, {file.n_bytes:,} bytes, {how}")
        click.echo(f"sha256    {file.sha256} ({known})")
    if name == "ragtruth":
        click.echo(f"use       --set data.kind=ragtruth --set data.path={root / name}")


def _check(config: Config, names: list[str], root: Path) -> None:
    models, missing = needed_models(config), missing_models(config)
    for each in missing:
        click.echo(
            f"missing   {each.model.label} ({', '.join(each.model.used_by)}): {each.problem}"
        )
    files = [path for name in names for path in missing_files(name, OFFICIAL[name], root)]
    for path in files:
        click.echo(f"missing   {path}")
    if missing or files:
        data = f" and {len(files)} files of data" if names else ""
        raise MissingInputError(
            f"{config.name}: {len(missing)} of {len(models)} models{data} are not there; fetch "
            "them on a machine with internet by the same command without --check"
        )
    click.echo(f"complete  {len(models)} models{', ' if names else ''}{', '.join(names)}")
