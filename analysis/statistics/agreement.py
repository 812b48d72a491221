"""How well two raters agree on 0/1 labels: Cohen's κ with its ceiling, Gwet's AC1 and kin.

Both coefficients are (p_o - p_e) / (1 - p_e): observed agreement p_o, corrected for the agreement
p_e expected by chance. They differ in p_e alone, so one linearisation gives the standard errors
of both. With x and y the two labels of a record, a and b their means, the influence of a record
on a coefficient v is

    [agrees - p_o - (1 - v) (∂p_e/∂a (x - a) + ∂p_e/∂b (y - b))] / (1 - p_e)

and the variance is the sum of its squares over n². For κ that is the variance of Fleiss, Cohen
and Everitt (1969), for AC1 that of Gwet (2008). Where records share sources, the influences are
summed by source before they are squared (for κ: Yang and Zhou 2014, Statistics in Medicine
33(15), 2612-2633).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import check_level
from ragmend.analysis.statistics.intervals import Interval, normal_quantile
from ragmend.analysis.statistics.rater_labels import PairCounts, count_pair

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_RATERS = ("rater A", "rater B")
ONE_SOURCE = "all records share one source, from which no interval can be had"
EQUAL_ENDS = "no interval: its ends would be equal, which is too little variation and no certainty"
ROUNDING = 1e-12
"""Ends nearer than this are equal: the terms of sums that cancel are rounded."""


class Coefficient(NamedTuple):
    """A coefficient of agreement; what is undefined is None, and `reason` says why.

    A standard error of 0 (all labels agree, or all sources are alike) gives no interval.
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    reason: str | None


class PairAgreement(NamedTuple):
    """How well two raters agree; what is undefined is None."""

    n: int
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    kappa_max: float | None
    """The largest κ that raters with these rates of 1 could reach."""
    ac1: float
    ac1_low: float | None
    ac1_high: float | None
    pabak: float
    agree_pos: float | None
    """Share of the labels 1 that the other rater shares; None: nobody gave a 1."""
    agree_neg: float | None
    """Share of the labels 0 that the other rater shares; None: nobody gave a 0."""
    reason: str | None
    """Why κ or an interval is undefined."""


def agreement(
    labels_a_R: ArrayLike,
    labels_b_R: ArrayLike,
    *,
    sources_R: Sequence[object] | None = None,
    confidence: float = 0.95,
    raters: tuple[str, str] = _RATERS,
) -> PairAgreement:
    """Measure how well two raters agree on the same records.

    Args:
        labels_a_R: The first rater's labels, 0 or 1.
        labels_b_R: The second rater's labels, 0 or 1.
        sources_R: Source of each record; records of one source may be alike. None: all records
            are independent.
        confidence: Level of the intervals.
        raters: The raters' names, for reasons.

    Raises:
        StatisticsError: There is no record, the lengths differ, a label is not 0 or 1, a source
            is missing, or the level is out of range.

    Source: `cohen_kappa`, `gwet_ac1` and `agreement_of` name each coefficient's.
    """
    counts = count_pair(labels_a_R, labels_b_R, sources_R)
    return agreement_of(counts, confidence=confidence, raters=raters)


