"""What the judges' errors do to their rates, and how many human labels would settle a rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.intervals import Interval
from ragmend.analysis.statistics.judge_error import (
    judge_corrected_rate,
    judge_error,
    youden_interval,
)
from ragmend.analysis.statistics.label_budget import gold_correlation, labels_needed
from ragmend.analysis.statistics.prediction_powered import prediction_powered_rate
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

HALF_WIDTHS_PP = (1, 2, 3, 5, 10)
ANY_JUDGE, WITHOUT_GOLD = "any", "without gold"

_ERROR_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("condition", "condition", "text"),
    Column("n", "n", "count"),
    Column("n_gold", "with gold", "count"),
    Column("rate", "judged %", "decimal", 1, scale=100),
    Column("sensitivity", "sensitivity %", "decimal", 1, scale=100),
    Column("specificity", "specificity %", "decimal", 1, scale=100),
    Column("youden", "Youden", "decimal", 3),
    Column("youden", "interval", "interval", 3),
    Column("raw_corrected", "formula %", "decimal", 1, scale=100),
    Column("corrected", "corrected %", "decimal", 1, scale=100),
    Column("corrected", "interval", "interval", 1, scale=100),
    Column("ppi", "prediction-powered %", "decimal", 1, scale=100),
    Column("ppi", "interval", "interval", 1, scale=100),
    Column("status", "status", "text"),
)

_BUDGET_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("condition", "condition", "text"),
    Column("half_width_pp", "± points", "count"),
    Column("rate", "assumed rate %", "decimal", 1, scale=100),
    Column("correlation", "judge–gold φ", "decimal", 3),
    Column("n_gold", "labelled so far", "count"),
    Column("labels_gold_only", "labels", "count"),
    Column("labels_with_judge", "labels, with judge", "count"),
    Column("status", "status", "text"),
)


class JudgeErrorRow(NamedTuple):
    """One judge in one condition; rates as proportions, of the answers that were judged."""

    judge: str
    condition: str
    n: int
    n_gold: int
    rate: Fraction | None
    sensitivity: Fraction | None
    specificity: Fraction | None
    youden: Fraction | None
    youden_low: float | None
    youden_high: float | None
    raw_corrected: Fraction | None
    """By the formula alone; may leave [0, 1]."""
    corrected: Fraction | None
    corrected_low: float | None
    corrected_high: float | None
    ppi: float | None
    ppi_low: float | None
    ppi_high: float | None
    ppi_lambda: float | None
    status: str


class BudgetRow(NamedTuple):
    """Human labels that give an interval of one width; counts of answers."""

    judge: str
    condition: str
    half_width_pp: int
    rate: Fraction
    correlation: float | None
    n_gold: int
    labels_gold_only: int | None = None
    labels_with_judge: int | None = None
    status: str = ""


def judge_error_table(study: Study) -> Table:
    """Tabulate each judge's errors against gold, and the rates corrected for them.

    Args:
        study: Its labels, with gold for some records.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76; Angelopoulos
        et al. 2023, Science 382, 669-674.
    """
    reference = _reference(study)
    rows = [
        _error_row(study.cube, judge, condition, reference, study.settings)
        for judge in study.cube.judges
        for condition in study.cube.conditions
    ]
    title = "Rates corrected for the judges' errors"
    return Table(
        "judge_error", title, table_frame(rows), _ERROR_COLUMNS, _error_notes(study, reference)
    )


def label_budget_table(study: Study) -> Table:
    """Tabulate how many human labels give an interval of ± 1, 2, 3, 5 and 10 points.

    Args:
        study: Its labels, perhaps with gold.

    Source: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453; Cochran 1977, Sampling
        Techniques, section 4.4.
    """
    rows = [*_reference_rows(study), *_worst_case_rows(study)]
    notes = notes_for(
        study.provenance,
        "labels: randomly drawn answers labelled by people, for a normal interval of ± so many "
        f"points at {100 * study.settings.confidence:g} %; with judge: the judge's labels of all "
        f"{len(study.cube.record_ids)} records also used (prediction-powered, best λ)",
        "reference condition: at its gold rate; without gold (a repaired condition, or no gold at "
        "all): at one half, the most that it can take; what a judge would save there is unknown "
        "until some of those answers are labelled",
        "the rate meant is that of the population the records come from: labelling all of them "
        "still leaves an interval",
        judged=True,
    )
    title = "Human labels needed for a given precision"
    return Table("label_budget", title, table_frame(rows), _BUDGET_COLUMNS, notes)


def _reference(study: Study) -> str:
    if study.design.reference is None:
        raise StatisticsError("judge errors need the condition of the untouched answers")
    return study.design.reference


def _error_notes(study: Study, reference: str) -> tuple[str, ...]:
    return notes_for(
        study.provenance,
        f"gold holds for {reference} only: sensitivity and specificity are measured there, and "
        "carried to the other conditions on the assumption that the judge errs as often on "
        "repaired answers",
        "formula: (judged + specificity − 1) / Youden; corrected: the same where it means "
        "something; outside [0, 1] the error rates do not hold there or are too uncertain to "
        "correct by, inside they are not thereby shown to hold: human labels on repaired "
        "answers are needed",
        "judged: of the answers that a judge saw; an empty answer is not hallucinated by "
        "definition and left out here",
        f"on {reference} with gold for every record the corrected rate is the gold rate itself",
        "prediction-powered: gold where there is gold, the judge elsewhere, its errors taken "
        "off; valid if the records with gold are a random sample of all",
        f"intervals: {100 * study.settings.confidence:g} %; Youden by Newcombe, corrected by the "
        "delta method over records, prediction-powered normal; records taken as independent",
        judged=True,
    )


def _error_row(
    cube: LabelCube, judge: str, condition: str, reference: str, settings: Settings
) -> JudgeErrorRow:
    on_reference = condition == reference
    judge_R, gold_R, level = cube.labels_R(judge, reference), cube.gold_R, settings.confidence
    error = judge_error(judge_R, gold_R)
    other_R = None if on_reference else _judged_R(cube, judge, condition)
    rate = judge_corrected_rate(judge_R, gold_R, other_R=other_R, confidence=level)
    row = JudgeErrorRow(
        judge,
        condition,
        len(judge_R) if other_R is None else int((other_R >= 0).sum()),
        error.positives + error.negatives if on_reference else 0,
        rate.judged,
        error.sensitivity,
        error.specificity,
        error.youden,
        *_ends(youden_interval(error, confidence=level)),
        rate.raw,
        rate.corrected,
        *_ends(rate.interval),
        *(None, None, None, None),
        status=rate.status,
    )
    if not on_reference:
        return row
    powered = prediction_powered_rate(judge_R, gold_R, confidence=level)
    low, high = _ends(powered.interval)
    return row._replace(ppi=powered.rate, ppi_low=low, ppi_high=high, ppi_lambda=powered.weight)


def _judged_R(cube: LabelCube, judge: str, condition: str) -> NDArray[np.int64]:  # noqa: N802
    """Return a judge's labels, -1 where the answer is empty and so was not judged."""
    labels_R = cube.labels_R(judge, condition)
    if cube.empty_RJC is None:
        return labels_R
    empty_R = cube.empty_RJC[:, cube.judges.index(judge), cube.conditions.index(condition)]
    return np.where(empty_R == 1, -1, labels_R)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else interval


