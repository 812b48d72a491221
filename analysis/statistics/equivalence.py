"""Not significant is not equal: equivalence of paired rates, and what could have been detected."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from ragmend.analysis.settings import SIGNIFICANCE_LEVEL
from ragmend.analysis.statistics.checks import (
    check_count,
    check_level,
    check_number,
    check_paired_counts,
)
from ragmend.analysis.statistics.intervals import Interval
from ragmend.analysis.statistics.score_intervals import tango_interval
from ragmend.errors import StatisticsError

Verdict = Literal["different", "different but within the margin", "equivalent", "undecided"]

_LEAST_DISCORDANT = 6  # five changes to none still have the exact p-value .0625


class Equivalence(NamedTuple):
    """Two one-sided tests against a margin, and the interval that they invert, in points."""

    p: float
    interval: Interval
    """At level 1 − 2 · 5 %: inside ± the margin exactly where p < 5 %."""


def paired_equivalence(b: int, c: int, n: int, *, margin_pp: float) -> Equivalence:
    """Test whether two conditions' rates differ by less than a margin on the same records.

    Two one-sided tests (of −margin and of +margin), each by the score statistic whose variance
    is estimated under its own null hypothesis; p is the larger. Wald's test would estimate a
    variance of zero without discordant pairs and call two rates equal from a single record.

    Args:
        b: Records labelled 1 in A and 0 in B.
        c: Records labelled 0 in A and 1 in B.
        n: All records.
        margin_pp: Margin in percentage points, in (0, 100).

    Raises:
        StatisticsError: The counts do not fit, or the margin is out of range.

    Source: Liu, Hsueh, Hsieh and Chen 2002, Statistics in Medicine 21(2), 231-245 (two
        one-sided tests); Tango 1998, Statistics in Medicine 17(8), 891-908 (score and interval).
    """
    from scipy.stats import norm

    b, c, n = check_paired_counts(b, c, n)
    margin = check_number(margin_pp, "margin_pp") / 100
    if not 0 < margin < 1:
        raise StatisticsError(f"margin_pp: a margin lies between 0 and 100 points, got {margin_pp}")
    p = max(norm.sf(_score(b, c, n, -margin)), norm.cdf(_score(b, c, n, margin)))
    low, high = tango_interval(b, c, n, confidence=1 - 2 * SIGNIFICANCE_LEVEL)
    return Equivalence(float(p), Interval(100 * low, 100 * high))


def detectable_difference(discordant: int, n: int, *, power: float) -> float | None:
    """Return the smallest difference that McNemar's test at 5 % would find with a given power.

    Given that the share of discordant pairs is ψ as observed, the difference δ solves
    δ√n = z(α/2)·√ψ + z(β)·√(ψ − δ²). The formula is that of the test without correction; the
    exact test has a little less power.

    Args:
        discordant: Records whose two labels differ.
        n: All records.
        power: Wanted power, in (0.05, 1).

    Returns:
        The difference in percentage points, without sign; None where no difference possible
        with so few discordant pairs has that power.

    Raises:
        StatisticsError: The counts do not fit, or the power is out of range.

    Source: Connor 1987, Biometrics 43(1), 207-211; Miettinen 1968, Biometrics 24(2), 339-352.
    """
    discordant, n = check_count(discordant, "discordant"), check_count(n, "n", least=1)
    if discordant > n:
        raise StatisticsError(f"expected discordant <= n, got {discordant} of {n}")
    z_level, z_power = _quantiles(power)
    psi = discordant / n
    under_root = n + z_power**2 - z_level**2
    if discordant < _LEAST_DISCORDANT or under_root < 0:
        return None
    difference = (
        math.sqrt(psi)
        * (math.sqrt(n) * z_level + z_power * math.sqrt(under_root))
        / (n + z_power**2)
    )
    return 100 * difference if difference <= psi else None


def records_needed(b: int, c: int, n: int, *, power: float) -> int | None:
    """Return how many records would show the observed difference at 5 % with a given power.

    n = ((z(α/2)·√ψ + z(β)·√(ψ − δ²)) / δ)², with the observed share of discordant pairs ψ and
    difference δ taken as true.

    Args:
        b: Records labelled 1 in A and 0 in B.
        c: Records labelled 0 in A and 1 in B.
        n: All records.
        power: Wanted power, in (0.05, 1).

    Returns:
        Records, rounded up, and enough for six to change, without which the exact test shows
        nothing; None where no difference was observed, which no number shows.

    Raises:
        StatisticsError: The counts do not fit, or the power is out of range.

    Source: Connor 1987, Biometrics 43(1), 207-211.
    """
    from statsmodels.stats.power import normal_sample_size_one_tail

    b, c, n = check_paired_counts(b, c, n)
    power = _checked_power(power)
    if b == c:
        return None
    psi, difference = (b + c) / n, abs(c - b) / n
    needed = normal_sample_size_one_tail(
        difference,
        power,
        SIGNIFICANCE_LEVEL / 2,
        std_null=math.sqrt(psi),
        std_alternative=math.sqrt(psi - difference**2),
    )
    return max(math.ceil(float(needed)), math.ceil(_LEAST_DISCORDANT * n / (b + c)))


def verdict(p_difference: float, p_equivalence: float) -> Verdict:
    """Say what the two tests show together; neither passing shows nothing."""
    if p_difference < SIGNIFICANCE_LEVEL:
        return (
            "different but within the margin" if p_equivalence < SIGNIFICANCE_LEVEL else "different"
        )
    return "equivalent" if p_equivalence < SIGNIFICANCE_LEVEL else "undecided"


def _checked_power(power: float) -> float:
    """Return a power that takes a difference to have: the level is had without any."""
    power = check_level(power, "power")
    if power <= SIGNIFICANCE_LEVEL:
        raise StatisticsError(f"power: a test at 5 % has that without a difference, got {power}")
    return power


def _quantiles(power: float) -> tuple[float, float]:
    from scipy.stats import norm

    return float(norm.isf(SIGNIFICANCE_LEVEL / 2)), float(norm.ppf(_checked_power(power)))


def _score(b: int, c: int, n: int, null: float) -> float:
    """Return Tango's score statistic of the difference B − A against a null difference.

    `q` is the maximum-likelihood share of 1 → 0 records under the null.
    """
    linear = (2 * n - c + b) * null - (b + c)
    constant = -b * null * (1 - null)
    q = (math.sqrt(linear**2 - 8 * n * constant) - linear) / (4 * n)
    return (c - b - n * null) / math.sqrt(n * (2 * q + null * (1 - null)))
