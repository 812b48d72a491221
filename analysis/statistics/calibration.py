"""Probabilities mapped to what they turn out to mean, and how far they are from it.

A map is fitted on one set of units and judged on another: on its own it always looks good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_lengths, check_vector
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Method = Literal["platt", "isotonic"]

N_BINS = 10
LEAST_P = 1e-6
"""Probabilities nearer to 0 or 1 count as this near where a logarithm is taken."""


class CalibrationError(NamedTuple):
    """How far probabilities are from the events; less is better."""

    brier: float
    log_loss: float
    ece: float
    """Expected calibration error over equal-width bins."""


def calibrate(
    p_dev_C: ArrayLike, gold_dev_C: ArrayLike, p_C: ArrayLike, *, method: Method
) -> NDArray[np.float64]:
    """Fit a map of probabilities on development units and apply it to others.

    `platt` fits a logistic curve to the log-odds, towards (N₊ + 1) / (N₊ + 2) for events and
    1 / (N₋ + 2) for the others, so that it stays finite even where p separates the two.
    `isotonic` fits the non-decreasing steps nearest in squared error, and holds its ends beyond
    the development units' range.

    Args:
        p_dev_C: Probability of the event for each development unit, in [0, 1].
        gold_dev_C: Whether the event happened, 0 or 1.
        p_C: Probabilities of the units to be mapped.
        method: `platt` or `isotonic`.

    Returns:
        The mapped probabilities, in [0, 1].

    Raises:
        StatisticsError: A probability or label is out of range, the lengths differ, the
            development units are all of one kind, or the method is unknown.

    Source: Platt 1999, in Advances in Large Margin Classifiers, 61-74; Zadrozny and Elkan 2002,
        KDD, 694-699 (isotonic).
    """
    p_dev = check_vector(p_dev_C, "p_dev_C", kind="probability")
    gold_dev = check_vector(gold_dev_C, "gold_dev_C", kind="label")
    check_lengths(p_dev_C=p_dev, gold_dev_C=gold_dev)
    p = check_vector(p_C, "p_C", kind="probability")
    if method not in ("platt", "isotonic"):
        raise StatisticsError(f"method: calibration is by platt or isotonic, got {method!r}")
    if gold_dev.all() or not gold_dev.any():
        raise StatisticsError("calibration needs development units of both kinds")
    if not len(p):
        return p
    return (_platt if method == "platt" else _isotonic)(p_dev, gold_dev, p)


def calibration_error(p_C: ArrayLike, gold_C: ArrayLike) -> CalibrationError:
    """Measure how far probabilities are from the events.

    Brier score: mean of (p − y)². Log loss: mean of −log of the probability given to what
    happened, p cut to [1e-6, 1 − 1e-6]. Expected calibration error: over ten bins of equal
    width, the mean distance of the bin's mean p from its share of events, weighted by units;
    a p on a bin's edge counts in the upper bin, 1 in the last.

    Args:
        p_C: Probability of the event for each unit, in [0, 1].
        gold_C: Whether the event happened, 0 or 1.

    Raises:
        StatisticsError: There is no unit, a value is out of range, or the lengths differ.

    Source: Brier 1950, Monthly Weather Review 78, 1-3; Naeini, Cooper and Hauskrecht 2015,
        AAAI, 2901-2907 (ECE).
    """
    from sklearn.metrics import brier_score_loss, log_loss

    p = check_vector(p_C, "p_C", kind="probability", least=1)
    gold = check_vector(gold_C, "gold_C", kind="label")
    check_lengths(p_C=p, gold_C=gold)
    cut = np.clip(p, LEAST_P, 1 - LEAST_P)
    return CalibrationError(
        brier=float(brier_score_loss(gold, p, labels=[0, 1])),
        log_loss=float(log_loss(gold, cut, labels=[0, 1])),
        ece=_expected_error(p, gold),
    )


def _expected_error(p: NDArray[np.float64], gold: NDArray[np.float64]) -> float:
    edges = np.arange(1, N_BINS) / N_BINS
    bins = np.digitize(p, edges)
    surplus = np.bincount(bins, weights=p - gold, minlength=N_BINS)
    return float(np.abs(surplus).sum() / len(p))


def _platt(
    p_dev: NDArray[np.float64], gold_dev: NDArray[np.float64], p: NDArray[np.float64]
) -> NDArray[np.float64]:
    from sklearn.linear_model import LogisticRegression

    n_events = gold_dev.sum()
    target = np.where(
        gold_dev == 1, (n_events + 1) / (n_events + 2), 1 / (len(gold_dev) - n_events + 2)
    )
    # A target between 0 and 1 is a unit seen both ways, each with its share of weight.
    log_odds = _log_odds(p_dev)
    curve = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(
        np.concatenate([log_odds, log_odds]),
        np.repeat([1, 0], len(p_dev)),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    mapped: NDArray[np.float64] = curve.predict_proba(_log_odds(p))[:, 1]
    return mapped


def _isotonic(
    p_dev: NDArray[np.float64], gold_dev: NDArray[np.float64], p: NDArray[np.float64]
) -> NDArray[np.float64]:
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(p_dev, gold_dev)
    mapped: NDArray[np.float64] = steps.predict(p)
    return mapped


def _log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-odds as one column, finite at 0 and 1."""
    cut = np.clip(p, LEAST_P, 1 - LEAST_P)
    column: NDArray[np.float64] = np.log(cut / (1 - cut))[:, None]
    return column
