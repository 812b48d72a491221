"""The true rate from few human labels and many labels of a judge, whatever the judge's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.intervals import Interval
from ragmend.analysis.statistics.judge_error import checked_labels
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class PoweredRate(NamedTuple):
    """An estimate of the true rate, as proportions."""

    rate: float
    interval: Interval | None
    """None where the variance is estimated as 0: one label, or labels all of one kind."""
    weight: float | None
    """λ, how much the judge counts; None where every record has gold and it counts nothing."""


def prediction_powered_rate(
    judge_R: ArrayLike,
    gold_R: ArrayLike,
    *,
    weight: float | None = None,
    confidence: float = 0.95,
) -> PoweredRate:
    """Estimate the true rate from gold on some records and a judge's labels on all.

    rate = mean gold + λ · (judge's mean without gold − judge's mean with gold). The judge's
    errors are measured where there is gold and taken off everywhere, so that the estimate is
    unbiased however bad the judge is, if the records with gold are a random sample of all.

    Args:
        judge_R: 0 or 1, one label a record.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.
        weight: λ in [0, 1]: 1 trusts the judge as the first paper does, 0 is the mean gold
            alone; None: the λ of least variance, cov(gold, judge) / ((1 + n/m) · var(judge)),
            with n records with gold and m without.
        confidence: Level of the interval.

    Returns:
        The estimate, with an interval cut to [0, 1]: its variance is
        var(gold − λ · judge)/n + λ² · var(judge without gold)/m.

    Raises:
        StatisticsError: No record has gold, the weight lies outside [0, 1], or a label or gold
            is out of range.

    Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382, 669-674;
        Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453 (λ).
    """
    judge, gold = checked_labels(judge_R, gold_R)
    has_gold = gold >= 0
    if not has_gold.any():
        raise StatisticsError("a prediction-powered rate needs gold for at least one record")
    if weight is not None and not 0 <= weight <= 1:
        raise StatisticsError(f"the judge's weight lies in [0, 1], got {weight}")
    known, seen, unseen = gold[has_gold], judge[has_gold], judge[~has_gold]
    if len(unseen) == 0:
        rate, variance = known.mean(), known.var() / len(known)
        return PoweredRate(float(rate), _interval(rate, variance, confidence), None)
    lam = _tuned_weight(known, seen, unseen) if weight is None else weight
    rate = known.mean() + lam * (unseen.mean() - seen.mean())
    variance = (known - lam * seen).var() / len(known) + lam**2 * unseen.var() / len(unseen)
    return PoweredRate(float(rate), _interval(rate, variance, confidence), lam)


def _tuned_weight(
    known_R: NDArray[np.int64], seen_R: NDArray[np.int64], unseen_R: NDArray[np.int64]
) -> float:
    """Return λ of least variance, cut to [0, 1]; 0 for a judge that always says the same."""
    spread = np.concatenate([seen_R, unseen_R]).var(ddof=1)
    if spread == 0:
        return 0.0
    together = (known_R * seen_R).mean() - known_R.mean() * seen_R.mean()
    lam = together / ((1 + len(known_R) / len(unseen_R)) * spread)
    return float(np.clip(lam, 0, 1))


def _interval(rate: float, variance: float, confidence: float) -> Interval | None:
    from scipy.stats import norm

    if variance <= 0:
        return None
    reach = float(norm.isf((1 - confidence) / 2)) * float(np.sqrt(variance))
    return Interval(*(min(1.0, max(0.0, float(end))) for end in (rate - reach, rate + reach)))
