"""How many answers people must label to know the true rate to so many points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ragmend.analysis.statistics.checks import check_count, check_level, check_number
from ragmend.analysis.statistics.intervals import normal_quantile
from ragmend.analysis.statistics.judge_error import LEAST_OF_A_KIND, judge_error
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEAST_PLANNED = 10
"""Golds of each kind to expect in a plan with a judge, so that not too few come of it."""
LEAST_HALF_WIDTH = 1e-4
"""Percentage points; less would take more labels than there is text."""
LEAST_FOR_CORRELATION = 30
"""Golds from which a judge's correlation with gold is estimated at all."""


def labels_needed(
    half_width_pp: float,
    *,
    rate: float = 0.5,
    correlation: float = 0.0,
    n_records: int | None = None,
    confidence: float = 0.95,
) -> int | None:
    """Return how many human labels give an interval of ± so many points.

    Without a judge the interval is Wilson's at the count n·p, whose half width is
    z·√(p(1 − p)/n + z²/4n²) / (1 + z²/n). With a judge that has labelled all N records and
    correlates with gold as ρ, the best prediction-powered estimate has the variance
    p(1 − p)·((1 − ρ²)/n + ρ²/N), so that n = (1 − ρ²)/(1/n₀ − ρ²/N), n₀ = z²·p(1 − p)/h²; its
    interval is normal, so that n must also be expected to hold 10 labels of either kind. A
    judge can be left aside: the result is the smaller of the two numbers.

    Args:
        half_width_pp: Wanted half width h, in percentage points, from `LEAST_HALF_WIDTH`
            to 50.
        rate: True rate p expected, in (0, 1); one half needs the most labels.
        correlation: Correlation ρ of judge and gold, if from few golds the lower limit of it
            (`correlation_limit`); 0 or less: no judge, for the judge's weight is never negative.
        n_records: Records that there are to label (N); None: as many as wanted, all of them
            labelled by the judge.
        confidence: Level of the interval.

    Returns:
        Labels, rounded up and at least 1; None where all N labels give a wider interval.

    Raises:
        StatisticsError: A value is out of range.

    Source: Wilson 1927, JASA 22(158), 209-212 (alone, solved for n); Angelopoulos, Duchi and
        Zrnic 2023, arXiv 2311.01453 (the variance at the best λ).
    """
    half_width = check_number(half_width_pp, "half_width_pp", least=LEAST_HALF_WIDTH, most=50) / 100
    plan = _checked(rate, correlation, n_records, confidence)
    rate, correlation, n_records, confidence = plan
    alone = _labels_alone(half_width, rate, confidence)
    helped = _labels_with_judge(half_width, rate, correlation, n_records, confidence)
    needed = max(1, math.ceil(min(alone, helped)))
    return needed if n_records is None or needed <= n_records else None


def half_width_expected(
    n_labels: int,
    *,
    rate: float = 0.5,
    correlation: float = 0.0,
    n_records: int | None = None,
    confidence: float = 0.95,
) -> float:
    """Return the half width, in points, that so many human labels give; see `labels_needed`.

    Raises:
        StatisticsError: A value is out of range, or there are more labels than records.
    """
    plan = _checked(rate, correlation, n_records, confidence)
    rate, correlation, n_records, confidence = plan
    n_labels = check_count(n_labels, "n_labels", least=1)
    if n_records is not None and n_labels > n_records:
        raise StatisticsError(f"n_labels: expected 1 to {n_records} labels, got {n_labels}")
    z2, variance = normal_quantile(confidence) ** 2, rate * (1 - rate)
    alone = math.sqrt(z2 * (variance / n_labels + z2 / (4 * n_labels**2))) / (1 + z2 / n_labels)
    if correlation <= 0 or n_labels < _least_with_judge(rate):
        return 100 * alone
    share = correlation**2
    rest = 0.0 if n_records is None else share / n_records
    return 100 * min(alone, math.sqrt(z2 * variance * ((1 - share) / n_labels + rest)))


def gold_correlation(judge_R: ArrayLike, gold_R: ArrayLike) -> float | None:
    """Return the correlation (φ) of a judge with gold on the records that have it.

    φ = (TP·TN − FP·FN) / √((TP + FN)(TN + FP)(TP + FP)(TN + FN)); 0 for a judge that always
    says the same, who tells nothing; None where gold has one kind only.

    Args:
        judge_R: 0 or 1.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.

    Raises:
        StatisticsError: A label or gold is out of range, or the lengths differ.

    Source: Yule 1912, Journal of the Royal Statistical Society 75(6), 579-652.
    """
    error = judge_error(judge_R, gold_R)
    if not error.positives or not error.negatives:
        return None
    tp, tn = error.true_positives, error.true_negatives
    fp, fn = error.negatives - tn, error.positives - tp
    margins = error.positives * error.negatives * (tp + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(margins) if margins else 0.0


def correlation_limit(
    judge_R: ArrayLike, gold_R: ArrayLike, *, confidence: float = 0.95
) -> float | None:
    """Return the lower end of the interval of a judge's correlation (φ) with gold.

    The interval is atanh(φ) ± z · s / (1 − φ²), Fisher's transformation, with s from the
    influence ab − φ(a² + b²)/2 of each label on φ (a, b: judge and gold, standardised) rather
    than from normal variables, which labels are not. Each cell of the table of judge and gold
    has a half added, so that full agreement of few labels is not taken for certainty.

    Args:
        judge_R: 0 or 1.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.
        confidence: Level of the interval.

    Returns:
        The limit; None with fewer than 30 golds, or fewer than 5 of either kind.

    Raises:
        StatisticsError: A label, gold or the level is out of range, or the lengths differ.

    Source: Fisher 1921, Metron 1, 3-32 (atanh); Devlin, Gnanadesikan and Kettenring 1975,
        Biometrika 62(3), 531-545 (influence); Haldane 1956, Annals of Human Genetics 20(4),
        309-311 (a half).
    """
    error, confidence = judge_error(judge_R, gold_R), check_level(confidence)
    n, least = error.positives + error.negatives, min(error.positives, error.negatives)
    if n < LEAST_FOR_CORRELATION or least < LEAST_OF_A_KIND:
        return None
    tp, tn = error.true_positives, error.true_negatives
    cells_C = np.array([tp, error.negatives - tn, error.positives - tp, tn]) + 0.5
    judge_C, gold_C = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    shares_C = cells_C / cells_C.sum()
    a_C, b_C = _standardised(judge_C, shares_C), _standardised(gold_C, shares_C)
    phi = float(shares_C @ (a_C * b_C))
    influence_C = a_C * b_C - phi * (a_C**2 + b_C**2) / 2
    deviation = math.sqrt(float(shares_C @ influence_C**2) / float(cells_C.sum()))
    reach = normal_quantile(confidence) * deviation / (1 - phi**2)
    return math.tanh(math.atanh(phi) - reach)


def _labels_alone(half_width: float, rate: float, confidence: float) -> float:
    """Return the n at which Wilson's half width is h.

    Squared, its formula is h²(n + z²)² = z²(p(1 − p)n + z²/4): a quadratic with one root of at
    least 0, for h is at most one half.
    """
    z2, h2 = normal_quantile(confidence) ** 2, half_width**2
    linear = z2 * (2 * h2 - rate * (1 - rate))
    constant = z2**2 * (h2 - 0.25)
    return (-linear + math.sqrt(linear**2 - 4 * h2 * constant)) / (2 * h2)


def _labels_with_judge(
    half_width: float, rate: float, correlation: float, n_records: int | None, confidence: float
) -> float:
    """Return the n of the prediction-powered interval; infinite where none is enough."""
    if correlation <= 0:
        return math.inf
    z2, share = normal_quantile(confidence) ** 2, correlation**2
    rest = 0.0 if n_records is None else share / n_records
    precision = half_width**2 / (z2 * rate * (1 - rate)) - rest
    if precision <= 0:
        return math.inf
    return max((1 - share) / precision, _least_with_judge(rate))


def _least_with_judge(rate: float) -> float:
    return LEAST_PLANNED / min(rate, 1 - rate)


def _standardised(
    values_C: NDArray[np.float64], shares_C: NDArray[np.float64]
) -> NDArray[np.float64]:
    mean = shares_C @ values_C
    return np.asarray((values_C - mean) / np.sqrt(shares_C @ (values_C - mean) ** 2))


def _checked(
    rate: float, correlation: float, n_records: int | None, confidence: float
) -> tuple[float, float, int | None, float]:
    return (
        check_level(rate, "rate"),
        check_number(correlation, "correlation", least=-1, most=1),
        None if n_records is None else check_count(n_records, "n_records", least=1),
        check_level(confidence),
    )
