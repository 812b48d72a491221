"""What the table of tasks is made from: labels, arms and claims over one set of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.inputs.arms import ArmCube
from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.labels import LabelCube
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.analysis.inputs.splits import evaluated_claims
from ragmend.analysis.study import Study
from ragmend.analysis.tables.claim_tables import CLAIM_KEY, eligible_claims
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd


class TaskInputs(NamedTuple):
    """What is given, over one set of records."""

    task_of: Mapping[str, str]
    """Task of each record; without those left out because a label is missing."""
    labels: LabelCube | None
    """None where not given, like the others."""
    arms: ArmCube | None
    claims: pd.DataFrame | None
    """Verified claims of these records: task, is_eligible; none of a development split."""


def task_inputs(study: Study) -> TaskInputs:
    """Bring labels, arms and claims together, over the same records.

    Raises:
        StatisticsError: An input is not what its own table needs, labels and arms are not of
            the same records or tasks, or P(support) is not a probability.
    """
    labels, arms = _cubes(study)
    task_of = _task_of(labels, arms)
    labelled: set[str] = set()  # those left out because a label is missing, too
    if labels is not None:
        labelled = set(needed(study.frames, "labels", ["record_id"])["record_id"].astype(str))
    if labels is not None and arms is not None:
        _refuse_lost(arms.record_ids, labelled, "arms but no labels")
        _refuse_lost(labels.record_ids, arms.record_ids, "labels but no arms")
        task_of = {record_id: task_of[record_id] for record_id in labels.record_ids}
    if not study.frames.has("claims"):
        return TaskInputs(task_of, labels, arms, None)
    claims = verified_claims(study)
    known = labelled.union(task_of)
    _refuse_lost(claims["record_id"], known, "claims, but is not among the labels or arms")
    claims = claims.assign(task=claims["record_id"].map(task_of))
    return TaskInputs(task_of, labels, arms, claims[claims["task"].notna()])


def without_tasks_of_records(study: Study) -> str | None:
    """Say that there are neither labels nor arms, or that nothing names the records' tasks."""
    if not (study.frames.has("labels") or study.frames.has("arms")):
        return "needs labels or arms"
    labels, arms = _cubes(study)
    is_known = any(cube is not None and cube.tasks_R is not None for cube in (labels, arms))
    return None if is_known else "needs the task of each record"


def verified_claims(study: Study) -> pd.DataFrame:
    """Return the claims with a verdict, their record ids as text, and which are eligible.

    Args:
        study: Its claims: record_id, claim_id, p_support (NA: no verdict) and perhaps split;
            those of a development split are left out.

    Raises:
        StatisticsError: A column is missing, a claim occurs twice, or P(support) is not between
            0 and 1.
        AccountingError: Removal does not drop exactly the eligible claims.
    """
    claims = needed(study.frames, "claims", [*CLAIM_KEY, "p_support"], key=CLAIM_KEY)
    claims = evaluated_claims(claims).reset_index(drop=True)
    wrong = claims["p_support"].notna() & ~claims["p_support"].between(0, 1)
    name = study.provenance.name_of("claims")
    refuse_rows(claims, wrong, CLAIM_KEY, name, "P(support) is not between 0 and 1")
    eligible = eligible_claims(claims, study.provenance).index
    claims = claims.assign(
        record_id=claims["record_id"].astype(str), is_eligible=claims.index.isin(eligible)
    )
    return claims[claims["p_support"].notna()]


def _cubes(study: Study) -> tuple[LabelCube | None, ArmCube | None]:
    frames = study.frames
    return (
        study.cube if frames.has("labels") else None,
        study.arms if frames.has("arms") else None,
    )


def _task_of(labels: LabelCube | None, arms: ArmCube | None) -> dict[str, str]:
    """Return each record's task, from the labels and the arms, which must agree."""
    task_of: dict[str, str] = {}
    for cube in (arms, labels):
        if cube is None or cube.tasks_R is None:
            continue
        for record_id, task in zip(cube.record_ids, cube.tasks_R, strict=True):
            if task_of.setdefault(record_id, task) != task:
                raise StatisticsError(
                    f"record {record_id}: task {task} in the labels, {task_of[record_id]} in the "
                    "arms"
                )
    return task_of


def _refuse_lost(record_ids: Iterable[str], known: Iterable[str], what: str) -> None:
    there = frozenset(known)
    for record_id in record_ids:
        if record_id not in there:
            raise StatisticsError(f"record {record_id} has {what}")
