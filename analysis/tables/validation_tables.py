"""A verifier with several sets of features against gold, side by side (`validate-verifier`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragmend.analysis.inputs.frames import require_columns
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.tables.verifier_claims import by_task
from ragmend.analysis.tables.verifier_rows import (
    THRESHOLD_COLUMNS,
    THRESHOLDS,
    task_row,
    threshold_row,
)
from ragmend.analysis.tables.verifier_tables import (
    PAPER_NOTE,
    STRICT_NOTE,
    delong_note,
    sources_note,
)
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

SCORED_COLUMNS = (
    "features", "task", "source_id", "record_id", "record_gold", "gold_unsupported", "p_support",
)  # fmt: skip

_FEATURES = Column("features", "features", "text")
_AREA_COLUMNS = (
    _FEATURES,
    Column("task", "task", "text"),
    Column("sources", "sources", "count"),
    Column("answers", "answers", "count"),
    Column("claims", "claims", "count"),
    Column("gold_positive", "unsupported", "count"),
    Column("auc", "AUC of 1 − P(support)", "decimal", 3),
    Column("auc", "DeLong interval", "interval", 3),
    Column("auc_cluster", "interval, by source", "interval", 3),
)


def verifier_area_table(
    scored: pd.DataFrame, *, settings: Settings, provenance: Provenance, notes: tuple[str, ...]
) -> Table:
    """Return the area under the ROC curve of 1 − P(support), by set of features and task.

    Args:
        scored: One row a claim and set of features, with `SCORED_COLUMNS`; gold is 0 or 1.
        settings: Resamples, seed and confidence of the intervals.
        provenance: Where the numbers come from.
        notes: What a reader has to know of these claims.
    """
    found = [
        (
            features,
            task_row(
                task,
                part,
                sources=part["source_id"].astype(str),
                threshold=provenance.threshold,
                settings=settings,
            ),
        )
        for features, claims in _by_features(scored)
        for task, part in by_task(claims)
    ]
    frame = table_frame([row for _, row in found])
    frame.insert(0, "features", [features for features, _ in found])
    title = "Verifier against gold: claims ordered by 1 − P(support)"
    found_notes = notes_for(provenance, *notes, delong_note(settings), sources_note(settings))
    return Table("verifier_auc", title, frame, _AREA_COLUMNS, found_notes)


def verifier_threshold_table(
    scored: pd.DataFrame, *, provenance: Provenance, notes: tuple[str, ...]
) -> Table:
    """Return what repairing below each of the paper's seven thresholds would touch.

    Args:
        scored: As for `verifier_area_table`.
        provenance: Where the numbers come from.
        notes: What a reader has to know of these claims.
    """
    found = [
        (features, threshold_row(claims, threshold))
        for features, claims in _by_features(scored)
        for threshold in THRESHOLDS
    ]
    frame = table_frame([row for _, row in found])
    frame.insert(0, "features", [features for features, _ in found])
    rule = f"{STRICT_NOTE}; positive = gold-unsupported; {PAPER_NOTE}"
    return Table(
        "verifier_thresholds", "Verifier against gold: thresholds", frame,
        (_FEATURES, *THRESHOLD_COLUMNS), notes_for(provenance, rule, *notes),
    )  # fmt: skip


def _by_features(scored: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    _check(scored)
    # Gold spans lie in the answer itself here, so that every claim is aligned with them.
    for features, claims in scored.assign(aligned=1).groupby("features", sort=False):
        yield str(features), claims


def _check(scored: pd.DataFrame) -> None:
    require_columns(scored, SCORED_COLUMNS, table="scored claims")
    for column in ("record_gold", "gold_unsupported"):
        if not scored[column].isin([0, 1]).all():
            raise StatisticsError(f"scored claims: {column} must be 0 or 1 in every row")
    if not scored["p_support"].between(0, 1).all():  # neither is a missing one
        raise StatisticsError("scored claims: p_support must lie in [0, 1] in every row")
    if scored[["features", "task", "source_id", "record_id"]].isna().to_numpy().any():
        raise StatisticsError("scored claims: features, task, source and record must be given")
