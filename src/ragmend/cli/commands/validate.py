"""`ragmend validate-verifier`: the embedded verifier against gold, on answers it has not seen."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from ragmend.cli.data import read_data
from ragmend.cli.progress import stage_progress
from ragmend.cli.stages.detect import detect_responses
from ragmend.cli.summary import print_tables
from ragmend.config import Config, load_config
from ragmend.errors import DataError
from ragmend.io import write_bytes
from ragmend.records import Response

if TYPE_CHECKING:
    import pandas as pd

    from ragmend.datasets.ragtruth import Dataset
    from ragmend.repair.lexical.parameters import Parameters

BY_ITSELF = "claim and source"
IN_ANSWER = "with answer-level features *"
_ABOUT_ANSWER_FEATURES = (
    "* a claim's place in its answer and the answer's length count too; off in a run "
    "(verifier.answer_features) and where one answer is repaired"
)


class _Row(NamedTuple):
    """One claim as one set of features scores it; the columns of `verifier_tables`."""

    features: str
    task: str
    source_id: str
    record_id: str
    record_gold: int
    gold_unsupported: int
    p_support: float


@click.command("validate-verifier")
@click.argument("config", default="ragtruth-cpu")
@click.option(
    "--population",
    type=click.Choice(["all", "flagged"]),
    default="all",
    show_default=True,
    help="All responses of the split, or those that the configured detector flagged.",
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder to write the tables to.")
def validate_verifier_command(
    config: str,
    population: Literal["all", "flagged"],
    overrides: tuple[str, ...],
    out: Path | None,
) -> None:
    """Print how well the embedded verifier finds gold-unsupported claims, by task.

    CONFIG names data, detector and parameter file. Sources that the verifier was fitted on are
    left out whatever CONFIG says, and counted.
    """
    from ragmend.analysis.settings import Provenance, Settings
    from ragmend.analysis.verifier_tables import verifier_area_table, verifier_threshold_table
    from ragmend.analysis.write import table_files, table_markdown

    loaded = load_config(config, overrides)
    parameters = _load_parameters(loaded)
    data = read_data(loaded)
    chosen = _choose(loaded, data, population)
    unseen = [r for r in chosen if r.source_id not in set(parameters.fitting.source_ids)]
    if not unseen:
        raise DataError(f"{config}: no response is left that the verifier was not fitted on")
    scored = _frame(_score(unseen, data, parameters))
    notes = _notes(population, n_seen=len(chosen) - len(unseen), note=parameters.fitting.note)
    settings = Settings(
        n_resamples=loaded.analysis.n_resamples,
        seed=loaded.analysis.seed,
        confidence=loaded.analysis.confidence,
    )
    provenance = Provenance(embedded_verifier=True, faults=())
    tables = (
        verifier_area_table(scored, settings=settings, provenance=provenance, notes=notes),
        verifier_threshold_table(scored, provenance=provenance, notes=notes),
    )
    click.echo(print_tables(table_markdown(table) for table in tables))
    if out is not None:
        for name, content in table_files({table.name: table for table in tables}).items():
            write_bytes(out / name, content)
        click.echo(f"\ntables  {out / 'tables'}")


def _load_parameters(config: Config) -> "Parameters":
    from ragmend.repair.lexical.parameters import load_parameters

    given = config.verifier.parameters
    return load_parameters(None if given is None else Path(given))


def _choose(
    config: Config, data: "Dataset", population: Literal["all", "flagged"]
) -> tuple[Response, ...]:
    annotated = tuple(r for r in data.responses if r.gold_spans is not None)
    if population == "all":
        return annotated
    verdicts = {d.record_id: d.verdict for d in detect_responses(config, data).detections}
    return tuple(r for r in annotated if verdicts.get(r.record_id) == "hallucinated")


def _score(responses: list[Response], data: "Dataset", parameters: "Parameters") -> Iterator[_Row]:
    from ragmend.repair.lexical.curves import expit
    from ragmend.repair.lexical.examples import claim_examples, read_answered

    answered = list(read_answered(responses, data.sources))
    with stage_progress("validate", len(answered)) as advance:
        for each in answered:
            for example in claim_examples([each], parameters.commonplaces):
                for features, model, measured in (
                    (BY_ITSELF, parameters.claim_model, example.features),
                    (IN_ANSWER, parameters.answer_model, (*example.features, *example.place)),
                ):
                    yield _Row(
                        features=features,
                        task=example.task_type,
                        source_id=example.source_id,
                        record_id=example.record_id,
                        record_gold=int(example.is_answer_hallucinated),
                        gold_unsupported=int(not example.is_supported),
                        p_support=expit(model.log_odds(measured) + model.shift),
                    )
            advance()


def _frame(rows: Iterator[_Row]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(_Row._fields))


def _notes(population: str, *, n_seen: int, note: str) -> tuple[str, ...]:
    chosen = "all responses" if population == "all" else "responses that the detector flagged"
    return (
        f"{chosen}; {n_seen} to sources that the verifier was fitted on are left out",
        _ABOUT_ANSWER_FEATURES,
        note,
    )
