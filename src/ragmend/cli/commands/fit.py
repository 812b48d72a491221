"""`ragmend fit-verifier`: fit the embedded verifier on annotated records."""

from pathlib import Path

import click

from ragmend.cli.context import say
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
    help="Folder with a train split in RAGTruth's schema.",
)
@click.option(
    "--development/--no-development",
    "with_development",
    default=True,
    show_default=True,
    help="Also fit on 30 data-to-text sources of RAGTruth's test split, in the same folder.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The parameter file to write (JSON).",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=42,
    show_default=True,
    help="Seed by which sources are dealt into folds.",
)
def fit_verifier_command(folder: Path, with_development: bool, out: Path, seed: int) -> None:
    """Fit the lexical verifier on annotated answers; parameters are readable JSON.

    The shipped file is fitted on the train records of RAGTruth at hand, which have no
    data-to-text, and on 30 data-to-text sources of its test split (--development);
    validate-verifier leaves out whatever a file was fitted on.
    """
    from ragmend.repair.lexical.fit import fit_verifier
    from ragmend.repair.lexical.parameters import dump_parameters

    train = load_ragtruth(find_files(folder, "train"), split="train", tasks=TASKS)
    more = _load_development(folder) if with_development else Dataset((), {}, ())
    say(f"fit       {len(train.responses) + len(more.responses)} answers; this takes a minute")
    fitted = fit_verifier(
        (*train.responses, *more.responses),
        {**train.sources, **more.sources},
        seed=seed,
        origin=_describe(train, more),
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
            f"{folder}: {len(missing)} development sources are not there, the first is "
            f"{missing[0]}; --no-development fits without them"
        )
    return Dataset(kept, sources, ())


def _describe(train: Dataset, more: Dataset) -> str:
    """Say which records these are: how many sources of each task, and of which split."""
    counts = [
        (task, sum(source.task_type == task for source in train.sources.values())) for task in TASKS
    ]
    parts = [f"{n} {task} sources of the train split" for task, n in counts if n]
    if more.sources:
        parts.append(
            f"{len(more.sources)} Data2txt sources of the test split, which no test figure may use"
        )
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
