"""The table of the judges' labels: rates by condition."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.statistics.intervals import wilson_interval
from ragmend.analysis.study import Study

_JUDGED_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("condition", "condition", "text"),
    Column("n", "n", "count"),
    Column("hallucinated", "hallucinated", "count"),
    Column("rate_pct", "rate %", "decimal", 1),
    Column("rate", "interval", "interval", 1),
    Column("empty", "empty", "count"),
    Column("rate_nonempty_pct", "rate % of non-empty", "decimal", 1),
)


class JudgedRow(NamedTuple):
    """One judge's rate of answers with an unsupported span, in percent with Wilson's interval."""

    judge: str
    condition: str
    n: int
    hallucinated: int
    rate_pct: Fraction | None
    rate_low: float
    rate_high: float
    empty: int | None
    rate_nonempty_pct: Fraction | None


def judged_table(study: Study) -> Table:
    """Tabulate the judged rate of each judge in each condition.

    Args:
        study: Its labels: record_id, judge, condition, label and perhaps empty.

    Raises:
        StatisticsError: The labels are incomplete, doubled or not 0/1.

    Source: arXiv 2608.29307, Table 5.
    """
    cube = study.cube
    rows = [
        _judged_row(cube, j, c, study.settings.confidence)
        for j in range(len(cube.judges))
        for c in range(len(cube.conditions))
    ]
    notes = notes_for(
        study.provenance,
        "hallucinated: the judge found at least one unsupported span; an empty answer is not "
        "hallucinated by definition and is not sent to a judge",
        None if cube.empty_RJC is not None else "empty answers: not marked in this input",
        f"interval: Wilson, {100 * study.settings.confidence:g} %",
        judged=True,
    )
    title = "Table 5: answers judged hallucinated, by judge and condition"
    return Table("table5_judged", title, table_frame(rows), _JUDGED_COLUMNS, notes)


def _judged_row(cube: LabelCube, judge: int, condition: int, confidence: float) -> JudgedRow:
    labels_R = cube.labels_RJC[:, judge, condition]
    n, count = len(labels_R), int(labels_R.sum())
    interval = wilson_interval(count, n, confidence=confidence)
    empty = None if cube.empty_RJC is None else int(cube.empty_RJC[:, judge, condition].sum())
    return JudgedRow(
        judge=cube.judges[judge],
        condition=cube.conditions[condition],
        n=n,
        hallucinated=count,
        rate_pct=percent(count, n),
        rate_low=100 * interval.low,
        rate_high=100 * interval.high,
        empty=empty,
        rate_nonempty_pct=None if empty is None else percent(count, n - empty),
    )
