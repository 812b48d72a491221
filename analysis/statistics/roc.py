"""How well a score orders units of two kinds: the area under the ROC curve, with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import (
    check_labels,
    check_lengths,
    check_level,
    check_resamples,
    check_seed,
    check_sources,
    check_vector,
)
from ragmend.analysis.statistics.intervals import Interval, multiplicities, percentile_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Area(NamedTuple):
    """An area under the ROC curve; its interval is None where it cannot be had."""

    area: float
    interval: Interval | None


def area_under_curve(
    positive_C: ArrayLike,
    score_C: ArrayLike,
    cluster_C: ArrayLike,
    *,
    n_resamples: int = 10_000,
    seed: int = 42,
    confidence: float = 0.95,
) -> Area | None:
    """Return the area under the ROC curve with a percentile interval over whole clusters.

    The area is the share of pairs of a positive and a negative in which the positive scores
    higher, ties counting half. Clusters (sources) are drawn with all their units.

    Args:
        positive_C: Whether each unit is positive.
        score_C: Its finite score; higher means more likely positive.
        cluster_C: Names of the clusters.
        n_resamples: Number of resamples.
        seed: Seed of the resampling stream.
        confidence: Level of the interval.

    Returns:
        None without units of both kinds. The interval is None with fewer than two clusters, or
        where a resample has units of one kind only.

    Raises:
        StatisticsError: A score is not finite, a label is not 0 or 1, a cluster is missing, the
            lengths differ, or the bootstrap or the level is out of range.

    Source: Hanley and McNeil 1982, Radiology 143(1), 29-36 (area and Wilcoxon statistic);
        Davison and Hinkley 1997, section 3.8 (resampling of clusters).
    """
    positive, score = check_units(positive_C, score_C)
    clusters = check_sources(cluster_C, "cluster_C", n=len(score))
    n_resamples, seed = check_resamples(n_resamples), check_seed(seed)
    confidence = check_level(confidence)
    names, cluster = np.unique(clusters, return_inverse=True)
    if positive.all() or not positive.any():
        return None
    wins_GG = _wins(positive, score, cluster, len(names))
    positive_G = np.bincount(cluster[positive], minlength=len(names)).astype(np.float64)
    negative_G = np.bincount(cluster[~positive], minlength=len(names)).astype(np.float64)
    area = float(wins_GG.sum() / (positive_G.sum() * negative_G.sum()))
    if len(names) < 2:
        return Area(area, None)
    areas_B = np.concatenate(
        [
            _areas(counts_BG, wins_GG, positive_G, negative_G)
            for counts_BG in multiplicities(len(names), n_resamples, seed)
        ]
    )
    if not np.isfinite(areas_B).all():
        return Area(area, None)
    return Area(area, percentile_interval(areas_B, confidence=confidence))


def check_units(
    positive_C: ArrayLike, score_C: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which units are positive and all scores, once both are known to be fit for an area.

    Raises:
        StatisticsError: A score is not finite, a label is not 0 or 1, or the lengths differ.
    """
    labels = check_labels(positive_C, "positive_C")
    score = check_vector(score_C, "score_C", kind="number")
    check_lengths(positive_C=labels, score_C=score)
    return labels == 1, score


def _wins(
    positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    cluster: NDArray[np.intp],
    n_clusters: int,
) -> NDArray[np.float64]:
    """Return how often a positive of one cluster beats a negative of another, ties half.

    All pairs are counted by position in the sorted negatives of each cluster, so that memory
    is clusters squared and not pairs of units.
    """
    wins_GG = np.zeros((n_clusters, n_clusters))
    order = np.argsort(cluster[positive], kind="stable")
    winners, owners = score[positive][order], cluster[positive][order]
    for loser in range(n_clusters):
        negatives = np.sort(score[~positive & (cluster == loser)])
        beaten = np.searchsorted(negatives, winners, side="left")
        not_above = np.searchsorted(negatives, winners, side="right")
        wins_GG[:, loser] = np.bincount(owners, (beaten + not_above) / 2, minlength=n_clusters)
    return wins_GG


def _areas(
    counts_BG: NDArray[np.float64],
    wins_GG: NDArray[np.float64],
    positive_G: NDArray[np.float64],
    negative_G: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the area in each resample, NaN where it has units of one kind only."""
    wins_B = ((counts_BG @ wins_GG) * counts_BG).sum(axis=1)
    pairs_B = (counts_BG @ positive_G) * (counts_BG @ negative_G)
    areas_B = np.full(len(pairs_B), np.nan)
    np.divide(wins_B, pairs_B, out=areas_B, where=pairs_B > 0)
    return areas_B
