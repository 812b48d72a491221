"""The area under the ROC curve with DeLong's interval, units taken as independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragmend.analysis.statistics.checks import check_level
from ragmend.analysis.statistics.intervals import Interval, normal_quantile
from ragmend.analysis.statistics.roc import Area, check_units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def delong_interval(
    positive_C: ArrayLike, score_C: ArrayLike, *, confidence: float = 0.95
) -> Area | None:
    """Return the area under the ROC curve with its interval after DeLong.

    A unit's placement is the share of the other kind that it is ordered rightly against, ties
    half: V_i = (R_i − r_i) / n for positives, with R_i the unit's midrank among all units and
    r_i among its own kind. The area is the mean placement of the positives, and its variance
    var(V of the m positives) / m + var(V of the n negatives) / n. The interval is normal, cut
    to [0, 1].

    Args:
        positive_C: Whether each unit is positive.
        score_C: Its finite score; higher means more likely positive.
        confidence: Level of the interval.

    Returns:
        None without units of both kinds. The interval is None with fewer than two of a kind,
        and where all pairs are ordered alike: the variance is then estimated as zero.

    Raises:
        StatisticsError: A score is not finite, a label is not 0 or 1, the lengths differ, or
            the level lies outside (0, 1).

    Source: DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44, 837-845; by midranks after
        Sun and Xu 2014, IEEE Signal Processing Letters 21, 1389-1393.
    """
    positive, score = check_units(positive_C, score_C)
    confidence = check_level(confidence)
    if positive.all() or not positive.any():
        return None
    right_of_positives, right_of_negatives = _placements(score[positive], score[~positive])
    area = float(right_of_positives.mean())
    if min(len(right_of_positives), len(right_of_negatives)) < 2 or area in (0.0, 1.0):
        return Area(area, None)
    variance = sum(
        float(right.var(ddof=1)) / len(right) for right in (right_of_positives, right_of_negatives)
    )
    reach = normal_quantile(confidence) * float(np.sqrt(variance))
    return Area(area, Interval(max(0.0, area - reach), min(1.0, area + reach)))


def _placements(positives: np.ndarray, negatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of the other kind that each unit is ordered rightly against."""
    from scipy.stats import rankdata

    m, n = len(positives), len(negatives)
    rank = rankdata(np.concatenate([positives, negatives]))
    of_positives = (rank[:m] - rankdata(positives)) / n
    of_negatives = 1 - (rank[m:] - rankdata(negatives)) / m
    return of_positives, of_negatives
