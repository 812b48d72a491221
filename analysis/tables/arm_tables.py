"""Tables of what each arm did to the answers and their claims."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.intervals import Interval, bootstrap_mean_interval
from ragmend.analysis.study import Study
from ragmend.errors import AccountingError, StatisticsError
from ragmend.records import ARMS

if TYPE_CHECKING:
    import pandas as pd

_COUNTS = ("claims", "eligible", "claims_kept", "dropped", "substituted", "rewritten")
ARM_COLUMNS = ("record_id", "gold", "arm", *_COUNTS, "original_chars", "repaired_chars")

_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("group", "answers", "text"),
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
    longer: int
    empty: int


def arms_table(study: Study) -> Table:
    """Summarise each arm over all answers, and over those that gold calls clean or not.

    Args:
        study: Its arms: the columns `ARM_COLUMNS`, one row a record and arm; gold is 0, 1
            or NA; claims_kept counts every claim that was not dropped.

    Raises:
        AccountingError: A row's claims are not kept + dropped, or more were replaced than kept.
        StatisticsError: A column is missing, a (record, arm) occurs twice, or an original
            answer is empty.

    Source: arXiv 2608.29307, Tables 3 and 7.
    """
    arms = needed(study.frames, "arms", ARM_COLUMNS, key=["record_id", "arm"])
    check_arms(arms)
    has_gold = bool(arms["gold"].notna().any())
    rows = [
        _arm_row(part, arm, group, study.settings)
        for arm in arm_order(arms["arm"])
        for group, part in _by_gold(arms[arms["arm"] == arm])
        if len(part)
    ]
    notes = notes_for(
        study.provenance,
        "claims = kept + dropped; kept includes substituted and rewritten claims; eligible: "
        f"P(support) below the threshold of {study.provenance.threshold:g}; what the arm decided "
        "counts: a kept heading whose content went is taken out all the same, a dropped one over "
        "content stays (assembly_edits counts both)",
        "edited: at least one claim dropped, substituted or rewritten; removed per edited: dropped "
        "claims / edited answers; longer, empty: answers longer than the original, or empty",
        f"length: mean over answers of repaired / original characters, not capped; "
        f"{100 * study.settings.confidence:g} % percentile bootstrap, "
        f"{study.settings.n_resamples} resamples",
        None if has_gold else "no gold labels: answers cannot be split into clean and hallucinated",
    )
    title = "Table 3: what each arm did, over all answers and by gold label"
    return Table("table3_arms", title, table_frame(rows), _COLUMNS, notes)


def check_arms(arms: pd.DataFrame) -> None:
    """Check that every row's claims add up and that no original answer is empty."""
    _refuse(arms, arms["original_chars"] <= 0, "the original answer is empty", StatisticsError)
    unequal = arms["claims"] != arms["claims_kept"] + arms["dropped"]
    _refuse(arms, unequal, "claims are not kept + dropped", AccountingError)
    replaced = arms["substituted"] + arms["rewritten"]
    _refuse(arms, replaced > arms["claims_kept"], "more claims replaced than kept", AccountingError)


def arm_order(found: Iterable[str]) -> list[str]:
    """Return the arms that occur: the paper's in its order, then others by name."""
    present = set(found)
    return [arm for arm in ARMS if arm in present] + sorted(present - set(ARMS))


def _refuse(
    arms: pd.DataFrame, wrong: pd.Series[bool], message: str, error: type[Exception]
) -> None:
    if wrong.any():
        row = arms[wrong].iloc[0]
        raise error(f"arms: record {row['record_id']}, arm {row['arm']}: {message}")


def _by_gold(part: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    is_hallucinated = part["gold"].eq(1).fillna(value=False).astype(bool)
    is_clean = part["gold"].eq(0).fillna(value=False).astype(bool)
    return [("all", part), ("clean", part[is_clean]), ("hallucinated", part[is_hallucinated])]


def _arm_row(part: pd.DataFrame, arm: str, group: str, settings: Settings) -> ArmRow:
    part = part.sort_values("record_id", key=lambda ids: ids.astype(str))
    count = {name: int(part[name].sum()) for name in _COUNTS}
    changed = part["dropped"] + part["substituted"] + part["rewritten"]
    edited, answers = int((changed > 0).sum()), len(part)
    ratio_R = part["repaired_chars"].to_numpy(dtype=float) / part["original_chars"].to_numpy()
    interval = _retention_interval(100 * ratio_R, settings)
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
        retention_pct=float(100 * ratio_R.mean()),
        retention_low=interval.low,
        retention_high=interval.high,
        longer=int((ratio_R > 1).sum()),
        empty=int((part["repaired_chars"] == 0).sum()),
    )


def _retention_interval(percent_R: np.ndarray, settings: Settings) -> Interval:
    return bootstrap_mean_interval(
        percent_R,
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )
