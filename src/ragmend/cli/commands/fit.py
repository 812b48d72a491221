"""`ragmend fit-verifier`: fit the embedded verifier on training records."""

from pathlib import Path

import click

from ragmend.datasets.ragtruth import development_sources, find_files, load_ragtruth
from ragmend.io import write_bytes
from ragmend.records import TASKS


@click.command("fit-verifier")
@click.option(
    "--data",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder with RAGTruth's train split.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The parameter file to write (JSON).",
)
@click.option(
    "--development-sources",
    "n_development",
    type=click.IntRange(min=1),
    default=157,
    show_default=True,
    help="Sources held out for the printed AUC.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=42,
    show_default=True,
    help="Seed of that draw and of the fit.",
)
def fit_verifier_command(folder: Path, out: Path, n_development: int, seed: int) -> None:
    """Fit the lexical verifier on RAGTruth *train* records; parameters are readable JSON."""
    from ragmend.repair.lexical_fit import dump_parameters, fit_verifier

    data = load_ragtruth(find_files(folder, "train"), split="train", tasks=TASKS)
    development = development_sources(data.sources, n_sources=n_development, seed=seed)
    fitted = fit_verifier(data.responses, data.sources, seed=seed, development=development)
    write_bytes(out, dump_parameters(fitted))
    click.echo(fitted.describe())
    click.echo(f"parameters  {out}")
