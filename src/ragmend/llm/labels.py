"""P(support) from the log-probabilities of Yes and No as the answer's first token.

p = sum of P(Yes forms) / (sum of P(Yes forms) + sum of P(No forms)). Which forms count is a
named setting: `two-token` is the paper's, "Yes" and "No" alone; `all-forms` adds small and
capital letters and a leading space. On one prompt the three readings gave .204 ("Yes"/"No"),
.673 (" Yes"/" No", with a mass of .55) and .211 (all), so the mass is stored beside p.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.2.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ragmend.errors import AnswerFaultError
from ragmend.llm.protocol import NEGATIVE_INFINITY, LabelScores

Scoring = Literal["two-token", "all-forms"]

YES_FORMS = ("Yes", " Yes", "yes", " yes", "YES", " YES")
NO_FORMS = ("No", " No", "no", " no", "NO", " NO")
LABEL_FORMS = (*YES_FORMS, *NO_FORMS)
TWO_TOKENS = ("Yes", "No")


class Support(NamedTuple):
    """How far a text is supported.

    Attributes:
        p: P(support); the middle of the interval where there is one.
        mass: P(any form) as the answer's first token; None where no language model answered.
        interval: Between what p lies, where a server told its most probable tokens only.
        left_out_fragments: Fragments of the source that did not fit the model's context.
    """

    p: float
    mass: float | None = None
    interval: tuple[float, float] | None = None
    left_out_fragments: int = 0

    def decides(self, threshold: float) -> bool:
        """Tell whether p is known to be on one side of a threshold (>= or < is one side)."""
        if self.interval is None:
            return True
        low, high = self.interval
        return low >= threshold or high < threshold


def read_support(scores: LabelScores, scoring: Scoring, *, min_mass: float) -> Support:
    """Read P(support) from the log-probabilities of label forms.

    Args:
        scores: What the model gave.
        scoring: Which forms count.
        min_mass: The least P(any counted form); below it the model did not answer Yes or No.

    Raises:
        AnswerFaultError: `low_mass` where less than `min_mass` lies on the forms, or none at all;
            `non_finite` where every form has a log-probability of minus infinity; `empty` where
            no form of Yes, or none of No, is known.
    """
    yes, no = _counted(scores, YES_FORMS, scoring), _counted(scores, NO_FORMS, scoring)
    if not yes.all or not no.all:
        message = f"the model has no single token for {'No' if yes.all else 'Yes'} ({scoring})"
        raise AnswerFaultError(message, status="empty")
    logprobs = [scores.logprobs[form] for form in (*yes.known, *no.known)]
    if logprobs and all(logprob <= NEGATIVE_INFINITY for logprob in logprobs):
        raise AnswerFaultError(
            "every label's log-probability is minus infinity", status="non_finite"
        )
    p_yes, p_no = _sum(scores, yes.known), _sum(scores, no.known)
    mass = p_yes + p_no
    if mass <= 0.0 or mass < min_mass:
        raise AnswerFaultError(
            f"P(Yes) + P(No) is {mass:.3g}, at least {min_mass:g} was asked for: the model did "
            "not answer Yes or No",
            status="low_mass",
        )
    mass = min(mass, 1.0)  # rounding
    if scores.bound is None:
        return Support(p_yes / (p_yes + p_no), mass)
    most = math.exp(min(scores.bound, 0.0))
    low, high = _interval(p_yes, p_no, most * len(yes.absent), most * len(no.absent))
    return Support((low + high) / 2, mass, (low, high))


class _Forms(NamedTuple):
    known: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.known, *self.absent)


def _counted(scores: LabelScores, forms: Iterable[str], scoring: Scoring) -> _Forms:
    counted = [form for form in forms if scoring == "all-forms" or form in TWO_TOKENS]
    return _Forms(
        tuple(form for form in counted if form in scores.logprobs),
        tuple(form for form in counted if form in scores.absent),
    )


def _sum(scores: LabelScores, forms: Iterable[str]) -> float:
    return math.fsum(math.exp(scores.logprobs[form]) for form in forms)


def _interval(p_yes: float, p_no: float, more_yes: float, more_no: float) -> tuple[float, float]:
    """Return the least and greatest p when each side may hold so much more than is known."""
    least = p_yes / (p_yes + p_no + more_no) if p_yes else 0.0
    greatest = (p_yes + more_yes) / (p_yes + more_yes + p_no) if p_yes + more_yes else 0.0
    return least, greatest


def form_probabilities(scores: LabelScores) -> Mapping[str, float]:
    """Return P(form) of every form that the model told, for the record."""
    return {form: math.exp(logprob) for form, logprob in scores.logprobs.items()}