def cohen_kappa(
    labels_a_R: ArrayLike,
    labels_b_R: ArrayLike,
    *,
    sources_R: Sequence[object] | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Return Cohen's κ: p_e = ab + (1 - a)(1 - b), from the raters' rates a and b of label 1.

    A rater who gave one label only could not have agreed better or worse than by chance: κ is
    then undefined, although the formula may give 0.

    Args:
        labels_a_R: The first rater's labels, 0 or 1.
        labels_b_R: The second rater's labels, 0 or 1.
        sources_R: Source of each record; None: all records are independent.
        confidence: Level of the interval.

    Raises:
        StatisticsError: As `agreement`.

    Source: Cohen 1960, Educational and Psychological Measurement 20(1), 37-46; standard error:
    Fleiss, Cohen and Everitt 1969, Psychological Bulletin 72(5), 323-327.
    """
    counts = count_pair(labels_a_R, labels_b_R, sources_R)
    return _kappa(counts, check_level(confidence), _RATERS)


def gwet_ac1(
    labels_a_R: ArrayLike,
    labels_b_R: ArrayLike,
    *,
    sources_R: Sequence[object] | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Return Gwet's AC1: p_e = 2q(1 - q), from the mean q of the raters' rates of label 1.

    Args:
        labels_a_R: The first rater's labels, 0 or 1.
        labels_b_R: The second rater's labels, 0 or 1.
        sources_R: Source of each record; None: all records are independent.
        confidence: Level of the interval.

    Raises:
        StatisticsError: As `agreement`.

    Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61(1), 29-48.
    """
    return _ac1(count_pair(labels_a_R, labels_b_R, sources_R), check_level(confidence))


def agreement_of(
    counts: PairCounts, *, confidence: float = 0.95, raters: tuple[str, str] = _RATERS
) -> PairAgreement:
    """Measure how well two raters agree, from their counts.

    Args:
        counts: How often each and both gave the label 1.
        confidence: Level of the intervals.
        raters: The raters' names, for reasons.

    Source: κ and AC1 as in `cohen_kappa` and `gwet_ac1`. Largest κ: (p_m - p_e) / (1 - p_e) with
    p_m = min(a, b) + min(1 - a, 1 - b), Cohen 1960. PABAK = 2 p_o - 1: Byrt, Bishop and Carlin
    1993, Journal of Clinical Epidemiology 46(5), 423-429. Positive agreement, 2 · both / (first +
    second), and negative agreement: Cicchetti and Feinstein 1990, Journal of Clinical
    Epidemiology 43(6), 551-558.
    """
    confidence = check_level(confidence)
    n, first, second, both, _ = counts
    kappa, ac1 = _kappa(counts, confidence, raters), _ac1(counts, confidence)
    reasons = [reason for reason in (kappa.reason, ac1.reason) if reason is not None]
    return PairAgreement(
        n=n,
        kappa=kappa.value,
        kappa_low=kappa.low,
        kappa_high=kappa.high,
        kappa_max=None if kappa.value is None else float(_greatest_kappa(counts)),
        ac1=float(_corrected(_observed(counts), _gwet_chance(counts))),
        ac1_low=ac1.low,
        ac1_high=ac1.high,
        pabak=float(2 * _observed(counts) - 1),
        agree_pos=_ratio(2 * both, first + second),
        agree_neg=_ratio(2 * (n - first - second + both), 2 * n - first - second),
        reason="; ".join(dict.fromkeys(reasons)) or None,
    )


def _kappa(counts: PairCounts, confidence: float, raters: tuple[str, str]) -> Coefficient:
    constant = [
        f"{rater} gave the same label to every record"
        for rater, ones in zip(raters, (counts.first, counts.second), strict=True)
        if ones in (0, counts.n)
    ]
    if constant:
        return Coefficient(None, None, None, None, "; ".join(constant))
    slopes = (2 * _rate(counts.second, counts) - 1, 2 * _rate(counts.first, counts) - 1)
    return _estimate(counts, _cohen_chance(counts), slopes, confidence)


def _ac1(counts: PairCounts, confidence: float) -> Coefficient:
    slope = 1 - _rate(counts.first, counts) - _rate(counts.second, counts)
    return _estimate(counts, _gwet_chance(counts), (slope, slope), confidence)


def _estimate(
    counts: PairCounts,
    chance: Fraction,
    slopes: tuple[Fraction, Fraction],
    confidence: float,
) -> Coefficient:
    """Return a chance-corrected coefficient; slopes: of p_e along the two raters' rates."""
    observed = _observed(counts)
    value = _corrected(observed, chance)
    u, v = ((1 - value) * slope for slope in slopes)
    # The influence of a record is linear in 1, x, y and xy, for it agrees if 1 - x - y + 2xy.
    constant = 1 - observed + u * _rate(counts.first, counts) + v * _rate(counts.second, counts)
    weights = (constant, -1 - u, -1 - v, Fraction(2))
    weights_4 = np.array([float(weight / (1 - chance)) for weight in weights])
    se = _standard_error(counts, weights_4)
    if se is None:
        return Coefficient(float(value), None, None, None, ONE_SOURCE)
    if se < ROUNDING:
        return Coefficient(float(value), se, None, None, EQUAL_ENDS)
    n_sources = None if counts.by_source_G4 is None else len(counts.by_source_G4)
    low, high = _interval(float(value), se, confidence, n_sources)
    return Coefficient(float(value), se, low, high, None)


def _standard_error(counts: PairCounts, weights_4: NDArray[np.float64]) -> float | None:
    """Return the root of the influences' sum of squares over n²; None with one source.

    By source it is multiplied by G / (G - 1), as in the sandwich for clustered data (Liang and
    Zeger 1986, Biometrika 73(1), 13-22; Cameron and Miller 2015, Journal of Human Resources
    50(2), 317-372).
    """
    n, first, second, both, by_source_G4 = counts
    if by_source_G4 is None:
        often_K = np.array([n - first - second + both, first - both, second - both, both])
        kinds_K4 = np.array([(1, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 1, 1, 1)])
        return math.sqrt(often_K @ (kinds_K4 @ weights_4) ** 2) / n
    n_sources = len(by_source_G4)
    if n_sources < 2:
        return None
    sums_G = by_source_G4 @ weights_4
    return math.sqrt(n_sources / (n_sources - 1) * (sums_G @ sums_G)) / n


def _interval(value: float, se: float, confidence: float, n_sources: int | None) -> Interval:
    """Return value ± quantile · se within [-1, 1]; by source with Student's t."""
    width = _quantile(confidence, n_sources) * se
    return Interval(max(-1.0, value - width), min(1.0, value + width))


@cache
def _quantile(confidence: float, n_sources: int | None) -> float:
    from scipy.stats import t

    if n_sources is None:
        return normal_quantile(confidence)
    return float(t.ppf((1 + confidence) / 2, n_sources - 1))


def _greatest_kappa(counts: PairCounts) -> Fraction:
    n, first, second, _, _ = counts
    greatest = Fraction(min(first, second) + min(n - first, n - second), n)
    return _corrected(greatest, _cohen_chance(counts))


def _cohen_chance(counts: PairCounts) -> Fraction:
    a, b = _rate(counts.first, counts), _rate(counts.second, counts)
    return a * b + (1 - a) * (1 - b)


def _gwet_chance(counts: PairCounts) -> Fraction:
    q = (_rate(counts.first, counts) + _rate(counts.second, counts)) / 2
    return 2 * q * (1 - q)


def _observed(counts: PairCounts) -> Fraction:
    return _rate(counts.n - counts.first - counts.second + 2 * counts.both, counts)


def _corrected(agreed: Fraction, chance: Fraction) -> Fraction:
    return (agreed - chance) / (1 - chance)


def _rate(count: int, counts: PairCounts) -> Fraction:
    return Fraction(count, counts.n)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
