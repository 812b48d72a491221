"""What a judge's errors do to a rate: its sensitivity and specificity, and the corrected rate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.statistics.checks import (
    check_count,
    check_labels,
    check_lengths,
    check_level,
    check_share,
)
from ragmend.analysis.statistics.intervals import Interval, normal_quantile, wilson_interval
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
LEAST_OF_A_KIND = 5
"""Fewest golds of each kind from which a normal interval is made."""
TOO_FEW_GOLD = f"refused: gold has fewer than {LEAST_OF_A_KIND} answers of a kind"


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


class _AdjustedError(NamedTuple):
    youden: float
    specificity: float
    sensitivity_variance: float
    specificity_variance: float


class _Adjusted(NamedTuple):
    """The middle of an interval and the standard error that it is made from."""

    centre: float
    deviation: float


def true_rate(judged: Fraction, *, sensitivity: Fraction, specificity: Fraction) -> Fraction:
    """Return the true rate that gives the judged one: (judged + Sp − 1) / (Se + Sp − 1).

    Args:
        judged: Judged rate.
        sensitivity: Share of true positives that are judged so (Se).
        specificity: Share of true negatives that are judged so (Sp).

    Raises:
        StatisticsError: A share lies outside [0, 1], or Se + Sp is 1: the judge's labels then
            say nothing of the true rate.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76.
    """
    judged = check_share(judged, "judged")
    sensitivity = check_share(sensitivity, "sensitivity")
    specificity = check_share(specificity, "specificity")
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
        StatisticsError: A count does not fit its total, the level is out of range, or the judge
            is no better than chance.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76 (rate); Lang
        and Reiczigel 2014, Preventive Veterinary Medicine 113(1), 13-22, eqs. 6-17 (interval:
        Wald's of the rate with z²/2 positives and negatives added, sensitivity and specificity
        with 1 each, its centre moved by d).
    """
    positives, n = _checked_part((positives, n), "positives, n")
    sensitivity = _checked_part(sensitivity, "sensitivity")
    specificity = _checked_part(specificity, "specificity")
    confidence = check_level(confidence)
    error = JudgeError(sensitivity[1], sensitivity[0], specificity[1], specificity[0])
    if error.youden is None or error.youden <= 0:
        raise StatisticsError("sensitivity + specificity <= 1: the judge is no better than chance")
    if _adjusted_error(error).youden <= 0:
        raise StatisticsError("too few answers with gold to tell the judge from chance")
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
    """Correct a judge's rate by the errors that it makes against gold.

    It is refused where it would mean nothing: no case of one kind, a judge not shown to be
    better than chance, or a rate outside [0, 1]. The interval is

    - with gold for every record and no other labels: Wilson's, for the result is the gold rate;
    - of the judge's own answers: the delta method's. With gold for a share s of the records the
      rate is s · (gold rate) + (1 − s) · (corrected rate of the rest), two independent parts;
    - of other answers: Lang and Reiczigel's, which takes them as independent of those with gold.

    Neither of the last two takes an error rate of 0 from few answers as certain: sensitivity
    and specificity have a right and a wrong label added.

    Args:
        judge_R: 0 or 1, of the answers that gold describes; answers that the judge saw.
        gold_R: 1 hallucinated, 0 clean, -1 unknown.
        other_R: The judge's labels of other answers (repaired ones), -1 where there was none to
            judge; their rate is corrected on the assumption that the error rates carry over.
            None: the rate of `judge_R`.
        confidence: Level of the intervals.

    Raises:
        StatisticsError: A label, gold or the level is out of range, or the lengths differ.

    Source: Rogan and Gladen 1978, American Journal of Epidemiology 107(1), 71-76 (rate); Lang
        and Reiczigel 2014, Preventive Veterinary Medicine 113(1), 13-22, eqs. 6-17 (interval);
        Wilson 1927, JASA 22(158), 209-212.
    """
    judge, gold = checked_labels(judge_R, gold_R)
    labels = judge if other_R is None else check_labels(other_R, "other_R", kind="gold")
    confidence = check_level(confidence)
    error = judge_error(judge, gold)
    positives, n_judged = int((labels == 1).sum()), int((labels >= 0).sum())
    if n_judged == 0:
        return CorrectedRate(None, None, None, None, UNJUDGED)
    judged = Fraction(positives, n_judged)
    raw = _raw_rate(judged, error)
    is_gold_rate = other_R is None and bool((gold >= 0).all())
    refusal = _refusal(raw, error, confidence, is_gold_rate=is_gold_rate)
    if raw is None or refusal is not None:
        return CorrectedRate(judged, raw, None, None, refusal or BY_CHANCE)
    if other_R is not None:
        interval = _adjusted_interval(positives, n_judged, error, confidence)
        return CorrectedRate(judged, raw, raw, _holding(raw, interval), CORRECTED_IF)
    if is_gold_rate:
        interval = wilson_interval(error.positives, len(gold), confidence=confidence)
    else:
        interval = _holding(raw, _partial_gold_interval(judge[gold < 0], error, confidence))
    return CorrectedRate(judged, raw, raw, interval, CORRECTED)


