"""How many answers people must label to know the true rate to so many points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ragmend.analysis.statistics.judge_error import judge_error
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def labels_needed(
    half_width_pp: float,
    *,
    rate: float = 0.5,
    correlation: float = 0.0,
    n_records: int | None = None,
    confidence: float = 0.95,
) -> int | None:
    """Return how many human labels give an interval of ± so many points.

    Without a judge, n₀ = z²·p(1 − p)/h². With a judge that has labelled all N records and
    correlates with gold as ρ, the best prediction-powered estimate has the variance
    p(1 − p)·((1 − ρ²)/n + ρ²/N), so that n = (1 − ρ²)/(1/n₀ − ρ²/N).

    Args:
        half_width_pp: Wanted half width h, in percentage points, in (0, 50].
        rate: True rate p expected, in (0, 1); one half needs the most labels.
        correlation: Correlation ρ of judge and gold; 0: no judge.
        n_records: Records that there are to label (N); None: as many as wanted, all of them
            labelled by the judge.
        confidence: Level of the interval.

    Returns:
        Labels, rounded up and at least 1; None where all N labels give a wider interval.

    Raises:
        StatisticsError: A value is out of range.

    Source: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453 (the variance at the best λ);
        Cochran 1977, Sampling Techniques, section 4.4 (n₀).
    """
    if not 0 < half_width_pp <= 50:
        raise StatisticsError(f"a half width lies in (0, 50] points, got {half_width_pp}")
    _check(rate, correlation, n_records, confidence)
    share = correlation**2
    alone = _variance_of_one(rate, confidence) / half_width_pp**2
    if n_records is not None and alone > n_records:
        return None
    if share == 1:  # the judge is gold itself
        return 1
    rest = 0.0 if n_records is None else share / n_records
    return math.ceil((1 - share) / (1 / alone - rest))


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
    _check(rate, correlation, n_records, confidence)
    if n_labels < 1 or (n_records is not None and n_labels > n_records):
        raise StatisticsError(f"expected 1 to {n_records} labels, got {n_labels}")
    share = correlation**2
    rest = 0.0 if n_records is None else share / n_records
    return math.sqrt(_variance_of_one(rate, confidence) * ((1 - share) / n_labels + rest))


def gold_correlation(judge_R: ArrayLike, gold_R: ArrayLike) -> float | None:
    """Return the correlation (φ) of a judge with gold on the records that have it.

    φ = (TP·TN − FP·FN) / √((TP + FN)(TN + FP)(TP + FP)(TN + FN)); 0 for a judge that always
    says the same, who tells nothing; None where gold has one kind only.

    Args:
        judge_R: 0 or 1.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.

    Source: Yule 1912, Journal of the Royal Statistical Society 75(6), 579-652.
    """
    error = judge_error(judge_R, gold_R)
    if not error.positives or not error.negatives:
        return None
    tp, tn = error.true_positives, error.true_negatives
    fp, fn = error.negatives - tn, error.positives - tp
    margins = error.positives * error.negatives * (tp + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(margins) if margins else 0.0


def _variance_of_one(rate: float, confidence: float) -> float:
    """Return z²·p(1 − p) in squared points: the squared half width that one label gives."""
    from scipy.stats import norm

    z = float(norm.isf((1 - confidence) / 2))
    return 10_000 * z**2 * rate * (1 - rate)


def _check(rate: float, correlation: float, n_records: int | None, confidence: float) -> None:
    if not 0 < rate < 1:
        raise StatisticsError(f"an expected rate lies in (0, 1), got {rate}")
    if not -1 <= correlation <= 1:
        raise StatisticsError(f"a correlation lies in [-1, 1], got {correlation}")
    if n_records is not None and n_records < 1:
        raise StatisticsError(f"there must be at least one record to label, got {n_records}")
    if not 0 < confidence < 1:
        raise StatisticsError(f"a confidence level lies in (0, 1), got {confidence}")
