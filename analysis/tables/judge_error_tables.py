"""What the judges' errors do to their rates, and how many human labels would settle a rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.intervals import Interval
from ragmend.analysis.statistics.judge_error import (
    LEAST_OF_A_KIND,
    judge_corrected_rate,
    judge_error,
    youden_interval,
)
from ragmend.analysis.statistics.label_budget import (
    LEAST_FOR_CORRELATION,
    LEAST_PLANNED,
    correlation_limit,
    gold_correlation,
    labels_needed,
)
from ragmend.analysis.statistics.prediction_powered import prediction_powered_rate
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

HALF_WIDTHS_PP = (1, 2, 3, 5, 10)
ANY_JUDGE, WITHOUT_GOLD = "any", "without gold"
NONE_SEEN = "refused: every untouched answer is empty, so none was judged"

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
    Column("correlation_low", "lower limit", "decimal", 3),
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
    sensitivity: Fraction | None = None
    specificity: Fraction | None = None
    youden: Fraction | None = None
    youden_low: float | None = None
    youden_high: float | None = None
    raw_corrected: Fraction | None = None
    """By the formula alone; may leave [0, 1]."""
    corrected: Fraction | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    ppi: float | None = None
    ppi_low: float | None = None
    ppi_high: float | None = None
    ppi_lambda: float | None = None
    ppi_status: str | None = None
    """None where gold does not hold."""
    status: str = ""


class BudgetRow(NamedTuple):
    """Human labels that give an interval of one width; counts of answers."""

    judge: str
    condition: str
    half_width_pp: int
    rate: Fraction
    correlation: float | None
    correlation_low: float | None
    """What the number with judge is planned by; None: too few golds to tell."""
    n_gold: int
    labels_gold_only: int | None = None
    labels_with_judge: int | None = None
    status: str = ""


def judge_error_table(study: Study) -> Table:
    """Tabulate each judge's errors against gold, and the rates corrected for them.

    Args:
        study: Its labels, with gold for some records.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76; Lang and
        Reiczigel 2014, Preventive Veterinary Medicine 113(1), 13-22; Angelopoulos et al. 2023,
        Science 382, 669-674.
    """
    reference = _reference(study)
    rows = [
        _error_row(study.cube, judge, condition, reference, study.settings)
        for judge in study.cube.judges
        for condition in study.cube.conditions
    ]
    title = "Rates corrected for the judges' errors"
    notes = (*_error_notes(study, reference), *_powered_notes(rows))
    return Table("judge_error", title, table_frame(rows), _ERROR_COLUMNS, notes)


def label_budget_table(study: Study) -> Table:
    """Tabulate how many human labels give an interval of ± 1, 2, 3, 5 and 10 points.

    Args:
        study: Its labels, perhaps with gold.

    Source: Wilson 1927, JASA 22(158), 209-212; Angelopoulos, Duchi and Zrnic 2023, arXiv
        2311.01453.
    """
    rows = [*_reference_rows(study), *_worst_case_rows(study)]
    notes = notes_for(
        study.provenance,
        "labels: randomly drawn answers labelled by people, for Wilson's interval of ± so many "
        f"points at {100 * study.settings.confidence:g} %",
        "with judge: the judge's labels of all records also used (prediction-powered, best λ), "
        "planned by the lower limit of φ, for a judge may agree by luck; at least so many that "
        f"{LEAST_PLANNED} of either kind are expected, and never more than without a judge",
        f"lower limit —: fewer than {LEAST_FOR_CORRELATION} golds, or {LEAST_OF_A_KIND} of a "
        "kind, are too few to tell what a judge saves",
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
        f"on {reference} with gold for every record the corrected rate is the gold rate itself, if "
        "the judge is better than chance",
        "prediction-powered: gold where there is gold, the judge elsewhere, its errors taken "
        "off; valid if the records with gold are a random sample of all; not given with fewer "
        f"than {LEAST_OF_A_KIND} golds of a kind, and of a rare kind with few golds its interval "
        "still holds the true rate less often than it says",
        f"intervals: {100 * study.settings.confidence:g} %; Youden by Newcombe; corrected on "
        f"{reference} by the delta method, elsewhere by Lang and Reiczigel, who take the answers "
        "with gold as others than those corrected; prediction-powered by Student's t; with gold "
        "for every record by Wilson; records taken as independent",
        "few golds: no error rate is taken as exactly 0 in an interval, but rates given only "
        "where the judge proves better than chance flatter it, and intervals near that limit "
        "hold the true rate less often than they say",
        judged=True,
    )


def _powered_notes(rows: Sequence[JudgeErrorRow]) -> list[str]:
    """Give each reason why a prediction-powered rate is missing where gold holds."""
    refused = [
        (str(row.ppi_status), row.judge) for row in rows if row.ppi_status and row.ppi is None
    ]
    return [
        f"prediction-powered {reason}: {sum(reason == other for other, _ in refused)} of "
        f"{len({row.judge for row in rows})} judges"
        for reason in dict.fromkeys(reason for reason, _ in refused)
    ]


def _error_row(
    cube: LabelCube, judge: str, condition: str, reference: str, settings: Settings
) -> JudgeErrorRow:
    on_reference, level = condition == reference, settings.confidence
    judge_R, gold_R = _judged_with_gold(cube, judge, reference)
    other_R = None if on_reference else _judged_R(cube, judge, condition)
    if not len(judge_R):
        return _unjudged_row(judge, condition, other_R)
    error = judge_error(judge_R, gold_R)
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
        status=rate.status,
    )
    return _with_powered(row, judge_R, gold_R, level) if on_reference else row


def _unjudged_row(judge: str, condition: str, other_R: NDArray[np.int64] | None) -> JudgeErrorRow:
    """Return the row of a judge that saw no untouched answer, all of them being empty."""
    judged = np.zeros(0) if other_R is None else other_R[other_R >= 0]
    rate = Fraction(int(judged.sum()), len(judged)) if len(judged) else None
    return JudgeErrorRow(judge, condition, len(judged), 0, rate, status=NONE_SEEN)


def _with_powered(
    row: JudgeErrorRow, judge_R: NDArray[np.int64], gold_R: NDArray[np.int64], confidence: float
) -> JudgeErrorRow:
    powered = prediction_powered_rate(judge_R, gold_R, confidence=confidence)
    low, high = _ends(powered.interval)
    return row._replace(
        ppi=powered.rate,
        ppi_low=low,
        ppi_high=high,
        ppi_lambda=powered.weight,
        ppi_status=powered.status,
    )


def _judged_with_gold(
    cube: LabelCube, judge: str, reference: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a judge's labels of the untouched answers that it saw, and their gold."""
    labels_R = _judged_R(cube, judge, reference)
    return labels_R[labels_R >= 0], cube.gold_R[labels_R >= 0]


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
    cube, reference, level = study.cube, study.design.reference, study.settings.confidence
    if reference is None:
        return
    for judge in cube.judges:
        judge_R, gold_R = _judged_with_gold(cube, judge, reference)
        known_R = gold_R[gold_R >= 0]
        if not len(known_R):
            continue
        rate = Fraction(int(known_R.sum()), len(known_R))
        phi = gold_correlation(judge_R, gold_R)
        limit = correlation_limit(judge_R, gold_R, confidence=level)
        for half_width in HALF_WIDTHS_PP:
            row = BudgetRow(judge, reference, half_width, rate, phi, limit, len(known_R))
            yield _with_labels(row, len(judge_R), level)


def _worst_case_rows(study: Study) -> Iterator[BudgetRow]:
    """Yield what answers need of whose gold nothing is known."""
    n_records = len(study.cube.record_ids)
    for half_width in HALF_WIDTHS_PP:
        row = BudgetRow(ANY_JUDGE, WITHOUT_GOLD, half_width, Fraction(1, 2), None, None, 0)
        yield _with_labels(row, n_records, study.settings.confidence)


def _with_labels(row: BudgetRow, n_records: int, confidence: float) -> BudgetRow:
    if not 0 < row.rate < 1:
        return row._replace(status="gold of one kind only: plan as without gold")
    rate = float(row.rate)
    alone = labels_needed(row.half_width_pp, rate=rate, confidence=confidence)
    with_judge = None
    if row.correlation_low is not None:
        with_judge = labels_needed(
            row.half_width_pp,
            rate=rate,
            correlation=row.correlation_low,
            n_records=n_records,
            confidence=confidence,
        )
    within = alone is not None and alone <= n_records
    status = "within the records" if within else "more than the records"
    return row._replace(labels_gold_only=alone, labels_with_judge=with_judge, status=status)