def _reference_rows(study: Study) -> Iterator[BudgetRow]:
    """Yield what the untouched answers need at their gold rate, by judge."""
    cube, reference = study.cube, study.design.reference
    known = cube.gold_R[cube.gold_R >= 0]
    if reference is None or not len(known):
        return
    rate = Fraction(int(known.sum()), len(known))
    for judge in cube.judges:
        correlation = gold_correlation(cube.labels_R(judge, reference), cube.gold_R)
        for half_width in HALF_WIDTHS_PP:
            row = BudgetRow(judge, reference, half_width, rate, correlation, len(known))
            yield _with_labels(row, study)


def _worst_case_rows(study: Study) -> Iterator[BudgetRow]:
    """Yield what answers need of whose gold nothing is known."""
    for half_width in HALF_WIDTHS_PP:
        row = BudgetRow(ANY_JUDGE, WITHOUT_GOLD, half_width, Fraction(1, 2), None, 0)
        yield _with_labels(row, study)


def _with_labels(row: BudgetRow, study: Study) -> BudgetRow:
    if not 0 < row.rate < 1:
        return row._replace(status="gold of one kind only: plan as without gold")
    n_records, confidence = len(study.cube.record_ids), study.settings.confidence
    rate = float(row.rate)
    alone = labels_needed(row.half_width_pp, rate=rate, confidence=confidence)
    with_judge = None
    if row.correlation is not None:
        with_judge = labels_needed(
            row.half_width_pp,
            rate=rate,
            correlation=row.correlation,
            n_records=n_records,
            confidence=confidence,
        )
    within = alone is not None and alone <= n_records
    status = "within the records" if within else "more than the records"
    return row._replace(labels_gold_only=alone, labels_with_judge=with_judge, status=status)
