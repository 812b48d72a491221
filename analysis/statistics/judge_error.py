"""What a judge's errors do to a rate: its sensitivity and specificity, and the corrected rate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.intervals import Interval
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CORRECTED = "corrected"
CORRECTED_IF = "corrected, if error rates carry over"
NO_POSITIVE = "refused: no answer hallucinated by gold, so no sensitivity"
NO_NEGATIVE = "refused: no answer clean by gold, so no specificity"
BY_CHANCE = "refused: the judge is no better than chance"
PERHAPS_BY_CHANCE = "refused: the judge is not shown to be better than chance"
IMPOSSIBLE = "refused: the formula leaves [0, 1]"
UNJUDGED = "refused: no answer was judged"


class JudgeError(NamedTuple):
    """How often a judge is right on answers with gold; counts of answers."""

    positives: int
    """Hallucinated by gold."""
    true_positives: int
    """Of these, judged hallucinated."""
    negatives: int
    """Clean by gold."""
    true_negatives: int
    """Of these, judged clean."""

    @property
    def sensitivity(self) -> Fraction | None:
        """Share of the hallucinated answers that the judge calls so; None without any."""
        return Fraction(self.true_positives, self.positives) if self.positives else None

    @property
    def specificity(self) -> Fraction | None:
        """Share of the clean answers that the judge calls so; None without any."""
        return Fraction(self.true_negatives, self.negatives) if self.negatives else None

    @property
    def youden(self) -> Fraction | None:
        """Sensitivity + specificity − 1: 1 is perfect, 0 is chance (Youden 1950)."""
        if self.sensitivity is None or self.specificity is None:
            return None
        return self.sensitivity + self.specificity - 1


class CorrectedRate(NamedTuple):
    """A judged rate and what it says of the true one, as proportions."""

    judged: Fraction | None
    """None where every answer is empty."""
    raw: Fraction | None
    """By the formula alone; may leave [0, 1]."""
    corrected: Fraction | None
    """None where `status` refuses it."""
    interval: Interval | None
    status: str


class TrueRate(NamedTuple):
    """A corrected rate with its interval, as proportions; the rate may leave [0, 1]."""

    rate: Fraction
    interval: Interval


def true_rate(judged: Fraction, *, sensitivity: Fraction, specificity: Fraction) -> Fraction:
    """Return the true rate that gives the judged one: (judged + Sp − 1) / (Se + Sp − 1).

    Args:
        judged: Judged rate.
        sensitivity: Share of true positives that are judged so (Se).
        specificity: Share of true negatives that are judged so (Sp).

    Raises:
        StatisticsError: Se + Sp is 1: the judge's labels say nothing of the true rate.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76.
    """
    if sensitivity + specificity == 1:
        raise StatisticsError("sensitivity + specificity = 1: such labels say nothing of the rate")
    return (judged + specificity - 1) / (sensitivity + specificity - 1)


def rogan_gladen(
    positives: int,
    n: int,
    *,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    confidence: float = 0.95,
) -> TrueRate:
    """Correct a judged rate by error rates measured on other answers.

    For labels of the same answers, whose errors go together, use `judge_corrected_rate`.

    Args:
        positives: Answers judged hallucinated.
        n: All judged answers.
        sensitivity: True positives, and all positives by gold, of the other answers.
        specificity: True negatives, and all negatives by gold, of the other answers.
        confidence: Level of the interval.

    Returns:
        The rate, perhaps outside [0, 1], and an interval cut to [0, 1].

    Raises:
        StatisticsError: A count does not fit its total, or the judge is no better than chance.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76 (rate); Lang
        and Reiczigel 2014, Preventive Veterinary Medicine 113(1), 13-22, eqs. 6-17 (interval:
        Wald's of the rate with z²/2 positives and negatives added, sensitivity and specificity
        with 1 each, its centre moved by d).
    """
    for name, (count, of) in {
        "rate": (positives, n),
        "sensitivity": sensitivity,
        "specificity": specificity,
    }.items():
        if not 0 <= count <= of or of == 0:
            raise StatisticsError(f"{name}: expected 0 <= count <= n and n > 0, got {count}, {of}")
    error = JudgeError(sensitivity[1], sensitivity[0], specificity[1], specificity[0])
    if error.youden is None or error.youden <= 0:
        raise StatisticsError("sensitivity + specificity <= 1: the judge is no better than chance")
    rate = true_rate(
        Fraction(positives, n),
        sensitivity=Fraction(*sensitivity),
        specificity=Fraction(*specificity),
    )
    return TrueRate(rate, _adjusted_interval(positives, n, error, confidence))


def judge_error(judge_R: ArrayLike, gold_R: ArrayLike) -> JudgeError:
    """Count a judge's right labels on the answers with gold.

    Args:
        judge_R: 0 or 1, of the answers that gold describes.
        gold_R: 1 hallucinated, 0 clean, -1 unknown, of the same records.

    Raises:
        StatisticsError: A label or gold is something else, or the lengths differ.
    """
    judge, gold = checked_labels(judge_R, gold_R)
    return JudgeError(
        positives=int((gold == 1).sum()),
        true_positives=int(((gold == 1) & (judge == 1)).sum()),
        negatives=int((gold == 0).sum()),
        true_negatives=int(((gold == 0) & (judge == 0)).sum()),
    )


def judge_corrected_rate(
    judge_R: ArrayLike,
    gold_R: ArrayLike,
    *,
    other_R: ArrayLike | None = None,
    confidence: float = 0.95,
) -> CorrectedRate:
    """Correct a judge's rate by the errors that it makes against gold on the same records.

    The interval is the delta method's over records: one record moves the rate, sensitivity and
    specificity together. With gold for every record and no other labels the result is the gold
    rate itself with Wald's interval. It is refused where it would mean nothing: no case of one
    kind, a judge not shown to be better than chance, or a rate outside [0, 1].

    Args:
        judge_R: 0 or 1, of the answers that gold describes.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.
        other_R: The judge's labels of other answers (repaired ones) to the same records, -1
            where there was none to judge; their rate is corrected on the assumption that the
            error rates carry over. None: the rate of `judge_R`.
        confidence: Level of the intervals.

    Raises:
        StatisticsError: A label or gold is out of range, or the lengths differ.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76.
    """
    judge, gold = checked_labels(judge_R, gold_R)
    labels = judge if other_R is None else _checked_others(other_R, judge)
    error = judge_error(judge, gold)
    n_judged = int((labels >= 0).sum())
    if n_judged == 0:
        return CorrectedRate(None, None, None, None, UNJUDGED)
    judged = Fraction(int((labels == 1).sum()), n_judged)
    raw = _raw_rate(judged, error)
    is_gold_rate = other_R is None and bool((gold >= 0).all())
    refusal = _refusal(raw, error, confidence, is_gold_rate=is_gold_rate)
    if raw is None or refusal is not None:
        return CorrectedRate(judged, raw, None, None, refusal or BY_CHANCE)
    pulls_R = _pulls(labels, judge, gold, float(raw), error)
    interval = _normal_interval(float(raw), float(np.sqrt((pulls_R**2).sum())), confidence)
    return CorrectedRate(judged, raw, raw, interval, CORRECTED if other_R is None else CORRECTED_IF)


def youden_interval(error: JudgeError, *, confidence: float = 0.95) -> Interval | None:
    """Return Newcombe's interval of Youden's index, a difference of two independent rates.

    The rates are those of the label 1 among hallucinated and among clean answers; None without
    answers of both kinds.

    Source: Newcombe 1998, Statistics in Medicine 17(8), 873-890, method 10.
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    if not error.positives or not error.negatives:
        return None
    false_positives = error.negatives - error.true_negatives
    low, high = confint_proportions_2indep(
        error.true_positives,
        error.positives,
        false_positives,
        error.negatives,
        method="newcomb",
        compare="diff",
        alpha=1 - confidence,
    )
    return Interval(float(low), float(high))


