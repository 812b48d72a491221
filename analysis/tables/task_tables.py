"""The table of tasks: what was eligible, what the primary judge found, what text is left."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.arms import ArmCube
from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.statistics.intervals import wilson_interval
from ragmend.analysis.statistics.retention import Retention
from ragmend.analysis.statistics.score_intervals import tango_interval
from ragmend.analysis.study import Study
from ragmend.analysis.tables.arm_tables import ALL, ends, group_retention, retention_notes
from ragmend.analysis.tables.task_inputs import TaskInputs, task_inputs
from ragmend.records import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLUMNS = (
    Column("task", "task", "text"),
    Column("condition", "condition", "text"),
    Column("n", "n", "count"),
    Column("claims", "claims", "count"),
    Column("eligible_pct", "eligible %", "decimal", 1),
    Column("judge", "judge", "text"),
    Column("hallucinated", "hallucinated", "count"),
    Column("rate_pct", "rate %", "decimal", 1),
    Column("rate", "interval", "interval", 1),
    Column("diff_pp", "difference, points", "decimal", 1),
    Column("diff", "interval", "interval", 1),
    Column("retention_pct", "length %", "decimal", 1),
    Column("retention", "interval", "interval", 1),
    Column("retention_cluster", "interval, by source", "interval", 1),
)


class TaskRow(NamedTuple):
    """One task in one condition; what the input does not tell is None.

    Percentages are 0 to 100, retention may exceed 100; the difference is percentage points.
    """

    task: str
    condition: str
    n: int
    """Records."""
    claims: int | None
    """Verified claims of the original answers, the same in every condition."""
    eligible: int | None
    eligible_pct: Fraction | None
    judge: str | None
    """The primary judge."""
    hallucinated: int | None
    rate_pct: Fraction | None
    rate_low: float | None
    rate_high: float | None
    diff_pp: Fraction | None
    """Rate minus the reference condition's; None for the reference itself."""
    diff_low: float | None
    diff_high: float | None
    retention_pct: float | None
    retention_low: float | None
    retention_high: float | None
    retention_cluster_low: float | None
    retention_cluster_high: float | None


class _Judged(NamedTuple):
    """One condition's share of a row."""

    hallucinated: int | None = None
    rate_pct: Fraction | None = None
    rate_low: float | None = None
    rate_high: float | None = None
    diff_pp: Fraction | None = None
    diff_low: float | None = None
    diff_high: float | None = None


def tasks_table(study: Study) -> Table:
    """Tabulate, task by task, eligible claims, judged rates and retained text.

    Args:
        study: Its labels or its arms or both, one of them with the records' tasks; its claims,
            if there: record_id, claim_id, p_support; and its records, if there, for the sources.

    Raises:
        StatisticsError: An input is not what its own table needs, labels and arms are not of
            the same records or tasks, or P(support) is not a probability.

    Source: arXiv 2608.29307, Table 6 and section 7.4.
    """
    inputs = task_inputs(study)
    found = set(inputs.task_of.values())
    tasks = [task for task in TASKS if task in found] + sorted(found - set(TASKS))
    rows = [row for task in (*tasks, ALL) for row in _task_rows(task, inputs, study)]
    columns = tuple(c for c in _COLUMNS if inputs.labels is not None or c.name != "judge")
    notes = notes_for(study.provenance, *_notes(inputs, study), judged=inputs.labels is not None)
    title = "Table 6: tasks, with the primary judge's rates and the text that is left"
    return Table("table6_tasks", title, table_frame(rows), columns, notes)


def _task_rows(task: str, inputs: TaskInputs, study: Study) -> Iterator[TaskRow]:
    labels, arms, claims = inputs.labels, inputs.arms, inputs.claims
    of_task = {record for record, own in inputs.task_of.items() if task in (own, ALL)}
    judged = {} if labels is None else _judge_conditions(labels, _mask(labels, of_task), study)
    retained: dict[str, Retention] = {}
    if arms is not None:
        found = group_retention(arms, _mask(arms, of_task), study.settings)
        retained = dict(zip(arms.arms, found, strict=True))
    n_claims = n_eligible = None
    if claims is not None:
        own = claims if task == ALL else claims[claims["task"] == task]
        n_claims, n_eligible = len(own), int(own["is_eligible"].sum())
    for condition in dict.fromkeys((*judged, *retained)):
        yield TaskRow(
            task,
            condition,
            len(of_task),
            n_claims,
            n_eligible,
            None if n_claims is None or n_eligible is None else percent(n_eligible, n_claims),
            None if labels is None else study.primary_judge,
            *judged.get(condition, _Judged()),
            *_retention_cells(retained.get(condition)),
        )


def _mask(cube: LabelCube | ArmCube, record_ids: set[str]) -> NDArray[np.bool_]:
    return np.array([record_id in record_ids for record_id in cube.record_ids])


def _judge_conditions(
    labels: LabelCube, is_in_R: NDArray[np.bool_], study: Study
) -> dict[str, _Judged]:
    """Return the primary judge's rate by condition, and how it differs from the reference's."""
    confidence, reference = study.settings.confidence, study.design.reference
    label_R = {
        condition: labels.labels_R(study.primary_judge, condition)[is_in_R]
        for condition in labels.conditions
    }
    judged = {}
    for condition, own_R in label_R.items():
        n, count = len(own_R), int(own_R.sum())
        low, high = wilson_interval(count, n, confidence=confidence)
        judged[condition] = _Judged(count, percent(count, n), 100 * low, 100 * high)
        if reference not in (None, condition):
            b = int((label_R[reference] > own_R).sum())
            c = int((label_R[reference] < own_R).sum())
            low, high = tango_interval(b, c, n, confidence=confidence)
            judged[condition] = judged[condition]._replace(
                diff_pp=percent(c - b, n), diff_low=100 * low, diff_high=100 * high
            )
    return judged


def _retention_cells(retention: Retention | None) -> tuple[float | None, ...]:
    if retention is None:
        return (None,) * 5
    return (retention.mean, *retention.interval, *ends(retention.cluster))


def _notes(inputs: TaskInputs, study: Study) -> Iterator[str]:
    level = f"{100 * study.settings.confidence:g} %"
    yield (
        "claims: not in this input"
        if inputs.claims is None
        else "claims: verified claims of the original answers; eligible: P(support) below the "
        f"threshold of {study.provenance.threshold:g}"
    )
    if inputs.labels is None:
        yield "judged rates: no labels in this input"
    else:
        yield (
            f"hallucinated, rate: judged by {study.primary_judge}, the primary judge"
            f"{'' if study.provenance.primary_judge else ' (none was named)'}; an empty "
            f"answer counts as not hallucinated; interval: Wilson, {level}"
        )
        yield from _difference_note(inputs.labels, study, level)
    if inputs.arms is None:
        yield "length: no arms in this input"
    else:
        tasks_R = [inputs.task_of.get(record_id) for record_id in inputs.arms.record_ids]
        yield from retention_notes(inputs.arms, study, tasks_R)


def _difference_note(labels: LabelCube, study: Study, level: str) -> Iterator[str]:
    reference = study.design.reference
    if labels.n_dropped:
        yield "claims and lengths: without the records that lack a label, like the judged rates"
    if reference is None:
        yield "difference: —, for no condition is known to be the untouched answers"
    else:
        yield (
            f"difference: rate minus that of {reference}, negative where fewer answers are judged "
            f"hallucinated; interval: Tango, {level}"
        )
