"""A verifier against gold: the area under its ROC curve, and what each threshold would do."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.inputs.frames import require_columns
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, proportion, table_frame
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.statistics.roc import area_under_curve
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

# Source: arXiv 2608.29307, Table 2.
THRESHOLDS = (0.10, 0.30, 0.40, 0.50, 0.60, 0.70, 0.90)
_PAPER_PRECISION = dict(
    zip(THRESHOLDS, (0.464, 0.423, 0.410, 0.401, 0.387, 0.370, 0.331), strict=True)
)
_PAPER_RECALL = dict(
    zip(THRESHOLDS, (0.789, 0.839, 0.850, 0.858, 0.867, 0.878, 0.910), strict=True)
)

SCORED_COLUMNS = (
    "features", "task", "source_id", "record_id", "record_gold", "gold_unsupported", "p_support",
)  # fmt: skip

_AREA_COLUMNS = (
    Column("features", "features", "text"),
    Column("task", "task", "text"),
    Column("sources", "sources", "count"),
    Column("responses", "answers", "count"),
    Column("claims", "claims", "count"),
    Column("unsupported", "unsupported", "count"),
    Column("auc", "AUC of 1 − P(support)", "decimal", 3),
    Column("auc", "interval", "interval", 3),
)

_THRESHOLD_COLUMNS = (
    Column("features", "features", "text"),
    Column("threshold", "threshold", "decimal", 2),
    Column("below", "claims below", "count"),
    Column("below_pct", "% of claims", "decimal", 1),
    Column("below_hallucinated_pct", "% in hallucinated answers", "decimal", 1),
    Column("tp", "TP", "count"),
    Column("fp", "FP", "count"),
    Column("fn", "FN", "count"),
    Column("precision", "precision", "decimal", 3),
    Column("recall", "recall", "decimal", 3),
    Column("f1", "F1", "decimal", 3),
    Column("clean_edited_pct", "% of clean answers edited", "decimal", 1),
    Column("paper_precision", "paper: precision", "decimal", 3),
    Column("paper_recall", "paper: recall", "decimal", 3),
)


class AreaRow(NamedTuple):
    """How well one set of features orders the claims of one task."""

    features: str
    task: str
    sources: int
    responses: int
    claims: int
    unsupported: int
    auc: float | None
    auc_low: float | None
    auc_high: float | None


class ThresholdRow(NamedTuple):
    """What repairing every claim below one threshold would touch."""

    features: str
    threshold: float
    below: int
    below_pct: Fraction | None
    below_hallucinated_pct: Fraction | None
    tp: int
    fp: int
    fn: int
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None
    clean_edited_pct: Fraction | None
    paper_precision: float
    paper_recall: float


def verifier_area_table(
    scored: pd.DataFrame, *, settings: Settings, provenance: Provenance, notes: tuple[str, ...]
) -> Table:
    """Return the area under the ROC curve of 1 − P(support), by set of features and task.

    Args:
        scored: One row a claim and set of features, with `SCORED_COLUMNS`; gold is 0 or 1.
        settings: Resamples, seed and confidence of the interval over sources.
        provenance: Where the numbers come from.
        notes: What a reader has to know of these claims.
    """
    _check(scored)
    rows = [
        _area_row(str(features), task, part, settings)
        for features, of_features in scored.groupby("features", sort=False)
        for task, part in _parts(of_features)
    ]
    title = "Verifier against gold: claims ordered by 1 − P(support)"
    found = notes_for(provenance, *notes, _interval_note(settings))
    return Table("verifier_auc", title, table_frame(rows), _AREA_COLUMNS, found)


def verifier_threshold_table(
    scored: pd.DataFrame, *, provenance: Provenance, notes: tuple[str, ...]
) -> Table:
    """Return what repairing below each of the paper's seven thresholds would touch.

    Args:
        scored: As for `verifier_area_table`.
        provenance: Where the numbers come from.
        notes: What a reader has to know of these claims.
    """
    _check(scored)
    rows = [
        _threshold_row(str(features), threshold, part)
        for features, part in scored.groupby("features", sort=False)
        for threshold in THRESHOLDS
    ]
    rule = (
        "below: P(support) < threshold, strictly; positive = gold-unsupported; paper: arXiv "
        "2608.29307, Table 2, a language model on the answers that its own detector flagged"
    )
    title = "Verifier against gold: thresholds"
    return Table(
        "verifier_thresholds", title, table_frame(rows), _THRESHOLD_COLUMNS,
        notes_for(provenance, rule, *notes),
    )  # fmt: skip


def _interval_note(settings: Settings) -> str:
    return (
        f"interval: {100 * settings.confidence:g} % percentile bootstrap over sources, "
        f"{settings.n_resamples} resamples, seed {settings.seed}; of few sources it is too narrow"
    )


def _check(scored: pd.DataFrame) -> None:
    require_columns(scored, SCORED_COLUMNS, table="scored claims")
    for column in ("record_gold", "gold_unsupported"):
        if not scored[column].isin([0, 1]).all():
            raise StatisticsError(f"scored claims: {column} must be 0 or 1 in every row")
    if not scored["p_support"].between(0, 1).all():  # neither is a missing one
        raise StatisticsError("scored claims: p_support must lie in [0, 1] in every row")
    if scored[["features", "task", "source_id", "record_id"]].isna().to_numpy().any():
        raise StatisticsError("scored claims: features, task, source and record must be given")


def _parts(claims: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [*((str(task), part) for task, part in claims.groupby("task")), ("pooled", claims)]


def _area_row(features: str, task: str, part: pd.DataFrame, settings: Settings) -> AreaRow:
    found = area_under_curve(
        part["gold_unsupported"] == 1,
        -part["p_support"],  # the order of 1 − P(support), without its rounding
        part["source_id"],
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )
    interval = None if found is None else found.interval
    return AreaRow(
        features=features,
        task=task,
        sources=part["source_id"].nunique(),
        responses=part["record_id"].nunique(),
        claims=len(part),
        unsupported=int(part["gold_unsupported"].sum()),
        auc=None if found is None else found.area,
        auc_low=None if interval is None else interval.low,
        auc_high=None if interval is None else interval.high,
    )


def _threshold_row(features: str, threshold: float, part: pd.DataFrame) -> ThresholdRow:
    is_below = part["p_support"] < threshold
    is_unsupported = part["gold_unsupported"] == 1
    in_hallucinated = part["record_gold"] == 1
    tp = int((is_below & is_unsupported).sum())
    fp = int((is_below & ~is_unsupported).sum())
    fn = int((~is_below & is_unsupported).sum())
    clean = part[~in_hallucinated]
    edited = clean[clean["p_support"] < threshold]["record_id"].nunique()
    return ThresholdRow(
        features=features,
        threshold=threshold,
        below=tp + fp,
        below_pct=percent(tp + fp, len(part)),
        below_hallucinated_pct=percent(
            int((is_below & in_hallucinated).sum()), int(in_hallucinated.sum())
        ),
        tp=tp,
        fp=fp,
        fn=fn,
        precision=proportion(tp, tp + fp),
        recall=proportion(tp, tp + fn),
        f1=proportion(2 * tp, 2 * tp + fp + fn),
        clean_edited_pct=percent(edited, clean["record_id"].nunique()),
        paper_precision=_PAPER_PRECISION[threshold],
        paper_recall=_PAPER_RECALL[threshold],
    )
