"""Scores as a paper prints them: each stands for every number that rounds to it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.places import describe_row
from ragmend.analysis.printing.table import round_half_up
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

KEY = ["table", "group", "method", "model"]
SCORES = ("precision", "recall", "f1")
MACRO = "macro"
"""The group whose scores are means over the others."""


class Range(NamedTuple):
    """The numbers that a printed one may stand for, both ends included."""

    low: Fraction
    high: Fraction

    def meets(self, other: Range) -> bool:
        """Tell whether some number is in both."""
        return self.low <= other.high and other.low <= self.high


class Printed(NamedTuple):
    """A score in percent as printed."""

    value: Fraction
    digits: int

    @property
    def text(self) -> str:
        """The score as it stands in the paper."""
        return round_half_up(self.value, self.digits)

    @property
    def range(self) -> Range:
        """The numbers that round to it."""
        half_unit = Fraction(1, 2 * 10**self.digits)
        return Range(self.value - half_unit, self.value + half_unit)


class ScoreLine(NamedTuple):
    """One printed line; a score that is not printed is None."""

    table: str
    group: str
    method: str
    model: str
    precision: Printed | None
    recall: Printed | None
    f1: Printed | None

    @property
    def system(self) -> str:
        """Method and model, as in `RAG-HAT (LLaMA-3-8B)`."""
        return f"{self.method} ({self.model})" if self.model else self.method

    @property
    def scores(self) -> tuple[Printed | None, ...]:
        """All of `SCORES`."""
        return self.precision, self.recall, self.f1

    def score(self, name: str) -> Printed | None:
        """Return one of `SCORES`."""
        found: Printed | None = self._asdict()[name]
        return found


def printed_scores(study: Study) -> list[ScoreLine]:
    """Return the lines of the `published` frame; none where it is not given.

    A table's numbers are taken to have as many digits as the one that shows most, for 48.00 is
    read as 48.

    Raises:
        StatisticsError: A column is missing, a line occurs twice, or a score is no percentage.
    """
    if not study.frames.has("published"):
        return []
    frame = needed(study.frames, "published", [*KEY, *SCORES], key=KEY)
    rows: list[dict[str, Any]] = [
        {name: _text(row[name]) for name in KEY} | {name: _read(row, name) for name in SCORES}
        for row in frame.to_dict("records")
    ]
    digits: dict[str, int] = {}
    for row in rows:
        shown = max(_digits(row[name]) for name in SCORES)
        digits[row["table"]] = max(shown, digits.get(row["table"], 0))
    return [
        ScoreLine(**row | {name: _printed(row[name], digits[row["table"]]) for name in SCORES})
        for row in rows
    ]


def f1_range(precision: Range, recall: Range) -> Range | None:
    """Return where F1 = 2PR / (P + R) can lie; None where both may be zero.

    F1 rises with P and with R, so that its ends are those of the ranges' ends.

    **Source**: van Rijsbergen 1979, Information Retrieval, chapter 7.
    """
    if precision.low + recall.low <= 0:
        return None
    low, high = (2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True))
    return Range(low, high)


def mean_range(ranges: Iterable[Range]) -> Range:
    """Return where the mean of numbers in these ranges can lie."""
    lows, highs = zip(*ranges, strict=True)
    return Range(sum(lows, Fraction(0)) / len(lows), sum(highs, Fraction(0)) / len(highs))


def _read(row: Mapping[Hashable, Any], name: str) -> Decimal | None:
    if _text(row[name]) == "":
        return None
    try:
        score = float(row[name])
    except ValueError:
        score = math.nan
    if not 0 <= score <= 100:
        at = describe_row({key: row[key] for key in KEY})
        raise StatisticsError(f"published: {at}: {name} {row[name]!r} is no percentage")
    return Decimal(repr(score))


def _printed(score: Decimal | None, digits: int) -> Printed | None:
    return None if score is None else Printed(Fraction(score), digits)


def _digits(score: Decimal | None) -> int:
    """Return how many decimals a number needs; the ".0" of a whole float is none."""
    if score is None or score == score.to_integral():
        return 0
    return -int(score.as_tuple().exponent)


def _text(value: Any) -> str:  # noqa: ANN401 - a cell of anyone's table
    import pandas as pd

    return "" if pd.isna(value) else str(value)
