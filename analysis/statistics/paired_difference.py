"""Two conditions on the same records: every interval and the exact test of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.settings import Settings
from ragmend.analysis.statistics.checks import check_labels, check_lengths, check_sources
from ragmend.analysis.statistics.clusters import cluster_effects, cluster_mean_intervals
from ragmend.analysis.statistics.exact_bootstrap import exact_bootstrap_interval
from ragmend.analysis.statistics.intervals import Interval, bootstrap_means, percentile_interval
from ragmend.analysis.statistics.mcnemar import exact_mcnemar
from ragmend.analysis.statistics.score_intervals import tango_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class PairedDifference(NamedTuple):
    """A comparison of two conditions, B minus A.

    Rates are proportions; the difference and its intervals are percentage points.
    """

    n: int
    rate_a: Fraction
    rate_b: Fraction
    b: int
    """Records labelled 1 in A and 0 in B."""
    c: int
    """Records labelled 0 in A and 1 in B."""
    diff_pp: Fraction
    ci_low: float
    """The percentile bootstrap over records, as published."""
    ci_high: float
    ci_exact_low: float
    """The same with infinitely many resamples."""
    ci_exact_high: float
    ci_cluster_low: float | None
    """The percentile bootstrap over sources; None without sources, or with one."""
    ci_cluster_high: float | None
    ci_tango_low: float
    """Tango's score interval, which keeps its level in small groups."""
    ci_tango_high: float
    p_exact: float
    log10_p: float
    deff: float | None
    """Design effect of the sources; None without sources, or where nothing varies."""


class _Intervals(NamedTuple):
    """What is had for all differences at once, on one draw of records and one of sources."""

    percentile_S: list[Interval]  # noqa: N815
    cluster_S: Sequence[Interval | None]  # noqa: N815
    deff_S: Sequence[float | None]  # noqa: N815


def compare_paired(
    labels_a_R: ArrayLike,
    labels_b_R: ArrayLike,
    *,
    sources_R: ArrayLike | None = None,
    settings: Settings | None = None,
) -> PairedDifference:
    """Compare the labels of the same records in two conditions.

    Args:
        labels_a_R: 0 or 1 in condition A; records in their canonical order (by record id).
        labels_b_R: 0 or 1 in condition B, of the same records.
        sources_R: Name of each record's source; None: unknown.
        settings: Bootstrap and level; None: the paper's.

    Raises:
        StatisticsError: There is no record, a label is not 0 or 1, a source is missing, or the
            lengths differ.
    """
    a_R = check_labels(labels_a_R, "labels_a_R", least=1)
    b_R = check_labels(labels_b_R, "labels_b_R", least=1)
    check_lengths(labels_a_R=a_R, labels_b_R=b_R)
    sources = None if sources_R is None else check_sources(sources_R, "sources_R", n=len(a_R))
    (difference,) = compare_all(
        a_R[:, None], b_R[:, None], sources_R=sources, settings=settings or Settings()
    )
    return difference


def compare_all(
    a_RS: NDArray[np.int64],
    b_RS: NDArray[np.int64],
    *,
    sources_R: NDArray[np.str_] | None,
    settings: Settings,
) -> list[PairedDifference]:
    """Compare many pairs of conditions on the same records, all on the same resamples.

    Args:
        a_RS: Labels 0 or 1 in each pair's condition A, records × pairs.
        b_RS: Labels in each pair's condition B.
        sources_R: Name of each record's source; None: unknown.
        settings: Bootstrap and level.

    Raises:
        StatisticsError: There is no record, or not one source a record.
    """
    percentile_S, cluster_S, deff_S = _intervals(b_RS - a_RS, sources_R, settings)
    return [
        _difference(a_R, b_R, percentile, cluster, deff, settings.confidence)
        for a_R, b_R, percentile, cluster, deff in zip(
            a_RS.T, b_RS.T, percentile_S, cluster_S, deff_S, strict=True
        )
    ]


def _intervals(
    differences_RS: NDArray[np.int64], sources_R: NDArray[np.str_] | None, settings: Settings
) -> _Intervals:
    draw = {"n_resamples": settings.n_resamples, "seed": settings.seed}
    means_BS = bootstrap_means(differences_RS, **draw)
    percentile_S = [
        percentile_interval(100 * means_B, confidence=settings.confidence) for means_B in means_BS.T
    ]
    undefined: list[None] = [None] * len(percentile_S)
    if sources_R is None:
        return _Intervals(percentile_S, undefined, undefined)
    cluster_S = cluster_mean_intervals(
        differences_RS, sources_R, confidence=settings.confidence, **draw
    )
    effects = cluster_effects(differences_RS, sources_R)
    if cluster_S is None or effects is None:
        return _Intervals(percentile_S, undefined, undefined)
    return _Intervals(percentile_S, cluster_S, [effect.deff for effect in effects])


def _difference(
    a_R: NDArray[np.int64],
    b_R: NDArray[np.int64],
    percentile: Interval,
    cluster: Interval | None,
    deff: float | None,
    confidence: float,
) -> PairedDifference:
    n, n_a, n_b = len(a_R), int(a_R.sum()), int(b_R.sum())
    b, c = int((a_R > b_R).sum()), int((a_R < b_R).sum())
    exact = exact_bootstrap_interval(b, c, n, confidence=confidence)
    tango = tango_interval(b, c, n, confidence=confidence)
    test = exact_mcnemar(b, c)
    return PairedDifference(
        n=n,
        rate_a=Fraction(n_a, n),
        rate_b=Fraction(n_b, n),
        b=b,
        c=c,
        diff_pp=Fraction(100 * (n_b - n_a), n),
        ci_low=percentile.low,
        ci_high=percentile.high,
        ci_exact_low=100 * exact.low,
        ci_exact_high=100 * exact.high,
        ci_cluster_low=None if cluster is None else 100 * cluster.low,
        ci_cluster_high=None if cluster is None else 100 * cluster.high,
        ci_tango_low=100 * tango.low,
        ci_tango_high=100 * tango.high,
        p_exact=test.p,
        log10_p=test.log10_p,
        deff=deff,
    )
