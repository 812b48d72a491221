"""Parts of a whole that are exact percentages: "half" is 50 %, "three quarters" are 75 %.

A third is not: "33 %" is rounded.
"""

import re
from decimal import Decimal
from fractions import Fraction

from ragmend.text.quantities.types import Number, canonical

_EXACT = frozenset({2, 4, 5, 8, 10})  # the parts that have a name and a percentage without end
_WRITTEN_AS_A_PART = re.compile(r"[½¼¾⅛⅜⅝⅞]|\d/\d|half|(?:\w+[ -])+[a-z]+", re.IGNORECASE)


def part_as_percentage(number: Number, written: str) -> str | None:
    """Return the percentage that a part of a whole is: "half" is "50"; None if it is no part.

    Args:
        number: What is stated.
        written: How: "0.5" is no part, it may be of any unit.
    """
    is_part = number.kind == "number" and not number.unit and _is_exact(Decimal(number.value))
    if not is_part or not _WRITTEN_AS_A_PART.fullmatch(written):
        return None
    return canonical(Decimal(number.value) * 100)


def percentage_as_part(number: Number) -> str | None:
    """Return the part of a whole that a percentage is: "75 %" is "0.75"; None if it has no name."""
    if number.kind != "percent" or not _is_exact(Decimal(number.value) / 100):
        return None
    return canonical(Decimal(number.value) / 100)


def _is_exact(value: Decimal) -> bool:
    return 0 < value < 1 and Fraction(value).denominator in _EXACT
