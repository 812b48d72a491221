"""How much of a text is left: mean ratios of lengths, with intervals over records and sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.statistics.checks import check_level, check_matrix, check_sources
from ragmend.analysis.statistics.clusters import cluster_mean_intervals
from ragmend.analysis.statistics.intervals import Interval, bootstrap_means, percentile_interval
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Retention(NamedTuple):
    """A mean ratio and its intervals, all in percent."""

    mean: float
    interval: Interval
    """Percentile bootstrap over records."""
    cluster: Interval | None
    """Percentile bootstrap over whole sources; None where they are unknown, or only one."""


def text_retention(
    ratio_RS: ArrayLike,
    *,
    sources_R: Sequence[str] | None = None,
    n_resamples: int = 10_000,
    seed: int = 42,
    confidence: float = 0.95,
) -> list[Retention]:
    """Return the mean over records of repaired over original length, for several repairs at once.

    A ratio above 1 counts as it is. All repairs share the resamples. Over sources, the mean of a
    resample is the sum of the drawn sources' ratios over the number of their records, so that
    every record weighs alike.

    Args:
        ratio_RS: Repaired over original length, at least 0, records × repairs; records in their
            canonical order (by record id).
        sources_R: Name of each record's source; None: unknown.
        n_resamples: Number of resamples.
        seed: Seed of either resampling stream.
        confidence: Level of the intervals.

    Returns:
        One retention a repair.

    Raises:
        StatisticsError: There is no record, a ratio is negative or not finite, or there is not
            one source a record.

    Source: arXiv 2608.29307, Table 3 (over records); Davison and Hinkley 1997, Bootstrap Methods
    and Their Application, section 3.8 (over sources).
    """
    percent_RS = 100 * check_matrix(ratio_RS, "ratio_RS", kind="number")
    confidence = check_level(confidence)
    if (percent_RS < 0).any():
        raise StatisticsError("ratio_RS: retention needs ratios of at least 0")
    means_BS = bootstrap_means(percent_RS, n_resamples=n_resamples, seed=seed)
    clusters: Sequence[Interval | None] | None = None
    if sources_R is not None:
        sources = check_sources(sources_R, "sources_R", n=len(percent_RS))
        clusters = cluster_mean_intervals(
            percent_RS, sources, n_resamples=n_resamples, seed=seed, confidence=confidence
        )
    return [
        Retention(float(percent_R.mean()), percentile_interval(means_B, confidence=confidence), own)
        for percent_R, means_B, own in zip(
            percent_RS.T, means_BS.T, clusters or [None] * percent_RS.shape[1], strict=True
        )
    ]
