"""What is counted of a verifier's claims: by threshold, and by task."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.printing.table import Column, percent, proportion
from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.delong import delong_interval
from ragmend.analysis.statistics.intervals import Interval
from ragmend.analysis.statistics.roc import area_under_curve
from ragmend.analysis.tables.verifier_claims import gold_claims

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

THRESHOLD_COLUMNS = (
    Column("threshold", "threshold", "decimal", 2),
    Column("flagged", "flagged", "count"),
    Column("tp", "TP", "count"),
    Column("fp", "FP", "count"),
    Column("fn", "FN", "count"),
    Column("precision", "precision", "decimal", 3),
    Column("recall", "recall", "decimal", 3),
    Column("f1", "F1", "decimal", 3),
    Column("all_below", "all claims below", "count"),
    Column("all_below_pct", "% of claims", "decimal", 1),
    Column("hallucinated_below_pct", "% in hallucinated answers", "decimal", 1),
    Column("clean_edited_pct", "% of clean answers edited", "decimal", 1),
    Column("paper_precision", "paper: precision", "decimal", 3),
    Column("paper_recall", "paper: recall", "decimal", 3),
)


class ThresholdRow(NamedTuple):
    """What repairing every claim below one threshold touches.

    `flagged` to `f1` are over aligned claims with gold, the rest over all verified claims.
    """

    threshold: float
    flagged: int
    tp: int
    fp: int
    fn: int
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None
    all_below: int
    all_below_pct: Fraction | None
    hallucinated_below_pct: Fraction | None
    clean_edited_pct: Fraction | None
    paper_precision: float | None
    paper_recall: float | None


class TaskRow(NamedTuple):
    """How the verifier sees the claims of one task, and how well it orders them."""

    task: str
    sources: int | None
    answers: int
    claims: int
    aligned: int
    unaligned: int
    gold_positive: int
    eligible: int
    eligible_pct: Fraction | None
    eligible_unaligned: int
    median_p: float
    auc: float | None
    auc_low: float | None
    auc_high: float | None
    auc_cluster_low: float | None
    auc_cluster_high: float | None


def threshold_row(claims: pd.DataFrame, threshold: float) -> ThresholdRow:
    """Count what lies below a threshold, strictly.

    Args:
        claims: record_id, record_gold, p_support, aligned, gold_unsupported; verified.
        threshold: Claims with a lower P(support) are flagged.
    """
    gold = gold_claims(claims)
    is_flagged, is_positive = gold["p_support"] < threshold, gold["gold_unsupported"] == 1
    tp = int((is_flagged & is_positive).sum())
    fp = int((is_flagged & ~is_positive).sum())
    fn = int((~is_flagged & is_positive).sum())
    is_below = claims["p_support"] < threshold
    in_clean, in_hallucinated = claims["record_gold"] == 0, claims["record_gold"] == 1
    return ThresholdRow(
        threshold=threshold,
        flagged=tp + fp,
        tp=tp,
        fp=fp,
        fn=fn,
        precision=proportion(tp, tp + fp),
        recall=proportion(tp, tp + fn),
        f1=proportion(2 * tp, 2 * tp + fp + fn),
        all_below=int(is_below.sum()),
        all_below_pct=percent(int(is_below.sum()), len(claims)),
        hallucinated_below_pct=percent(
            int((is_below & in_hallucinated).sum()), int(in_hallucinated.sum())
        ),
        clean_edited_pct=percent(
            claims[is_below & in_clean]["record_id"].nunique(),
            claims[in_clean]["record_id"].nunique(),
        ),
        paper_precision=_PAPER_PRECISION.get(threshold),
        paper_recall=_PAPER_RECALL.get(threshold),
    )


def task_row(
    task: str,
    claims: pd.DataFrame,
    *,
    sources: pd.Series[str] | None,
    threshold: float,
    settings: Settings,
) -> TaskRow:
    """Count one task's claims, and measure how well 1 − P(support) finds the unsupported.

    Args:
        task: Name of the task, or `pooled`.
        claims: As for `threshold_row`.
        sources: The source of each claim, with the claims' index; None: unknown.
        threshold: Claims with a P(support) strictly below are eligible.
        settings: Confidence of the intervals, resamples and seed of the one over sources.
    """
    gold = gold_claims(claims)
    is_eligible, is_aligned = claims["p_support"] < threshold, claims["aligned"] == 1
    own_sources = None if sources is None else sources.loc[claims.index]
    area, low, high = _area(gold, settings)
    over_sources = None if own_sources is None else _over_sources(gold, own_sources, settings)
    return TaskRow(
        task=task,
        sources=None if own_sources is None else own_sources.nunique(),
        answers=claims["record_id"].nunique(),
        claims=len(claims),
        aligned=int(is_aligned.sum()),
        unaligned=int((~is_aligned).sum()),
        gold_positive=int(gold["gold_unsupported"].sum()),
        eligible=int(is_eligible.sum()),
        eligible_pct=percent(int(is_eligible.sum()), len(claims)),
        eligible_unaligned=int((is_eligible & ~is_aligned).sum()),
        median_p=float(claims["p_support"].median()),
        auc=area,
        auc_low=low,
        auc_high=high,
        auc_cluster_low=None if over_sources is None else over_sources.low,
        auc_cluster_high=None if over_sources is None else over_sources.high,
    )


def _area(
    gold: pd.DataFrame, settings: Settings
) -> tuple[float | None, float | None, float | None]:
    # −P(support) has the order of 1 − P(support) without its rounding.
    found = delong_interval(
        gold["gold_unsupported"], -gold["p_support"], confidence=settings.confidence
    )
    if found is None:
        return None, None, None
    return (found.area, *(found.interval or (None, None)))


def _over_sources(
    gold: pd.DataFrame, sources: pd.Series[str], settings: Settings
) -> Interval | None:
    found = area_under_curve(
        gold["gold_unsupported"],
        -gold["p_support"],
        sources.loc[gold.index],
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )
    return None if found is None else found.interval
