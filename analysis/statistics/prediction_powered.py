"""The true rate from few human labels and many labels of a judge, whatever the judge's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_level, check_number
from ragmend.analysis.statistics.intervals import Interval, wilson_interval
from ragmend.analysis.statistics.judge_error import (
    IMPOSSIBLE,
    LEAST_OF_A_KIND,
    TOO_FEW_GOLD,
    checked_labels,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

POWERED = "prediction-powered"
ALL_GOLD = "gold rate: every record has gold"
NO_SPREAD = "refused: no label differs from what the judge's weight makes of it"


class PoweredRate(NamedTuple):
    """An estimate of the true rate, as proportions."""

    rate: float | None
    """None where `status` refuses it."""
    interval: Interval | None
    weight: float | None
    """λ, how much the judge counts; None where every record has gold, or where refused."""
    status: str


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

    It is refused with fewer than 5 golds of either kind, where its interval would hold the
    true rate far less often than it says, and where the estimate leaves [0, 1] or its variance
    is 0. Of rare kinds (a rate of 5 or 10 %) with 50 golds or fewer the interval still covers
    only about 90 % at 95 %.

    Args:
        judge_R: 0 or 1, one label a record.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.
        weight: λ in [0, 1]: 1 trusts the judge as the first paper does, 0 is the mean gold
            alone; None: the λ of least variance, cov(gold, judge) / ((1 + n/m) · var(judge)),
            with n records with gold and m without.
        confidence: Level of the interval.

    Returns:
        The estimate, with an interval cut to [0, 1]: its variance is
        var(gold − λ · judge)/n + λ² · var(judge without gold)/m, each var with its divisor less
        1, and its quantile Student's t with n − 1 degrees of freedom, for n may be small. With
        gold for every record: the gold rate with Wilson's interval.

    Raises:
        StatisticsError: The weight lies outside [0, 1], or a label, gold or the level is out of
            range.

    Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382, 669-674;
        Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453 (λ); Wilson 1927, JASA 22(158),
        209-212.
    """
    judge, gold = checked_labels(judge_R, gold_R)
    if weight is not None:
        weight = check_number(weight, "weight", least=0, most=1)
    confidence = check_level(confidence)
    has_gold = gold >= 0
    known, seen, unseen = gold[has_gold], judge[has_gold], judge[~has_gold]
    n, positives = len(known), int(known.sum())
    if n == len(gold):
        interval = wilson_interval(positives, n, confidence=confidence)
        return PoweredRate(positives / n, interval, None, ALL_GOLD)
    if min(positives, n - positives) < LEAST_OF_A_KIND:
        return PoweredRate(None, None, None, TOO_FEW_GOLD)
    lam = _tuned_weight(known, seen, unseen) if weight is None else weight
    rate = float(known.mean() + lam * (unseen.mean() - seen.mean()))
    if not 0 <= rate <= 1:
        return PoweredRate(None, None, None, IMPOSSIBLE)
    variance = (known - lam * seen).var(ddof=1) / n + lam**2 * _variance_of_mean(unseen)
    if variance <= 0:
        return PoweredRate(None, None, None, NO_SPREAD)
    return PoweredRate(rate, _interval(rate, variance, n, confidence), lam, POWERED)


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


def _variance_of_mean(unseen_R: NDArray[np.int64]) -> float:
    """Return the squared standard error of the judge's rate; a single label counts as a half."""
    rate, n = (0.5, 2) if len(unseen_R) == 1 else (unseen_R.mean(), len(unseen_R))
    return float(rate * (1 - rate) / (n - 1))


def _interval(rate: float, variance: float, n_gold: int, confidence: float) -> Interval:
    from scipy.stats import t

    reach = float(t.isf((1 - confidence) / 2, n_gold - 1)) * float(np.sqrt(variance))
    return Interval(*(min(1.0, max(0.0, end)) for end in (rate - reach, rate + reach)))
