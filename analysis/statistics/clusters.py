"""Records that share a source are not independent: how much wider that makes a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_matrix, check_sources
from ragmend.analysis.statistics.intervals import Interval, cluster_share_intervals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_NORMAL_95 = 1.959963984540054
_ROUNDING = 1e-12  # sums that cancel leave a variance of about 1e-32 and not 0

FEWEST_SOURCES = 10
"""With fewer sources nothing is concluded from how they differ."""


class ClusterEffect(NamedTuple):
    """What clustering does to the mean of a value; None where it is undefined."""

    icc: float | None
    """Intraclass correlation; below 0 where records of one source differ more than others.
    None: all values are equal, or no source has two records."""
    deff: float | None
    """Design effect. None: all values are equal, so that nothing varies."""
    deff_critical: float | None
    """The design effect at which the mean stops differing from 0 at the 5 % level."""
    p_wald: float | None
    """Two-sided p of the mean against 0, records independent; normal."""
    p_cluster: float | None
    """The same, sources independent and records of one source not; Student's t with G − 1
    degrees of freedom. None: all values are equal, or every source has the same mean."""


class _Clusters(NamedTuple):
    """How many records each source has, and the place of each record's source."""

    sizes_G: NDArray[np.int64]  # noqa: N815
    of_record_R: NDArray[np.intp]  # noqa: N815


def cluster_effects(values_RS: ArrayLike, sources_R: ArrayLike) -> list[ClusterEffect] | None:
    """Return the effect of clustering on the mean of each statistic.

    Args:
        values_RS: Finite values, records × statistics, as differences of two labels.
        sources_R: Name of each record's source.

    Returns:
        One effect a statistic; None with fewer than two sources.

    Raises:
        StatisticsError: A value is not finite, a source is missing, or the lengths differ.

    Source: with e = x − mean, n records in G sources, and sums over records (i) or sources (g):
        deff = [G/(G − 1) · Σ_g (Σ_i e)²] / [n/(n − 1) · Σ_i e²], the variance of the mean with
        sources drawn over that with records drawn (Kish 1965, Survey Sampling, section 8.2;
        Liang and Zeger 1986, Biometrika 73, 13-22; Cameron and Miller 2015, Journal of Human
        Resources 50, 317-372, for G/(G − 1) and for Student's t with G − 1 degrees of freedom,
        with which p_cluster is still too small where few sources vary or their sizes differ
        much). ICC: the estimator of one-way analysis of variance (Donner 1986, International
        Statistical Review 54, 67-82).
    """
    values, clusters = _validated(values_RS, sources_R)
    if len(clusters.sizes_G) < 2:
        return None
    return [_effect(values_R, clusters) for values_R in values.T]


def cluster_mean_intervals(
    values_RS: ArrayLike,
    sources_R: ArrayLike,
    *,
    n_resamples: int = 10_000,
    seed: int = 42,
    confidence: float = 0.95,
) -> list[Interval] | None:
    """Return percentile intervals of means, whole sources drawn, all on the same draw.

    Args:
        values_RS: Finite values, records × statistics.
        sources_R: Name of each record's source; sources are drawn in the order of their names.
        n_resamples: Number of resamples.
        seed: Seed of the resampling stream.
        confidence: Level of the intervals.

    Returns:
        One interval a statistic; None with fewer than two sources.

    Raises:
        StatisticsError: A value is not finite, a source is missing, or the lengths differ.

    Source: Davison and Hinkley 1997, Bootstrap Methods and Their Application, section 3.8.
    """
    values, clusters = _validated(values_RS, sources_R)
    return cluster_share_intervals(
        np.column_stack([_sum_by_source(values_R, clusters) for values_R in values.T]),
        clusters.sizes_G,
        n_resamples=n_resamples,
        seed=seed,
        confidence=confidence,
    )


def fewest_sources(sources_U: Sequence[object], groups_U: Sequence[object] | None = None) -> int:
    """Return the fewest sources that any group with an interval by source has.

    Args:
        sources_U: Source of each unit.
        groups_U: Group of each unit; None: all are one group.

    Returns:
        At least 2; 0 where no group has two sources, so that there is no interval.
    """
    of_group: dict[object, set[object]] = {}
    for source, group in zip(sources_U, groups_U or [None] * len(sources_U), strict=True):
        of_group.setdefault(group, set()).add(source)
    return min((len(found) for found in of_group.values() if len(found) > 1), default=0)


def _validated(values_RS: ArrayLike, sources_R: ArrayLike) -> tuple[NDArray[np.float64], _Clusters]:
    values = check_matrix(values_RS, "values_RS", kind="number")
    sources = check_sources(sources_R, "sources_R", n=len(values))
    _, of_record_R, sizes_G = np.unique(sources, return_inverse=True, return_counts=True)
    return values, _Clusters(sizes_G.astype(np.int64), of_record_R)


def _sum_by_source(values_R: NDArray[np.float64], clusters: _Clusters) -> NDArray[np.float64]:
    sums_G = np.bincount(clusters.of_record_R, values_R, minlength=len(clusters.sizes_G))
    return sums_G.astype(np.float64)


def _effect(values_R: NDArray[np.float64], clusters: _Clusters) -> ClusterEffect:
    if np.ptp(values_R) == 0:
        return ClusterEffect(None, None, None, None, None)
    n, n_sources = len(values_R), len(clusters.sizes_G)
    mean = float(values_R.mean())
    residuals_R = values_R - mean
    sums_G = _sum_by_source(residuals_R, clusters)
    total = float((residuals_R**2).sum())
    independent = total / (n * (n - 1))
    clustered = float((sums_G**2).sum()) * n_sources / ((n_sources - 1) * n**2)
    if clustered <= _ROUNDING * independent:
        clustered = 0.0
    return ClusterEffect(
        icc=_intraclass_correlation(total, sums_G, clusters.sizes_G),
        deff=clustered / independent,
        deff_critical=mean**2 / independent / _NORMAL_95**2,
        p_wald=_normal_p(mean, independent),
        p_cluster=_student_p(mean, clustered, n_sources - 1) if clustered else None,
    )


def _intraclass_correlation(
    total: float, sums_G: NDArray[np.float64], sizes_G: NDArray[np.int64]
) -> float | None:
    """Return (MSB − MSW) / (MSB + (m − 1) MSW), m the mean size less its spread."""
    n, n_sources = int(sizes_G.sum()), len(sizes_G)
    if n == n_sources:
        return None
    between = float((sums_G**2 / sizes_G).sum())
    between_mean = between / (n_sources - 1)
    within_mean = max(0.0, total - between) / (n - n_sources)
    m = (n - float((sizes_G**2).sum()) / n) / (n_sources - 1)
    return (between_mean - within_mean) / (between_mean + (m - 1) * within_mean)


def _normal_p(mean: float, variance: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(mean) / math.sqrt(variance)))


def _student_p(mean: float, variance: float, df: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(mean) / math.sqrt(variance)))
