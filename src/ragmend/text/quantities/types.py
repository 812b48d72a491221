"""What a number in a text is: its span, what it counts, its value and its unit."""

from decimal import Decimal
from typing import Literal, NamedTuple

NumberKind = Literal["number", "percent", "money", "ordinal", "date", "time", "year", "code"]


class Number(NamedTuple):
    """One number: `text[start:end]`, what it counts, and its canonical value.

    Attributes:
        start: First code point of the span.
        end: One past the last code point.
        kind: What is stated. A `code` is a telephone number or a version.
        value: A plain decimal ("3500000", "-5"); a date ("2015-03-26", "03-26", "2015-03", a
            month "03", a day of the week "monday", or "03/04" where its order is unknown); a
            time ("22:30", or "9 o'clock" where its half of the day is unknown); a year ("2015")
            or decade ("1990s"); the digits of a code.
        unit: The currency of money; the unit of a plain number, see `quantities.units`;
            "count" where it counts a noun that is no unit; "" where nothing says what it
            measures.
    """

    start: int
    end: int
    kind: NumberKind
    value: str
    unit: str = ""


def canonical(value: Decimal) -> str:
    """Return a decimal without exponent or trailing zeros: 4.0 and 4 are both "4"."""
    plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") or "0" if "." in plain else plain
