"""The bootstrap of a paired difference without Monte Carlo error: infinitely many resamples.

A resample of n records is n independent draws of −1, 0 or +1, so the distribution of its
difference is known: the n-fold convolution of one draw, had by one Fourier transform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_level, check_paired_counts
from ragmend.analysis.statistics.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Probabilities come out of the transform with errors of about 1e-15 · n: a tail that equals
# its level to within this much counts as equal.
_TIE = 1e-12


class Distribution(NamedTuple):
    """Net changes of a resample that can matter, and the probability of each."""

    changes_K: NDArray[np.int64]  # noqa: N815
    """Records that turn from 0 to 1, less those that turn from 1 to 0; ascending."""
    p_K: NDArray[np.float64]  # noqa: N815
    """Sums to one; what is left out has less than 1e-19 together."""


def exact_bootstrap_distribution(b: int, c: int, n: int) -> Distribution:
    """Return the bootstrap distribution of the net change c − b among n records.

    It is the inverse transform of φ(t)ⁿ, φ(t) = 1 − (b + c)/n + (b e^(−it) + c e^(it))/n,
    taken over a window around the mean: the cost grows with the standard deviation, not n.

    Args:
        b: Records labelled 1, then 0.
        c: Records labelled 0, then 1.
        n: All records.

    Raises:
        StatisticsError: The counts are negative, or more than n, or n is not positive.

    Source: Efron 1979, Annals of Statistics 7(1), 1-26, method 1 (the exact bootstrap
        distribution where it can be had); Bernstein's inequality for the window.
    """
    from scipy.fft import fft, next_fast_len

    b, c, n = check_paired_counts(b, c, n)
    # By Bernstein P(|S − mean| > w) < 2e-19 for this w, whatever the standard deviation.
    half_width = min(2 * n, 60 + int(10 * np.sqrt(b + c)))
    size = int(next_fast_len(2 * half_width + 1))
    t_K = 2 * np.pi * np.arange(size) / size
    phi_K = 1 - (b + c) / n + (b * np.exp(-1j * t_K) + c * np.exp(1j * t_K)) / n
    changes_K = c - b + np.arange(-half_width, half_width + 1)
    p_K = (fft(phi_K**n).real / size)[changes_K % size]
    p_K = np.where(np.abs(changes_K) <= n, p_K, 0.0).clip(0.0)
    return Distribution(changes_K, p_K / p_K.sum())


def exact_bootstrap_interval(b: int, c: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Return the percentile bootstrap interval of (c − b)/n as resamples go to infinity.

    Its ends are the least and the greatest difference whose tail, itself included, has at
    least half of the remaining probability. Without a discordant pair both are 0.

    Args:
        b: Records labelled 1, then 0.
        c: Records labelled 0, then 1.
        n: All records.
        confidence: Level of the interval.

    Returns:
        The interval as proportions, within [-1, 1].

    Raises:
        StatisticsError: The counts are negative, or more than n, or n is not positive; or the
            level is out of range.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 13.3
        (percentile interval), of the distribution of `exact_bootstrap_distribution`.
    """
    b, c, n = check_paired_counts(b, c, n)
    confidence = check_level(confidence)
    changes_K, p_K = exact_bootstrap_distribution(b, c, n)
    tail = (1 - confidence) / 2 - _TIE
    low = changes_K[np.argmax(np.cumsum(p_K) >= tail)]
    high = changes_K[::-1][np.argmax(np.cumsum(p_K[::-1]) >= tail)]
    return Interval(int(low) / n, int(high) / n)
