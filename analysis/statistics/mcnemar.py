"""McNemar's exact test, in log space: thousands of discordant pairs do not underflow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_count

MAX_PAIRS = 10_000_000
"""Discordant pairs of a kind; the tail has a term for each of them."""


class McNemar(NamedTuple):
    """An exact p-value; `log10_p` stays finite where `p` is too small for a float."""

    p: float
    log10_p: float


def exact_mcnemar(b: int, c: int) -> McNemar:
    """Test whether two conditions differ, from the discordant pairs alone.

    Two-sided: twice the smaller binomial tail at one half, at most 1, summed in log space.
    Without a discordant pair nothing speaks for a difference, and p is 1.

    Args:
        b: Records labelled 1, then 0.
        c: Records labelled 0, then 1.

    Raises:
        StatisticsError: A count is none, or more than `MAX_PAIRS`.

    Source: McNemar 1947, Psychometrika 12, 153-157, with the exact binomial tail:
        p = min(1, 2 · Σ_{k ≤ min(b, c)} C(b + c, k) / 2^(b + c)).
    """
    from scipy.special import betaln, logsumexp

    b, c = check_count(b, "b", most=MAX_PAIRS), check_count(c, "c", most=MAX_PAIRS)
    n = b + c
    k = np.arange(min(b, c) + 1)
    # C(n, k) = 1 / ((n + 1) B(k + 1, n - k + 1)); three gammaln of n would cancel digits.
    log_tail = float(logsumexp(-betaln(k + 1, n - k + 1))) - math.log(n + 1)
    log_p = min(0.0, log_tail + (1 - n) * math.log(2))
    return McNemar(math.exp(log_p), log_p / math.log(10))