def youden_interval(error: JudgeError, *, confidence: float = 0.95) -> Interval | None:
    """Return Newcombe's interval of Youden's index, a difference of two independent rates.

    The rates are those of the label 1 among hallucinated and among clean answers; None without
    answers of both kinds.

    Raises:
        StatisticsError: The counts do not fit, or the level is out of range.

    Source: Newcombe 1998, Statistics in Medicine 17(8), 873-890, method 10.
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    error = _checked_error(error)
    confidence = check_level(confidence)
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
    judge = check_labels(judge_R, "judge_R", least=1)
    gold = check_labels(gold_R, "gold_R", kind="gold", least=1)
    check_lengths(judge_R=judge, gold_R=gold)
    return judge, gold


def _checked_error(error: JudgeError) -> JudgeError:
    if not isinstance(error, JudgeError):
        raise StatisticsError(f"error: expected a JudgeError, got {type(error).__name__}")
    se = _checked_part((error.true_positives, error.positives), "error, positives", least=0)
    sp = _checked_part((error.true_negatives, error.negatives), "error, negatives", least=0)
    return JudgeError(se[1], se[0], sp[1], sp[0])


def _checked_part(counts: tuple[int, int], name: str, *, least: int = 1) -> tuple[int, int]:
    """Return a count and its total, which is `least` or more."""
    try:
        count, of = counts
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{name}: expected a count and its total, got {counts!r}") from error
    count, of = check_count(count, name), check_count(of, name, least=least)
    if count > of:
        raise StatisticsError(f"{name}: expected a count and its total, got {count} of {of}")
    return count, of


def _adjusted_interval(positives: int, n: int, error: JudgeError, confidence: float) -> Interval:
    return _normal_interval(*_adjusted_rate(positives, n, error, confidence), confidence)


def _partial_gold_interval(
    without_gold_R: NDArray[np.int64], error: JudgeError, confidence: float
) -> Interval:
    """Return the interval of the gold rate and the rest's corrected rate, taken together."""
    n_gold, n_rest = error.positives + error.negatives, len(without_gold_R)
    share = n_gold / (n_gold + n_rest)
    gold_rate = error.positives / n_gold
    rest = _adjusted_rate(int(without_gold_R.sum()), n_rest, error, confidence)
    centre = share * gold_rate + (1 - share) * rest.centre
    variance = share**2 * gold_rate * (1 - gold_rate) / n_gold
    variance += ((1 - share) * rest.deviation) ** 2
    return _normal_interval(centre, float(np.sqrt(variance)), confidence)


def _adjusted_rate(positives: int, n: int, error: JudgeError, confidence: float) -> _Adjusted:
    """Return where Lang and Reiczigel's interval is centred, and its standard error."""
    z = normal_quantile(confidence)
    n_judged = n + z**2
    judged = (positives + z**2 / 2) / n_judged
    youden, sp, se_variance, sp_variance = _adjusted_error(error)
    rate = (judged + sp - 1) / youden
    shift = 2 * z**2 * (rate * se_variance - (1 - rate) * sp_variance)
    variance = (
        judged * (1 - judged) / n_judged + rate**2 * se_variance + (1 - rate) ** 2 * sp_variance
    ) / youden**2
    return _Adjusted(rate + shift, float(np.sqrt(variance)))


def _adjusted_error(error: JudgeError) -> _AdjustedError:
    """Return the error rates with a right and a wrong label added to each."""
    n_se, n_sp = error.positives + 2, error.negatives + 2
    se, sp = (error.true_positives + 1) / n_se, (error.true_negatives + 1) / n_sp
    return _AdjustedError(se + sp - 1, sp, se * (1 - se) / n_se, sp * (1 - sp) / n_sp)


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
    if min(error.positives, error.negatives) < LEAST_OF_A_KIND and not is_gold_rate:
        return TOO_FEW_GOLD
    # Near chance the rate is divided by what may be 0, unless gold gives it without division.
    is_perhaps_chance = interval.low <= 0 or _adjusted_error(error).youden <= 0
    return PERHAPS_BY_CHANCE if is_perhaps_chance and not is_gold_rate else None


def _holding(rate: Fraction, interval: Interval) -> Interval:
    """Return the interval, reaching to the rate: its centre is moved, its ends may miss it."""
    return Interval(min(interval.low, float(rate)), max(interval.high, float(rate)))


def _normal_interval(centre: float, deviation: float, confidence: float) -> Interval:
    """Return centre ± z · deviation, cut to [0, 1]."""
    reach = normal_quantile(confidence) * deviation
    return Interval(*(min(1.0, max(0.0, end)) for end in (centre - reach, centre + reach)))
