"""`ragmend validate-verifier`: the embedded verifier against gold, on answers it has not seen."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from ragmend.cli.data import read_data
from ragmend.cli.experiment import load_experiment_config
from ragmend.cli.progress import stage_progress
from ragmend.cli.stages.detect import detect_responses
from ragmend.cli.summary import print_tables
from ragmend.config import Config
from ragmend.errors import ConfigError, DataError
from ragmend.io import write_bytes
from ragmend.records import Response
from ragmend.repair.lexical.verifier import EVIDENCE_DEPTH

if TYPE_CHECKING:
    import pandas as pd

    from ragmend.datasets.ragtruth import Dataset
    from ragmend.repair.lexical.parameters import Parameters

BY_ITSELF = "claim and source"
IN_ANSWER = "with answer-level features †"
_ABOUT_ANSWER_FEATURES = (
    "† a claim's place in its answer and the answer's length count too; off in a run unless "
    "verifier.answer_features is set, and always where one answer is repaired"
)


class _Chosen(NamedTuple):
    """The answers that are scored, and how many are not and why."""

    responses: list[Response]
    n_seen: int
    n_unannotated: int


class _Row(NamedTuple):
    """One claim as one set of features scores it; the columns of `validation_tables`."""

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
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; KEY= unsets it."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder to write the tables to.",
)
def validate_verifier_command(
    config: str,
    population: Literal["all", "flagged"],
    overrides: tuple[str, ...],
    out: Path | None,
) -> None:
    """Print how well the embedded verifier finds gold-unsupported claims, by task.

    CONFIG names data, detector and parameter file. Answers to sources that the verifier was
    fitted on are left out whatever CONFIG says, and counted. Claims are scored as in fitting:
    all of an answer's, by their three best sentences or fields.
    """
    from ragmend.analysis.printing.write import table_files, table_markdown
    from ragmend.analysis.settings import Provenance, Settings
    from ragmend.analysis.tables.validation_tables import (
        verifier_area_table,
        verifier_threshold_table,
    )

    loaded = _as_in_fitting(load_experiment_config(config, overrides))
    parameters = _load_parameters(loaded)
    data = read_data(loaded)
    chosen = _choose(loaded, data, population, frozenset(parameters.fitting.source_ids))
    scored = _frame(_score(chosen.responses, data, parameters))
    notes = (_describe(population, chosen), _ABOUT_ANSWER_FEATURES, parameters.fitting.note)
    settings = Settings(
        n_resamples=loaded.analysis.n_resamples,
        seed=loaded.analysis.seed,
        confidence=loaded.analysis.confidence,
    )
    provenance = Provenance(embedded_verifier=True, threshold=loaded.verifier.threshold, faults=())
    tables = (
        verifier_area_table(scored, settings=settings, provenance=provenance, notes=notes),
        verifier_threshold_table(scored, provenance=provenance, notes=notes),
    )
    click.echo(print_tables(table_markdown(table) for table in tables))
    if out is not None:
        for name, content in table_files({table.name: table for table in tables}).items():
            write_bytes(out / name, content)
        click.echo(f"\ntables  {out / 'tables'}")


def _as_in_fitting(config: Config) -> Config:
    """Return the configuration with all sources; those seen in fitting are counted here."""
    if config.evidence.window != 1 or config.evidence.top_k < EVIDENCE_DEPTH:
        raise ConfigError(
            "validate-verifier scores claims as in fitting: evidence.window must be 1 and "
            f"evidence.top_k at least {EVIDENCE_DEPTH}"
        )
    data = config.data.model_copy(update={"development": "keep"})
    return config.model_copy(update={"data": data})


def _load_parameters(config: Config) -> "Parameters":
    from ragmend.repair.lexical.parameters import load_parameters

    given = config.verifier.parameters
    return load_parameters(None if given is None else Path(given))


def _choose(
    config: Config, data: "Dataset", population: Literal["all", "flagged"], seen: frozenset[str]
) -> _Chosen:
    candidates = list(data.responses)
    if population == "flagged":
        verdicts = {d.record_id: d.verdict for d in detect_responses(config, data).detections}
        candidates = [r for r in candidates if verdicts.get(r.record_id) == "hallucinated"]
    unseen = [r for r in candidates if r.source_id not in seen]
    annotated = [r for r in unseen if r.gold_spans is not None]
    chosen = _Chosen(annotated, len(candidates) - len(unseen), len(unseen) - len(annotated))
    if not annotated:
        raise DataError(
            f"{config.name}: nothing to validate on: of {len(candidates)} answers {chosen.n_seen} "
            f"are to sources that the verifier was fitted on, {chosen.n_unannotated} others are "
            "not annotated"
        )
    return chosen


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


def _describe(population: str, chosen: _Chosen) -> str:
    which = "all answers" if population == "all" else "answers that the detector flagged"
    return (
        f"{which}, without {chosen.n_seen} to sources that the verifier was fitted on and "
        f"{chosen.n_unannotated} that nobody annotated"
    )
