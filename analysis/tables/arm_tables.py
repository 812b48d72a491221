"""Tables of what each arm did to the answers and their claims (Tables 3 and 7 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.arms import ArmCube
from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.places import is_blank
from ragmend.analysis.printing.notes import few_sources_note, notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.clusters import fewest_sources
from ragmend.analysis.statistics.retention import Retention, text_retention
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALL = "all"
GOLD_GROUPS = {"clean": 0, "hallucinated": 1}

_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("answers", "n", "count"),
    Column("claims", "claims", "count"),
    Column("eligible", "eligible", "count"),
    Column("kept", "kept", "count"),
    Column("kept_pct", "kept %", "decimal", 1),
    Column("substituted", "substituted", "count"),
    Column("rewritten", "rewritten", "count"),
    Column("dropped", "dropped", "count"),
    Column("edited", "edited answers", "count"),
    Column("edited_pct", "edited %", "decimal", 1),
    Column("removed_per_edited", "removed per edited", "decimal", 2),
    Column("retention_pct", "length %", "decimal", 1),
    Column("retention", "interval", "interval", 1),
    Column("retention_cluster", "interval, by source", "interval", 1),
    Column("longer", "longer", "count"),
    Column("empty", "empty", "count"),
)


class ArmRow(NamedTuple):
    """One arm on one group of answers; percentages are 0 to 100, retention may exceed 100."""

    arm: str
    group: str
    answers: int
    claims: int
    eligible: int
    kept: int
    kept_pct: Fraction | None
    substituted: int
    rewritten: int
    dropped: int
    edited: int
    edited_pct: Fraction | None
    removed_per_edited: Fraction | None
    retention_pct: float
    retention_low: float
    retention_high: float
    retention_cluster_low: float | None
    retention_cluster_high: float | None
    longer: int
    empty: int


def arms_table(study: Study) -> Table:
    """Summarise what each arm did to all answers.

    Args:
        study: Its arms, and its records if there; see `arm_cube`.

    Raises:
        StatisticsError, AccountingError: As `arm_cube`.

    Source: arXiv 2608.29307, Table 3.
    """
    cube = study.arms
    rows = _group_rows(cube, ALL, np.ones(len(cube.record_ids), dtype=bool), study.settings)
    notes = notes_for(study.provenance, *_count_notes(study), *retention_notes(cube, study))
    title = "Table 3: what each arm did to the answers"
    return Table("table3_arms", title, table_frame(list(rows)), _COLUMNS, notes)


def gold_arms_table(study: Study) -> Table:
    """Summarise what each arm did to the answers that gold calls clean, and to the others.

    Args:
        study: Its arms, some with gold, and its records if there; see `arm_cube`.

    Raises:
        StatisticsError, AccountingError: As `arm_cube`.

    Source: arXiv 2608.29307, Table 7.
    """
    cube = study.arms
    rows = [
        row
        for group, gold in GOLD_GROUPS.items()
        for row in _group_rows(cube, group, cube.gold_R == gold, study.settings)
    ]
    notes = notes_for(
        study.provenance,
        *_gold_notes(cube),
        *_count_notes(study),
        *retention_notes(cube, study, cube.gold_R.tolist()),
    )
    title = "Table 7: what each arm did to clean and to hallucinated answers"
    columns = (Column("group", "answers", "text"), *_COLUMNS)
    return Table("table7_clean_and_hallucinatory", title, table_frame(rows), columns, notes)


def without_gold_arms(study: Study) -> str | None:
    """Say that no answer's gold is known; None where one is."""
    arms = needed(study.frames, "arms", ["gold"])
    return "needs gold labels" if is_blank(arms["gold"]).all() else None


