"""How likely Welch's test is to see a difference, and how many runs it would take."""

from __future__ import annotations

import numpy as np

from ragmend.analysis.statistics.checks import check_count, check_level, check_number

MAX_RUNS = 10_000
"""More runs of a model than this are not counted out."""
_NODES = 64


def welch_power(
    diff: float, sd_a: float, sd_b: float, n_a: int, n_b: int, *, confidence: float = 0.95
) -> float | None:
    """Return the power of the two-sided Welch test for normal scores.

    Given the sample variances, the degrees of freedom and with them the bound on the mean
    difference are fixed, and the difference, independent of them, is normal. So the power is
    the mean over both variances of the chance that the difference passes the bound: a double
    integral over the quantiles of two χ² distributions, by Gauss and Legendre's rule. Nothing
    is drawn, and nothing approximated but the integral (to about 1e-5 from two runs a model on).

    Args:
        diff: True difference of the means.
        sd_a: True standard deviation of A's scores, same unit.
        sd_b: Likewise of B's.
        n_a: Runs of A.
        n_b: Runs of B.
        confidence: 1 minus the level of the test.

    Returns:
        None with fewer than two runs of either, or where both deviations are zero.

    Raises:
        StatisticsError: A value is not finite, a deviation is negative, a number of runs is
            none, or the level lies outside (0, 1).

    Source: the conditional distribution by Wang 1971, JASA 66, 605-608 (there for the level of
        the test); test by Welch 1947, Biometrika 34, 28-35.
    """
    from scipy.stats import norm, t

    diff = check_number(diff, "diff")
    sd_a, sd_b = check_number(sd_a, "sd_a", least=0), check_number(sd_b, "sd_b", least=0)
    n_a, n_b = check_count(n_a, "n_a"), check_count(n_b, "n_b")
    confidence = check_level(confidence)
    if min(n_a, n_b) < 2 or sd_a == sd_b == 0:
        return None
    quantile_Q, weight_Q = _unit_interval_rule()
    squared_a = _squared_errors(quantile_Q, sd_a, n_a)[:, None]
    squared_b = _squared_errors(quantile_Q, sd_b, n_b)[None, :]
    squared_QQ = squared_a + squared_b
    df_QQ = squared_QQ**2 / (squared_a**2 / (n_a - 1) + squared_b**2 / (n_b - 1))
    bound_QQ = t.ppf((1 + confidence) / 2, df_QQ) * np.sqrt(squared_QQ)
    error = np.sqrt(sd_a**2 / n_a + sd_b**2 / n_b)
    power_QQ = norm.sf((bound_QQ - diff) / error) + norm.cdf((-bound_QQ - diff) / error)
    return float(weight_Q @ power_QQ @ weight_Q)


def runs_needed(
    diff: float, sd_a: float, sd_b: float, *, power: float = 0.8, confidence: float = 0.95
) -> int | None:
    """Return the least number of runs of each model at which Welch's test has so much power.

    Args:
        diff: True difference of the means.
        sd_a: True standard deviation of A's scores.
        sd_b: Likewise of B's.
        power: Power wanted, in (0, 1).
        confidence: 1 minus the level of the test.

    Returns:
        None where `MAX_RUNS` do not suffice, or where power is undefined.

    Raises:
        StatisticsError: As `welch_power`; or the power wanted lies outside (0, 1).
    """
    power = check_level(power, "power")

    def suffices(n: int) -> bool:
        found = welch_power(diff, sd_a, sd_b, n, n, confidence=confidence)
        return found is not None and found >= power

    if not suffices(MAX_RUNS):
        return None
    too_few, enough = 1, MAX_RUNS
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if suffices(middle) else (middle, enough)
    return enough


def _unit_interval_rule() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes in (0, 1) and weights that sum to 1."""
    node_Q, weight_Q = np.polynomial.legendre.leggauss(_NODES)
    return (node_Q + 1) / 2, weight_Q / 2


def _squared_errors(quantile_Q: np.ndarray, sd: float, n: int) -> np.ndarray:
    """Return quantiles of s² / n, the squared standard error of one mean as a sample gives it."""
    from scipy.stats import chi2

    scaled: np.ndarray = sd**2 / n * chi2.ppf(quantile_Q, n - 1) / (n - 1)
    return scaled
