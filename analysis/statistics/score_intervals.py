"""Intervals of a paired difference that hold in small groups: Tango's and Newcombe's.

Both keep their level where few records change, and have a width where none does.
"""

from __future__ import annotations

import math
from functools import partial

from ragmend.analysis.statistics.checks import check_count, check_level, check_paired_counts
from ragmend.analysis.statistics.intervals import Interval, normal_quantile, wilson_interval
from ragmend.errors import StatisticsError


def tango_interval(b: int, c: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Return Tango's score interval of the difference (c − b)/n of paired proportions.

    Its ends are the differences δ at which (c − b − nδ)² = z² · n(2p + δ(1 − δ)), where p,
    the probability of a change from 1 to 0, is its maximum likelihood estimate given δ.

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

    Source: Tango 1998, Statistics in Medicine 17, 891-908.
    """
    from scipy.optimize import brentq

    b, c, n = check_paired_counts(b, c, n)
    z = normal_quantile(check_level(confidence))
    reach = z * z / (n + z * z)
    if b == c == 0:
        return Interval(-reach, reach)
    # All records change alike: the estimate is an end, and the equation has it as a false root.
    if c == n:
        return Interval(1 - 2 * reach, 1.0)
    if b == n:
        return Interval(-1.0, 2 * reach - 1)
    estimate = (c - b) / n
    excess = partial(_score_excess, b=b, c=c, n=n, z=z)
    ends = [brentq(excess, end, estimate, xtol=1e-14) for end in (-1.0, 1.0)]
    return Interval(*map(float, ends))


def newcombe_paired_interval(
    both: int, b: int, c: int, neither: int, *, confidence: float = 0.95
) -> Interval:
    """Return Newcombe's hybrid score interval of the difference (c − b)/n, his method 10.

    Wilson's intervals of the two rates are combined by their distances from the rates, less
    what the rates' correlation φ takes off, φ with a continuity correction where positive.

    Args:
        both: Records labelled 1 in both conditions.
        b: Records labelled 1, then 0.
        c: Records labelled 0, then 1.
        neither: Records labelled 0 in both.
        confidence: Level of the interval.

    Returns:
        The interval as proportions, within [-1, 1].

    Raises:
        StatisticsError: A count is negative, or all are 0; or the level is out of range.

    Source: Newcombe 1998, Statistics in Medicine 17, 2635-2650, method 10.
    """
    both, b, c, neither = (
        check_count(count, name)
        for name, count in {"both": both, "b": b, "c": c, "neither": neither}.items()
    )
    confidence = check_level(confidence)
    n = both + b + c + neither
    if n == 0:
        raise StatisticsError("a paired table needs at least one record, got counts of 0 alone")
    rate_a, rate_b = (both + b) / n, (both + c) / n
    a_low, a_high = wilson_interval(both + b, n, confidence=confidence)
    b_low, b_high = wilson_interval(both + c, n, confidence=confidence)
    phi = _corrected_phi(both, b, c, neither)
    down = _combine(rate_b - b_low, a_high - rate_a, phi)
    up = _combine(b_high - rate_b, rate_a - a_low, phi)
    difference = (c - b) / n
    return Interval(max(-1.0, difference - down), min(1.0, difference + up))


def _score_excess(delta: float, *, b: int, c: int, n: int, z: float) -> float:
    """Return by how much the squared score at a difference exceeds its limit, times n."""
    linear = (2 * n + b - c) * delta - b - c
    p = (math.sqrt(linear**2 + 8 * n * b * delta * (1 - delta)) - linear) / (4 * n)
    return (c - b - n * delta) ** 2 - z * z * n * (2 * p + delta * (1 - delta))


def _corrected_phi(both: int, b: int, c: int, neither: int) -> float:
    """Return the correlation of the two labels, its numerator brought nearer 0 by n/2."""
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    if margins == 0:
        return 0.0
    product = float(both * neither - b * c)
    if product > 0:
        product = max(0.0, product - (both + b + c + neither) / 2)
    return product / math.sqrt(margins)


def _combine(one: float, other: float, phi: float) -> float:
    # Rounding may leave a square of -1e-18 where both distances are equal and phi is 1.
    return math.sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))