def retention_notes(
    cube: ArmCube, study: Study, groups_R: Sequence[object] | None = None
) -> Iterator[str]:
    """Say what the retained length is, and its intervals.

    Args:
        cube: The arms.
        study: Its settings.
        groups_R: The group of each record whose rows the table has; None: one group.
    """
    settings = study.settings
    yield (
        "length: mean over answers of repaired / original characters, not capped; "
        f"{100 * settings.confidence:g} % percentile bootstrap over answers, "
        f"{settings.n_resamples} resamples, seed {settings.seed}"
    )
    if cube.sources_R is None:
        yield "by source: —, for this input does not name the answers' sources"
    else:
        yield (
            "by source: the same with whole sources drawn, since answers to one source are not "
            "independent; — where there is only one"
        )
        few = few_sources_note(fewest_sources(cube.sources_R, groups_R))
        if few is not None:
            yield few


def ends(interval: tuple[float, float] | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval; None where there is none."""
    return (None, None) if interval is None else interval


def group_retention(
    cube: ArmCube, is_in_R: NDArray[np.bool_], settings: Settings
) -> list[Retention]:
    """Return each arm's retention over some of the records, at least one."""
    sources = cube.sources_R
    return text_retention(
        cube.ratio_RA[is_in_R],
        sources_R=None if sources is None else np.array(sources)[is_in_R].tolist(),
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )


def _count_notes(study: Study) -> Iterator[str]:
    yield (
        "claims = kept + dropped; kept includes substituted and rewritten claims; eligible: "
        f"P(support) below the threshold of {study.provenance.threshold:g}; what the arm decided "
        "counts: a kept heading whose content went is taken out all the same, a dropped one over "
        "content stays (assembly_edits counts both)"
    )
    yield (
        "edited: at least one claim dropped, substituted or rewritten; removed per edited: dropped "
        "claims / edited answers; longer, empty: answers longer than the original, or empty"
    )
    if study.n_dropped:
        yield (
            "all records are counted here, also those that lack a label and are left out of what "
            "is judged"
        )


def _gold_notes(cube: ArmCube) -> Iterator[str]:
    yield "clean, hallucinated: the original answer by gold"
    n_unknown = int((cube.gold_R < 0).sum())
    if n_unknown:
        n_all = len(cube.gold_R)
        yield f"{n_unknown} of {n_all} answers have no gold label and are left out"
    for group, gold in GOLD_GROUPS.items():
        if gold not in cube.gold_R:
            yield f"no answer is {group} by gold"


def _group_rows(
    cube: ArmCube, group: str, is_in_R: NDArray[np.bool_], settings: Settings
) -> Iterator[ArmRow]:
    """Yield one row an arm; none for a group without answers."""
    if not is_in_R.any():
        return
    retentions = group_retention(cube, is_in_R, settings)
    for a, (arm, retention) in enumerate(zip(cube.arms, retentions, strict=True)):
        counts_R = {name: count_RA[is_in_R, a] for name, count_RA in cube.counts_RA.items()}
        yield _arm_row(arm, group, counts_R, cube.ratio_RA[is_in_R, a], retention)


def _arm_row(
    arm: str,
    group: str,
    counts_R: dict[str, NDArray[np.int64]],
    ratio_R: NDArray[np.float64],
    retention: Retention,
) -> ArmRow:
    count = {name: int(count_R.sum()) for name, count_R in counts_R.items()}
    changed_R = counts_R["dropped"] + counts_R["substituted"] + counts_R["rewritten"]
    edited, answers = int((changed_R > 0).sum()), len(ratio_R)
    cluster_low, cluster_high = ends(retention.cluster)
    return ArmRow(
        arm=arm,
        group=group,
        answers=answers,
        claims=count["claims"],
        eligible=count["eligible"],
        kept=count["claims_kept"],
        kept_pct=percent(count["claims_kept"], count["claims"]),
        substituted=count["substituted"],
        rewritten=count["rewritten"],
        dropped=count["dropped"],
        edited=edited,
        edited_pct=percent(edited, answers),
        removed_per_edited=Fraction(count["dropped"], edited) if edited else None,
        retention_pct=retention.mean,
        retention_low=retention.interval.low,
        retention_high=retention.interval.high,
        retention_cluster_low=cluster_low,
        retention_cluster_high=cluster_high,
        longer=int((ratio_R > 1).sum()),
        empty=int((ratio_R == 0).sum()),
    )
