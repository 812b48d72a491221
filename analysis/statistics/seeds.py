"""Two models trained with several seeds each: is their difference more than seeds make?

A run's score is one number, and the runs of a model are the sample: what varies is the seed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import (
    check_count,
    check_lengths,
    check_level,
    check_seed,
    check_vector,
)
from ragmend.analysis.statistics.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAX_RELABELLINGS = 100_000
"""Up to so many relabellings the permutation test counts them all."""


class Welch(NamedTuple):
    """Welch's test of two means, B minus A."""

    diff: float
    t: float
    df: float
    """Satterthwaite's degrees of freedom."""
    p: float
    """Two-sided."""
    interval: Interval
    """Of the difference."""


def welch_test(
    scores_a_N: ArrayLike, scores_b_N: ArrayLike, *, confidence: float = 0.95
) -> Welch | None:
    """Compare the means of two samples whose variances may differ.

    t = (mean B − mean A) / √(s²_A / n_A + s²_B / n_B), with Satterthwaite's degrees of freedom.

    Args:
        scores_a_N: Finite scores, one a run.
        scores_b_N: Likewise of the other model.
        confidence: Level of the interval.

    Returns:
        None with fewer than two runs of either, or where no run of either model differs from
        another: nothing then tells how far seeds move a score.

    Raises:
        StatisticsError: A score is not finite, or the level lies outside (0, 1).

    Source: Welch 1947, Biometrika 34, 28-35; Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
    """
    from statsmodels.stats.weightstats import CompareMeans

    a_N, b_N = _scores(scores_a_N, scores_b_N)
    confidence = check_level(confidence)
    if min(len(a_N), len(b_N)) < 2 or (np.ptp(a_N) == 0 and np.ptp(b_N) == 0):
        return None
    samples = CompareMeans.from_data(b_N, a_N)
    t, p, df = samples.ttest_ind(usevar="unequal")
    low, high = samples.tconfint_diff(alpha=1 - confidence, usevar="unequal")
    return Welch(
        diff=float(b_N.mean() - a_N.mean()),
        t=float(t),
        df=float(df),
        p=float(p),
        interval=Interval(float(low), float(high)),
    )


def permutation_p(scores_a_N: ArrayLike, scores_b_N: ArrayLike, *, seed: int = 42) -> float | None:
    """Return the permutation p-value of the absolute difference of two means.

    Under the hypothesis that a model makes no difference to a run, every assignment of the
    runs to models of these sizes is equally likely. Two-sided: p is the share of assignments
    whose means lie at least as far apart as those observed, itself among them. All are counted
    up to `MAX_RELABELLINGS`; beyond, so many are drawn, and p is (1 + hits) / (1 + drawn).

    Args:
        scores_a_N: Finite scores, one a run.
        scores_b_N: Likewise of the other model.
        seed: Seed of the stream, used only where not all assignments are counted.

    Returns:
        None with fewer than two runs of either.

    Raises:
        StatisticsError: A score is not finite, or the seed is none.

    Source: Fisher 1935, The Design of Experiments, section 21; Phipson and Smyth 2010,
        Statistical Applications in Genetics and Molecular Biology 9, article 39 (drawn p).
    """
    from scipy.stats import permutation_test

    a_N, b_N = _scores(scores_a_N, scores_b_N)
    seed = check_seed(seed)
    if min(len(a_N), len(b_N)) < 2:
        return None
    spread = np.ptp(np.concatenate([a_N, b_N]))
    if spread == 0:
        return 1.0
    found = permutation_test(
        (a_N / spread, b_N / spread),
        _absolute_difference,
        permutation_type="independent",
        vectorized=True,
        n_resamples=MAX_RELABELLINGS,
        alternative="greater",  # of an absolute difference: both tails
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def superiority(scores_a_N: ArrayLike, scores_b_N: ArrayLike) -> Fraction | None:
    """Return the share of pairs of runs in which B scores higher, ties counting half.

    Args:
        scores_a_N: Finite scores, one a run.
        scores_b_N: Likewise of the other model.

    Returns:
        None without a run of each.

    Raises:
        StatisticsError: A score is not finite.

    Source: Mann and Whitney 1947, Annals of Mathematical Statistics 18, 50-60: U / (n_A n_B).
    """
    a_N, b_N = _scores(scores_a_N, scores_b_N)
    signs_AB = np.sign(b_N[None, :] - a_N[:, None])
    if not signs_AB.size:
        return None
    return Fraction(int(signs_AB.sum()) + signs_AB.size, 2 * signs_AB.size)


def seed_correlation(scores_a_S: ArrayLike, scores_b_S: ArrayLike) -> float | None:
    """Return Pearson's correlation of two models' scores over the seeds that both have.

    Args:
        scores_a_S: Finite scores, one a seed.
        scores_b_S: The other model's, same seeds in the same order.

    Returns:
        None with fewer than three seeds, or where the scores of a model are all equal.

    Raises:
        StatisticsError: A score is not finite, or the lengths differ.

    Source: Pearson 1895, Proceedings of the Royal Society of London 58, 240-242.
    """
    a_S = check_vector(scores_a_S, "scores_a_S", kind="number")
    b_S = check_vector(scores_b_S, "scores_b_S", kind="number")
    check_lengths(scores_a_S=a_S, scores_b_S=b_S)
    if len(a_S) < 3 or np.ptp(a_S) == 0 or np.ptp(b_S) == 0:
        return None
    return float(np.corrcoef(a_S, b_S)[0, 1])


def f1_standard_error(tp: int, fp: int, fn: int) -> float | None:
    """Return the standard error of one F1 as a proportion, the items being a random sample.

    By the delta method on multinomial counts. F1 = 2 TP / D with D = 2 TP + FP + FN does not
    change when all counts grow alike, so true negatives and the number of items fall out:
    SE² = 4 TP (FP + FN) (TP + FP + FN) / D⁴.

    Args:
        tp: Items found rightly.
        fp: Items found wrongly.
        fn: Items missed.

    Returns:
        None where F1 is 0, 1 or undefined: the linear approximation then says zero.

    Raises:
        StatisticsError: A count is none, or negative.

    Source: Takahashi, Yamamoto, Kuchiba and Koyama 2022, Applied Intelligence 52, 4961-4972
        (the delta method for F1); the closed form follows for one class.
    """
    tp, fp, fn = check_count(tp, "tp"), check_count(fp, "fp"), check_count(fn, "fn")
    wrong = fp + fn
    if not (tp and wrong):
        return None
    return math.sqrt(Fraction(4 * tp * wrong * (tp + wrong), (2 * tp + wrong) ** 4))


def _absolute_difference(
    a_N: NDArray[np.float64], b_N: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    """Return how far the means lie apart; what differs by rounding error alone is equal."""
    difference = np.abs(np.mean(a_N, axis=axis) - np.mean(b_N, axis=axis))
    rounded: NDArray[np.float64] = np.round(difference, 9)
    return rounded


def _scores(
    scores_a_N: ArrayLike, scores_b_N: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return (
        check_vector(scores_a_N, "scores_a_N", kind="number"),
        check_vector(scores_b_N, "scores_b_N", kind="number"),
    )
