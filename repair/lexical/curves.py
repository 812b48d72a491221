"""An additive model of piecewise linear curves: one a feature, readable and quick to evaluate.

Source: Hastie and Tibshirani 1986, "Generalized Additive Models", with linear splines, fitted
as one ridge-penalised logistic regression (`ragmend.repair.lexical.fit`).
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from ragmend.records import Finite, Name, Record


class Curve(Record):
    """What one feature adds to the log odds: straight between knots, constant beyond the ends."""

    feature: Name
    knots: Annotated[tuple[Finite, ...], Field(min_length=1)]
    values: tuple[Finite, ...]

    @model_validator(mode="after")
    def _is_a_function(self) -> Self:
        if len(self.values) != len(self.knots):
            raise ValueError(f"curve {self.feature}: one value a knot is needed")
        if any(left >= right for left, right in pairwise(self.knots)):
            raise ValueError(f"curve {self.feature}: knots must increase")
        return self

    def at(self, x: float) -> float:
        """Return the curve's value at x."""
        right = bisect_right(self.knots, x)
        if right == 0:
            return self.values[0]
        if right == len(self.knots):
            return self.values[-1]
        low, high = self.knots[right - 1], self.knots[right]
        share = (x - low) / (high - low)
        return self.values[right - 1] * (1.0 - share) + self.values[right] * share


class AdditiveModel(Record):
    """Curves, an intercept, and the shift that turns a probability into a score.

    Attributes:
        curves: One a feature, in the features' order; they add up to the log odds of support.
        intercept: Log odds where all curves are 0.
        shift: Added to the log odds for the score, see `ragmend.repair.lexical.fit`.
    """

    curves: tuple[Curve, ...]
    intercept: Finite
    shift: Finite

    def log_odds(self, features: Sequence[float]) -> float:
        """Return the log odds of support, unshifted.

        Args:
            features: One value a curve.

        Returns:
            Their sum; infinite or NaN where parameters are out of all proportion, which whoever
            asks must treat as a fault.
        """
        added = [curve.at(value) for curve, value in zip(self.curves, features, strict=True)]
        return self.intercept + sum(added)


def expit(log_odds: float) -> float:
    """Return 1 / (1 + exp(-log_odds)) without overflow."""
    if log_odds >= 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    return math.exp(log_odds) / (1.0 + math.exp(log_odds))
