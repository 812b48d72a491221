"""What counting empty answers as not hallucinated does to the rates and differences."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("condition", "condition", "text"),
    Column("n", "n", "count"),
    Column("empty", "empty", "count"),
    Column("rate_pct", "rate %", "decimal", 1),
    Column("rate_nonempty_pct", "rate % of non-empty", "decimal", 1),
    Column("diff_pp", "difference, points", "decimal", 2),
    Column("n_nonempty", "n, both non-empty", "count"),
    Column("diff_nonempty_pp", "difference there, points", "decimal", 2),
    Column("change_pp", "change, points", "decimal", 2),
)


class EmptyRow(NamedTuple):
    """One judge in one condition, with and without empty answers."""

    judge: str
    condition: str
    n: int
    empty: int
    rate_pct: Fraction | None
    rate_nonempty_pct: Fraction | None
    diff_pp: Fraction | None
    """Condition minus reference, all records; None on the reference and without one."""
    n_nonempty: int | None
    """Records whose answer is empty in neither."""
    diff_nonempty_pp: Fraction | None
    change_pp: Fraction | None


def empty_answers_table(study: Study) -> Table:
    """Tabulate rates and differences with empty answers, and without them.

    Args:
        study: Its labels, with the column empty.

    Raises:
        StatisticsError: The labels do not say which answers are empty.
    """
    cube, reference = study.cube, study.design.reference
    rows = [
        _row(cube, judge, condition, reference)
        for judge in cube.judges
        for condition in cube.conditions
    ]
    notes = notes_for(
        study.provenance,
        "an empty answer counts as not hallucinated by definition: a repair that deletes "
        "everything lowers the rate",
        None
        if reference is None
        else f"difference: the condition minus {reference}; there: on the records whose answer is "
        "empty in neither; change: what leaving the others out adds",
        "—: no reference condition, or no record left"
        if any(row.diff_nonempty_pp is None and row.condition != reference for row in rows)
        else None,
        judged=True,
    )
    title = "Empty answers: rates and differences with and without them"
    return Table("empty_answers", title, table_frame(rows), _COLUMNS, notes)


def _row(cube: LabelCube, judge: str, condition: str, reference: str | None) -> EmptyRow:
    labels_R, empty_R = _labels_and_empty(cube, judge, condition)
    n, count, empty = len(labels_R), int(labels_R.sum()), int(empty_R.sum())
    row = EmptyRow(
        judge=judge,
        condition=condition,
        n=n,
        empty=empty,
        rate_pct=percent(count, n),
        rate_nonempty_pct=percent(count, n - empty),
        diff_pp=None,
        n_nonempty=None,
        diff_nonempty_pp=None,
        change_pp=None,
    )
    if reference is None or condition == reference:
        return row
    reference_R, reference_empty_R = _labels_and_empty(cube, judge, reference)
    changes_R = labels_R - reference_R
    kept_R = (empty_R == 0) & (reference_empty_R == 0)
    n_kept = int(kept_R.sum())
    diff, diff_kept = (
        percent(int(changes_R.sum()), n),
        percent(int(changes_R[kept_R].sum()), n_kept),
    )
    change = None if diff is None or diff_kept is None else diff_kept - diff
    return row._replace(
        diff_pp=diff, n_nonempty=n_kept, diff_nonempty_pp=diff_kept, change_pp=change
    )


def _labels_and_empty(cube: LabelCube, judge: str, condition: str) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and emptiness, one each a record."""
    if cube.empty_RJC is None:
        raise StatisticsError("the labels do not say which answers are empty")
    j, c = cube.judges.index(judge), cube.conditions.index(condition)
    return cube.labels_RJC[:, j, c], cube.empty_RJC[:, j, c]
