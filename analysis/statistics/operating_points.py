"""Which threshold to repair below: the best F1, or all that a budget of edited answers allows.

A claim is flagged where P(support) < threshold, strictly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ragmend.analysis.statistics.checks import (
    check_labels,
    check_lengths,
    check_share,
    check_vector,
)
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def best_f1_threshold(positive_C: ArrayLike, p_support_C: ArrayLike) -> float | None:
    """Return the threshold at which flagging finds positives with the highest F1.

    Candidates are the values of p, and 1: each flags what lies below it. Of those with the
    highest F1 the lowest is returned, which edits least.

    Args:
        positive_C: Whether each claim is unsupported by gold, 0 or 1.
        p_support_C: P(support), in [0, 1].

    Returns:
        None without a positive, or where none can be flagged (all of them at p = 1).

    Raises:
        StatisticsError: A value is out of range, or the lengths differ.
    """
    positive = check_labels(positive_C, "positive_C") == 1
    p = check_vector(p_support_C, "p_support_C", kind="probability")
    check_lengths(positive_C=positive, p_support_C=p)
    if not positive.any():
        return None
    candidates = np.unique([*p, 1.0])
    tp = np.searchsorted(np.sort(p[positive]), candidates, side="left")
    fp = np.searchsorted(np.sort(p[~positive]), candidates, side="left")
    f1 = 2 * tp / (tp + fp + positive.sum())
    return float(candidates[f1.argmax()]) if f1.any() else None


def budget_threshold(least_p_A: ArrayLike, budget: Fraction) -> float | None:
    """Return the highest threshold that edits at most a share of answers.

    An answer is edited where its least P(support) lies below the threshold. With ⌊budget · n⌋
    edits allowed, the threshold is the next of the sorted least values: it flags all below it,
    and anything higher would flag that answer too.

    Args:
        least_p_A: Least P(support) of each answer's claims, in [0, 1].
        budget: Greatest share of the answers that may be edited, in [0, 1).

    Returns:
        None without an answer.

    Raises:
        StatisticsError: A value is out of range.
    """
    least = np.sort(check_vector(least_p_A, "least_p_A", kind="probability"))
    share = check_share(budget, "budget")
    if share == 1:
        raise StatisticsError(f"budget: expected a share in [0, 1), got {budget}")
    return float(least[math.floor(share * len(least))]) if len(least) else None
