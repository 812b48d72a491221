"""`ragmend analyze`: every table and figure of a run, or of anyone's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragmend.cli.experiment import reopen_experiment
from ragmend.cli.summary import describe_analysis, summarize_run
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from ragmend.analysis.acceptance.check import PublishedNumber
    from ragmend.analysis.analyze import Analysis

FRAMES = ("labels", "claims", "arms", "records", "selection", "runs", "published")
_HOLDS = {
    "labels": (
        "Labels: record_id, judge, condition, label (1: hallucinated)"
        "[, source_id, task, gold, empty, n_spans, n_located]."
    ),
    "claims": "Claims with P(support), gold and each arm's action.",
    "arms": "What each arm did to each record.",
    "records": "Records with source_id, task, gold.",
    "selection": "Every response with gold and flag.",
    "runs": "Detector runs: model, seed, f1 (percent) or tp, fp, fn, usable.",
    "published": "Scores as a paper prints them.",
}


_OF_LABELS = ("reference", "family", "incomplete", "primary_judge", "same_family")
_MOST_CONFIDENCE = 0.9999  # beyond, 10,000 resamples have no tail to cut off


def _frame_options(function: Callable[..., None]) -> Callable[..., None]:
    for name in reversed(FRAMES):
        function = click.option(
            f"--{name}",
            type=click.Path(path_type=Path, dir_okay=False),
            multiple=True,
            callback=_only_one,
            help=_HOLDS[name],
        )(function)
    return function


def _only_one(
    _context: click.Context, option: click.Parameter, paths: tuple[Path, ...]
) -> Path | None:
    if len(paths) > 1:
        raise click.BadParameter(f"given {len(paths)} times", param=option)
    return paths[0] if paths else None


def _finite(_context: click.Context, option: click.Parameter, number: float | None) -> float | None:
    """Refuse NaN, which no range of click's does."""
    if number is not None and number != number:
        raise click.BadParameter("nan is not a number", param=option)
    return number


@click.command("analyze")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@_frame_options
@click.option("--reference", help="The condition of the untouched answers [original].")
@click.option(
    "--family",
    metavar="LIST",
    help="Primary contrasts: a-b,a-c or a:b,a:c; all other pairs are exploratory.",
)
@click.option(
    "--incomplete", type=click.Choice(("refuse", "drop")), help="Records lacking a label."
)
@click.option("--primary-judge", help="The judge of per-task tables [qwen, else the first].")
@click.option(
    "--same-family", multiple=True, metavar="JUDGE", help="A judge of the verifier's model family."
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    callback=_finite,
    help="Eligible below P(support) [0.5].",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100, min_open=True, max_open=True),
    callback=_finite,
    help="Equivalence margin in percentage points [5].",
)
@click.option("--resamples", type=click.IntRange(100, 1_000_000), help="Resamples [10000].")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the bootstrap [42].")
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, _MOST_CONFIDENCE, min_open=True),
    callback=_finite,
    help="Level of the intervals [0.95].",
)
@click.option("--svg-only", is_flag=True, help="No PDF and PNG, which take seconds.")
@click.option(
    "--check",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Published numbers (id, location, published) to hold against ours.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Where tables and figures go.")
@click.option("--redo", is_flag=True, help="Make a run's tables again although complete.")
def analyze_command(
    run: Path | None,
    check: Path | None,
    out: Path | None,
    *,
    redo: bool,
    **options: Any,  # noqa: ANN401 - one value an option, read by name below
) -> None:
    """Make every table and figure from records; no model is called.

    Either of a RUN, with its own protocol, or of your own tables (CSV, JSONL, Parquet; any
    subset of them), as in

        ragmend analyze --labels mine.csv --reference baseline --out results
    """
    files = {name: options.pop(name) for name in FRAMES if options[name] is not None}
    given = {name: value for name, value in options.items() if value not in (None, (), False)}
    if run is not None:
        if files or given or out is not None:
            raise click.UsageError("a RUN has its inputs, protocol and folder; give RUN alone")
        _analyze_run(run, check, redo=redo)
        return
    if not files or redo:
        raise click.UsageError("give a RUN, or at least one of --" + ", --".join(FRAMES))
    if out is None and check is None:
        raise click.UsageError("give --out DIR for tables and figures, or --check FILE")
    of_labels = [name for name in _OF_LABELS if name in given]
    if of_labels and "labels" not in files:
        raise click.UsageError(f"{_option(of_labels[0])} is about --labels, which are not given")
    _analyze_files(files, given, check, out)


def _analyze_run(run: Path, check: Path | None, *, redo: bool) -> None:
    published = None if check is None else _read_published(check)
    experiment = reopen_experiment(run)
    experiment.run(only="analyze", redo="analyze" if redo else None)
    if published is None:
        click.echo(summarize_run(experiment.context.paths))
        return
    from ragmend.cli.results import analyze_run

    _check(analyze_run(experiment.context), published, check)


def _analyze_files(
    files: Mapping[Any, Path], given: Mapping[str, Any], check: Path | None, out: Path | None
) -> None:
    from ragmend.cli.output_folder import refuse_folder
    from ragmend.cli.own_tables import OwnTables, analyze_tables, with_inputs, write_analysis

    own = OwnTables(files, *_settings(given))
    published = None if check is None else _read_published(check)
    repeated = {name.replace("_", "-"): value for name, value in given.items()}
    own = with_inputs(own, repeated)
    if out is not None:
        refuse_folder(out, [*files.values(), *(() if check is None else (check,))])
    analysis = analyze_tables(own)
    if out is not None:
        write_analysis(analysis, own, out)
    if out is not None:
        click.echo(describe_analysis(analysis, out, files, is_brief=published is not None))
    if published is not None:
        _check(analysis, published, check)


def _settings(given: Mapping[str, Any]) -> tuple[Any, Any]:
    from ragmend.analysis.settings import Provenance, Settings

    for name in _OF_LABELS:
        words = given.get(name, ())
        if "" in ([words] if isinstance(words, str) else words):
            raise click.UsageError(f"{_option(name)} needs a name")
    names = {
        "reference": "reference", "incomplete": "incomplete", "margin": "margin_pp",
        "resamples": "n_resamples", "seed": "seed", "confidence": "confidence",
    }  # fmt: skip
    settings = {names[name]: value for name, value in given.items() if name in names}
    if "svg_only" in given:
        settings["figure_formats"] = ()
    if "family" in given:
        settings["family"] = _family(given["family"])
    facts = {
        "primary_judge": "primary_judge",
        "same_family": "verifier_family_judges",
        "threshold": "threshold",
    }
    provenance = {facts[name]: value for name, value in given.items() if name in facts}
    return Settings.model_validate(settings), Provenance.model_validate(provenance)


def _family(given: str) -> tuple[str, ...]:
    contrasts = tuple(name.strip() for name in given.split(","))
    if "" in contrasts:
        raise click.UsageError(f"--family {given!r}: a contrast is missing between the commas")
    return contrasts


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read_published(path: Path) -> list[PublishedNumber]:
    from ragmend.analysis.acceptance.check import read_published
    from ragmend.cli.tables_in import read_table

    return read_published(read_table(path).to_dict("records"), name=str(path))


def _check(analysis: Analysis, published: Sequence[PublishedNumber], path: Path | None) -> None:
    """Print every published number beside ours; a difference without a reason is exit code 1."""
    from ragmend.analysis.acceptance.check import all_borne_out, check_lines, check_numbers

    checked = check_numbers(analysis.tables, published)
    for line in check_lines(checked):
        click.echo(line)
    if not all_borne_out(checked):
        raise StatisticsError(f"{path}: not every number is as published")
