"""P(support) from the probabilities of single words, and how near a threshold it lies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ragmend.analysis.statistics.checks import check_lengths, check_number, check_vector
from ragmend.errors import StatisticsError
from ragmend.io import shorten
from ragmend.llm.labels import LABEL_FORMS, NO_FORMS, TWO_TOKENS, YES_FORMS, Scoring

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FORMS: dict[Scoring, tuple[str, ...]] = {"two-token": TWO_TOKENS, "all-forms": LABEL_FORMS}


def support_of_forms(form_probs: Mapping[str, float], scoring: Scoring) -> float | None:
    """Return P(support) under one way of scoring, from what a model said of each form.

    p = Σ P(Yes forms) / (Σ P(Yes forms) + Σ P(No forms)), over the forms that count.

    Args:
        form_probs: P of each form as the answer's first token; a form that is absent is no
            single token of the model.
        scoring: Which forms count: "Yes" and "No" alone, or with small and capital letters
            and a leading space too.

    Returns:
        None where no form of Yes, or none of No, counts, or all of them have probability 0.

    Raises:
        StatisticsError: A form is unknown, a probability is none, or there is no such scoring.

    Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.2.
    """
    probs = _checked(form_probs)
    if not isinstance(scoring, str) or scoring not in _FORMS:
        raise StatisticsError(
            f"scoring: expected one of {', '.join(_FORMS)}, got {shorten(scoring)}"
        )
    yes, no = (
        [probs[form] for form in _in_both(_FORMS[scoring], forms) if form in probs]
        for forms in (YES_FORMS, NO_FORMS)
    )
    mass = math.fsum(yes) + math.fsum(no)
    return math.fsum(yes) / mass if yes and no and mass > 0 else None


def near_threshold(
    low_C: ArrayLike, high_C: ArrayLike, *, threshold: float, within: float
) -> NDArray[np.bool_]:
    """Tell of which claims P(support) may lie within a distance of the threshold.

    Args:
        low_C: The least that P(support) may be, in [0, 1].
        high_C: The most; the same where it is known exactly.
        threshold: In [0, 1].
        within: The distance, itself included.

    Raises:
        StatisticsError: A value is out of range, a low lies above its high, or the lengths differ.
    """
    low = check_vector(low_C, "low_C", kind="probability")
    high = check_vector(high_C, "high_C", kind="probability")
    check_lengths(low_C=low, high_C=high)
    if (low > high).any():
        raise StatisticsError("low_C: a value lies above that of high_C")
    threshold = check_number(threshold, "threshold", least=0, most=1)
    within = check_number(within, "within", least=0, most=1)
    return np.maximum(low - threshold, threshold - high) <= within


def _checked(form_probs: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(form_probs, Mapping):
        raise StatisticsError(f"form_probs: expected P by form, got {shorten(form_probs)}")
    for form in form_probs:
        if form not in LABEL_FORMS:
            raise StatisticsError(
                f"form_probs: expected forms of Yes and No, got {shorten(form)} among them"
            )
    return {
        form: check_number(p, f"form_probs, {form!r}", least=0, most=1)
        for form, p in form_probs.items()
    }


def _in_both(forms: Iterable[str], others: Iterable[str]) -> list[str]:
    return [form for form in forms if form in others]
