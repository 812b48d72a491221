"""`ragmend fit-verifier`: fit the embedded verifier on training records."""

from pathlib import Path

import click

from ragmend.datasets.ragtruth import Dataset, development_sources, find_files, load_ragtruth
from ragmend.errors import DataError
from ragmend.io import write_bytes
from ragmend.records import TASKS


@click.command("fit-verifier")
@click.option(
    "--data",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder with RAGTruth's train and test split; of test only the development sources.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The parameter file to write (JSON).",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=42,
    show_default=True,
    help="Seed by which sources are dealt into folds.",
)
def fit_verifier_command(folder: Path, out: Path, seed: int) -> None:
    """Fit the lexical verifier on RAGTruth; parameters are readable JSON.

    Fits on all train records and on 30 data-to-text sources of the test split, since the train
    records at hand have none; every test figure leaves these out.
    """
    from ragmend.repair.lexical.fit import fit_verifier
    from ragmend.repair.lexical.parameters import dump_parameters

    train = load_ragtruth(find_files(folder, "train"), split="train", tasks=TASKS)
    development = _load_development(folder)
    fitted = fit_verifier(
        (*train.responses, *development.responses),
        {**train.sources, **development.sources},
        seed=seed,
    )
    write_bytes(out, dump_parameters(fitted))
    for line in fitted.describe():
        click.echo(line)
    click.echo(f"parameters  {out}")


def _load_development(folder: Path) -> Dataset:
    wanted = development_sources()
    test = load_ragtruth(find_files(folder, "test"), split="test", tasks=("Data2txt",))
    kept = tuple(r for r in test.responses if r.source_id in wanted)
    sources = {key: source for key, source in test.sources.items() if key in wanted}
    if missing := sorted(wanted - set(sources)):
        raise DataError(
            f"{folder}: {len(missing)} development sources are not there, the first is {missing[0]}"
        )
    return Dataset(kept, sources, test.notes)