def checked_labels(
    judge_R: ArrayLike, gold_R: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return labels (0, 1) and gold (0, 1 or -1 unknown) of the same records as integers.

    Raises:
        StatisticsError: There is no record, the lengths differ, or a value is something else.
    """
    judge, gold = np.asarray(judge_R), np.asarray(gold_R)
    if judge.ndim != 1 or judge.shape != gold.shape or len(judge) == 0:
        raise StatisticsError(
            f"expected one label and one gold a record, got shapes {judge.shape}, {gold.shape}"
        )
    if not np.isin(judge, (0, 1)).all():
        raise StatisticsError("a judge's labels must be 0 or 1")
    if not np.isin(gold, (-1, 0, 1)).all():
        raise StatisticsError("gold must be 0, 1, or -1 where unknown")
    return judge.astype(np.int64), gold.astype(np.int64)


def _checked_others(other_R: ArrayLike, judge_R: NDArray[np.int64]) -> NDArray[np.int64]:
    other = np.asarray(other_R)
    if other.shape != judge_R.shape or not np.isin(other, (-1, 0, 1)).all():
        raise StatisticsError("labels of other answers: one a record, 0, 1, or -1 without answer")
    return other.astype(np.int64)


def _adjusted_interval(positives: int, n: int, error: JudgeError, confidence: float) -> Interval:
    from scipy.stats import norm

    z = float(norm.isf((1 - confidence) / 2))
    n_judged, n_se, n_sp = n + z**2, error.positives + 2, error.negatives + 2
    judged = (positives + z**2 / 2) / n_judged
    se, sp = (error.true_positives + 1) / n_se, (error.true_negatives + 1) / n_sp
    youden = se + sp - 1
    rate = (judged + sp - 1) / youden
    se_variance, sp_variance = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z**2 * (rate * se_variance - (1 - rate) * sp_variance)
    variance = (
        judged * (1 - judged) / n_judged + rate**2 * se_variance + (1 - rate) ** 2 * sp_variance
    ) / youden**2
    return _normal_interval(rate + shift, float(np.sqrt(variance)), confidence)


def _raw_rate(judged: Fraction, error: JudgeError) -> Fraction | None:
    sensitivity, specificity = error.sensitivity, error.specificity
    if sensitivity is None or specificity is None or sensitivity + specificity == 1:
        return None
    return true_rate(judged, sensitivity=sensitivity, specificity=specificity)


def _refusal(
    raw: Fraction | None, error: JudgeError, confidence: float, *, is_gold_rate: bool
) -> str | None:
    """Return why the corrected rate would mean nothing; None where it means something."""
    interval = youden_interval(error, confidence=confidence)
    if interval is None or error.youden is None:
        return NO_NEGATIVE if error.positives else NO_POSITIVE
    if raw is None or error.youden < 0:
        return BY_CHANCE
    if not 0 <= raw <= 1:
        return IMPOSSIBLE
    # Near chance the rate is divided by what may be 0, unless gold gives it without division.
    return PERHAPS_BY_CHANCE if interval.low <= 0 and not is_gold_rate else None


def _pulls(
    labels_R: NDArray[np.int64],
    judge_R: NDArray[np.int64],
    gold_R: NDArray[np.int64],
    raw: float,
    error: JudgeError,
) -> NDArray[np.float64]:
    """Return by how much each record moves the corrected rate: its influence divided by n."""
    is_positive, is_negative = gold_R == 1, gold_R == 0
    sensitivity = error.true_positives / error.positives
    specificity = error.true_negatives / error.negatives
    is_judged = labels_R >= 0
    pulls = is_judged * (labels_R - labels_R[is_judged].mean()) / is_judged.sum()
    pulls[is_positive] -= raw * (judge_R[is_positive] - sensitivity) / error.positives
    pulls[is_negative] += (1 - raw) * (1 - judge_R[is_negative] - specificity) / error.negatives
    return np.asarray(pulls / (sensitivity + specificity - 1))


def _normal_interval(centre: float, deviation: float, confidence: float) -> Interval:
    """Return centre ± z · deviation, cut to [0, 1]."""
    from scipy.stats import norm

    reach = float(norm.isf((1 - confidence) / 2)) * deviation
    return Interval(*(min(1.0, max(0.0, end)) for end in (centre - reach, centre + reach)))
