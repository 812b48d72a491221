"""Krippendorff's α of all judges at once, with a bootstrap interval.

For complete 0/1 labels α needs three sums over the records alone: how many labels are 1, how many
are 0, and how many pairs of labels within a record differ. A resample therefore costs three sums,
never a new count of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragmend.analysis.statistics.agreement import EQUAL_ENDS, ONE_SOURCE, ROUNDING
from ragmend.analysis.statistics.checks import (
    check_level,
    check_matrix,
    check_resamples,
    check_seed,
)
from ragmend.analysis.statistics.intervals import bootstrap_means, percentile_interval
from ragmend.analysis.statistics.rater_labels import source_members
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ALL_ALIKE = "every label is the same"


class Alpha(NamedTuple):
    """Krippendorff's α; what is undefined is None, and `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None


def krippendorff_alpha(
    labels_RJ: ArrayLike,
    *,
    sources_R: Sequence[object] | None = None,
    n_resamples: int = 10_000,
    seed: int = 42,
    confidence: float = 0.95,
) -> Alpha:
    """Return Krippendorff's nominal α of several judges' labels, with a percentile interval.

    Args:
        labels_RJ: 0 or 1, records × judges, complete; records in their canonical order (by id).
        sources_R: Source of each record: whole sources are resampled. None: records are.
        n_resamples: Number of resamples.
        seed: Seed of the resampling stream.
        confidence: Level of the interval.

    Raises:
        StatisticsError: There are fewer than two judges or no record, a label is not 0 or 1, or
            a source is missing; or the bootstrap or the level is out of range.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, University of
    Pennsylvania: α = 1 - D_o / D_e. With N labels, N₁ and N₀ of them 1 and 0, and in record u
    k of J labels 1: α = 1 - (N - 1) Σ_u k(J - k) / (J - 1) / (N₁ N₀).
    """
    labels = check_matrix(labels_RJ, "labels_RJ", kind="label", least_columns=2).astype(np.int64)
    (alpha,) = krippendorff_alphas(
        labels[:, :, None],
        sources_R=sources_R,
        n_resamples=check_resamples(n_resamples),
        seed=check_seed(seed),
        confidence=check_level(confidence),
    )
    return alpha


def krippendorff_alphas(
    labels_RJC: NDArray[np.int64],
    *,
    sources_R: Sequence[object] | None,
    n_resamples: int,
    seed: int,
    confidence: float,
) -> list[Alpha]:
    """Return α of each condition as `krippendorff_alpha` does, all on the same resamples."""
    n_records, n_judges, _ = labels_RJC.shape
    if n_judges < 2:
        raise StatisticsError("Krippendorff's alpha needs at least two judges")
    ones_RC = labels_RJC.sum(axis=1)
    zeros_RC = n_judges - ones_RC
    sums_US = np.column_stack([ones_RC, zeros_RC, ones_RC * zeros_RC])
    if sources_R is not None:
        sums_US = source_members(sources_R, n_records) @ sums_US
    values = [_alpha(sums_3, n_judges) for sums_3 in _by_condition(sums_US.sum(axis=0))]
    n_units = len(sums_US)
    if n_units < 2:
        reason = "one record gives no interval" if sources_R is None else ONE_SOURCE
        return [
            Alpha(value, None, None, _ALL_ALIKE if value is None else reason) for value in values
        ]
    sums_BS = n_units * bootstrap_means(sums_US, n_resamples=n_resamples, seed=seed)
    return [
        _with_interval(value, sums_3B, n_judges, confidence)
        for value, sums_3B in zip(values, _by_condition(sums_BS.T), strict=True)
    ]


def _by_condition(sums_S: NDArray[Any]) -> NDArray[Any]:
    """Split the first axis, statistic by condition, and put conditions first."""
    return sums_S.reshape(3, -1, *sums_S.shape[1:]).swapaxes(0, 1)


def _alpha(sums_3: NDArray[Any], n_judges: int) -> float | None:
    ones, zeros, differing = map(int, sums_3)
    if not ones or not zeros:
        return None
    return float(1 - Fraction((ones + zeros - 1) * differing, (n_judges - 1) * ones * zeros))


def _with_interval(
    value: float | None, sums_3B: NDArray[np.float64], n_judges: int, confidence: float
) -> Alpha:
    if value is None:
        return Alpha(None, None, None, _ALL_ALIKE)
    ones_B, zeros_B, differing_B = sums_3B
    # A sum without a label of one kind is exactly 0, however the others are rounded.
    n_alike = int(((ones_B == 0) | (zeros_B == 0)).sum())
    if n_alike:
        reason = f"no interval: in {n_alike} of {len(ones_B)} resamples {_ALL_ALIKE}"
        return Alpha(value, None, None, reason)
    expected_B = (n_judges - 1) * ones_B * zeros_B
    alphas_B = 1 - (ones_B + zeros_B - 1) * differing_B / expected_B
    low, high = percentile_interval(alphas_B, confidence=confidence)
    if high - low < ROUNDING:
        return Alpha(value, None, None, EQUAL_ENDS)
    return Alpha(value, low, high, None)
