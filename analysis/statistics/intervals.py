"""Intervals: the percentile bootstrap over records or clusters, Wilson's for a single rate.

One seed and one number of records always give the same resamples, so one stream of
multiplicities (how often each record was drawn) serves every statistic on those records.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import (
    check_count,
    check_level,
    check_matrix,
    check_resamples,
    check_seed,
    check_vector,
)
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CELLS_PER_BATCH = 1_000_000  # about 16 MB of indices and multiplicities at a time
_CELLS_KEPT = 10_000_000  # a draw of fewer is kept, in 20 MB at most
_WHOLE_IN_SINGLE = 2**24  # float32 adds whole numbers below it exactly, in half the time


class Interval(NamedTuple):
    """A confidence interval, both ends included."""

    low: float
    high: float


def bootstrap_means(values_RS: ArrayLike, *, n_resamples: int, seed: int) -> NDArray[np.float64]:
    """Return the mean of every statistic in every bootstrap resample of the records.

    The resamples are the rows of `default_rng(seed).integers(0, n, (n_resamples, n))`,
    drawn in batches from that one stream.

    Args:
        values_RS: Finite values, records × statistics; records in their canonical order
            (by record id), so that the result does not depend on the order of the input.
        n_resamples: Number of resamples (B).
        seed: Seed of the stream.

    Returns:
        means_BS, resamples × statistics.

    Raises:
        StatisticsError: There is no record or statistic, a value is not finite, or the number
            of resamples or the seed is out of range.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    values = check_matrix(values_RS, "values_RS", kind="number")
    n_resamples, seed = check_resamples(n_resamples), check_seed(seed)
    if _sums_fit_single(values):
        values = values.astype(np.float32)
    draws = multiplicities(len(values), n_resamples, seed)
    with threadpool_limits(1):
        sums = [counts_BR.astype(values.dtype, copy=False) @ values for counts_BR in draws]
    return np.concatenate(sums).astype(np.float64) / len(values)


def percentile_interval(samples_B: NDArray[np.float64], *, confidence: float) -> Interval:
    """Return the central percentiles of bootstrap samples (linear interpolation)."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples_B, [tail, 1 - tail])
    return Interval(float(low), float(high))


def bootstrap_mean_interval(
    values_R: ArrayLike, *, n_resamples: int = 10_000, seed: int = 42, confidence: float = 0.95
) -> Interval:
    """Return the percentile bootstrap interval of a mean over records.

    Args:
        values_R: One finite value a record, records in their canonical order.
        n_resamples: Number of resamples.
        seed: Seed of the resampling stream.
        confidence: Level of the interval.

    Raises:
        StatisticsError: There is no record, or an argument is out of range.
    """
    values = check_vector(values_R, "values_R", kind="number", least=1)
    confidence = check_level(confidence)
    means_BS = bootstrap_means(values[:, None], n_resamples=n_resamples, seed=seed)
    return percentile_interval(means_BS[:, 0], confidence=confidence)


def cluster_share_intervals(
    parts_GS: ArrayLike,
    wholes_G: ArrayLike,
    *,
    n_resamples: int = 10_000,
    seed: int = 42,
    confidence: float = 0.95,
) -> list[Interval] | None:
    """Return percentile bootstrap intervals of shares whose units come in clusters.

    Whole clusters are drawn, so that units of one cluster may be as alike as they are; a share
    is the drawn clusters' parts over their wholes.

    Args:
        parts_GS: How many units of each cluster count for each share, clusters × shares;
            clusters in their canonical order.
        wholes_G: How many units each cluster has, at least 1.
        n_resamples: Number of resamples.
        seed: Seed of the resampling stream.
        confidence: Level of the intervals.

    Returns:
        One interval a share, as proportions; None with fewer than two clusters, from which
        nothing can be learnt about how clusters differ.

    Raises:
        StatisticsError: A cluster has no unit, or a value is not finite.

    Source: Davison and Hinkley 1997, Bootstrap Methods and Their Application, section 3.8
    (its first strategy: clusters are drawn, units within them are not).
    """
    wholes = check_vector(wholes_G, "wholes_G", kind="number")
    n_resamples, seed = check_resamples(n_resamples), check_seed(seed)
    confidence = check_level(confidence)
    if (wholes < 1).any():
        raise StatisticsError("a cluster bootstrap needs clusters with at least one unit each")
    if len(wholes) < 2:
        return None
    sums_GS = np.column_stack([check_matrix(parts_GS, "parts_GS", kind="number"), wholes])
    means_BS = bootstrap_means(sums_GS, n_resamples=n_resamples, seed=seed)
    shares_BS = means_BS[:, :-1] / means_BS[:, -1:]
    return [percentile_interval(shares_B, confidence=confidence) for shares_B in shares_BS.T]


def wilson_interval(count: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of the rate count / n, within [0, 1].

    Raises:
        StatisticsError: A count is none, or more than n; n is 0; or the level is out of range.

    Source: Wilson 1927, JASA 22(158), 209-212.
    """
    from statsmodels.stats.proportion import proportion_confint

    count, n = check_count(count, "count"), check_count(n, "n", least=1)
    confidence = check_level(confidence)
    if count > n:
        raise StatisticsError(f"a rate needs count <= n, got {count} of {n}")
    low, high = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
    return Interval(float(low), float(high))


def normal_quantile(confidence: float) -> float:
    """Return how many standard deviations a central normal interval reaches to each side."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def multiplicities(n: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield, batch by batch, how often each of n units is drawn in each resample.

    Every statistic on the same records starts the same stream, so that small draws are kept.
    """
    if n * n_resamples > _CELLS_KEPT or n > np.iinfo(np.uint16).max:
        for counts_BR in _draw(n, n_resamples, seed):
            yield counts_BR.astype(np.float64)
        return
    kept_BR = _kept_draw(n, n_resamples, seed)
    size = max(1, _CELLS_PER_BATCH // n)
    for start in range(0, n_resamples, size):
        yield kept_BR[start : start + size].astype(np.float64)


def forget_draws() -> None:
    """Drop the kept draws, so that the next statistic pays for its own; for measurements."""
    _kept_draw.cache_clear()


@lru_cache(maxsize=8)
def _kept_draw(n: int, n_resamples: int, seed: int) -> NDArray[np.uint16]:
    """Return a whole draw in little room; a unit is drawn n times at most."""
    return np.concatenate([part.astype(np.uint16) for part in _draw(n, n_resamples, seed)])


def _draw(n: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.intp]]:
    stream = np.random.default_rng(seed)
    size = max(1, _CELLS_PER_BATCH // n)
    for start in range(0, n_resamples, size):
        rows = min(size, n_resamples - start)
        cells_BR = stream.integers(0, n, (rows, n))
        cells_BR += n * np.arange(rows)[:, None]
        yield np.bincount(cells_BR.ravel(), minlength=rows * n).reshape(rows, n)


def _sums_fit_single(values_RS: NDArray[np.float64]) -> bool:
    """Return whether sums over any resample are whole numbers that single precision holds."""
    is_whole = bool((values_RS == np.rint(values_RS)).all())
    return is_whole and len(values_RS) * float(np.abs(values_RS).max()) < _WHOLE_IN_SINGLE
