"""What one value of anyone's table may be: read exactly, or refused; nothing is coerced.

Both ways into an analysis read with these: `ragmend import` from foreign files, and
`ragmend analyze` from tables that somebody wrote.
"""

import math
import re
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal

from ragmend.errors import DataError
from ragmend.io import shorten

Cell = str | int | float | None
Reader = Callable[[object], Cell]
MAX_COUNT = 10**12  # sums of counts stay exact in 64 bits, and no corpus has more
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
"""A number as text; a longer exponent is a mistake, and would be expensive as a fraction."""

FLAGS: dict[Hashable, int] = {
    # True, 1.0 and numpy's own zeros and ones hash like 1 and 0.
    0: 0, 1: 1, "0": 0, "1": 1, "0.0": 0, "1.0": 1,
    "false": 0, "true": 1, "False": 0, "True": 1, "FALSE": 0, "TRUE": 1,
}  # fmt: skip
_COUNT = re.compile(r"0*\d{1,13}(\.0+)?", re.ASCII)


def read_text(value: object) -> str:
    """Return text; a whole number is text of its digits.

    Raises:
        DataError: Something else, or nothing.
    """
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"expected text or a whole number, found {shorten(value)}")


def read_flag(value: object) -> int:
    """Return 0 or 1.

    Raises:
        DataError: Something else than 0, 1, true or false.
    """
    try:
        return FLAGS[value]
    except (KeyError, TypeError):
        raise DataError(f"expected 0 or 1, found {shorten(value)}") from None


def read_count(value: object) -> int:
    """Return a whole number from 0 to `MAX_COUNT`.

    Raises:
        DataError: Something else.
    """
    found = value
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    elif isinstance(found, str) and _COUNT.fullmatch(found):
        found = int(found.partition(".")[0].lstrip("0") or "0")
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MAX_COUNT:
        return found
    raise DataError(f"expected a whole number from 0 to {MAX_COUNT:,}, found {shorten(value)}")


def read_number(value: object) -> float:
    """Return a finite number.

    Raises:
        DataError: Something else.
    """
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        number = float(value)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = _as_float(value)
    else:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"expected a finite number, found {shorten(value)}")
    return number + 0.0  # no negative zero


def read_probability(value: object) -> float:
    """Return a number from 0 to 1.

    Raises:
        DataError: Something else.
    """
    return _number_up_to(1, value, what="a probability from 0 to 1")


def read_percent(value: object) -> float:
    """Return a number from 0 to 100.

    Raises:
        DataError: Something else.
    """
    return _number_up_to(100, value, what="percent from 0 to 100")


def read_printed_percent(value: object) -> str:
    """Return a number from 0 to 100 as it is written: 74.825 has no exact float.

    Raises:
        DataError: Something else.
    """
    read_percent(value)
    return str(value)


def read_one_of(words: Sequence[str]) -> Callable[[object], str]:
    """Return the function that reads one of some words, or raises DataError."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise DataError(f"expected one of {', '.join(words)}, found {shorten(value)}")

    return read


def _number_up_to(high: float, value: object, *, what: str) -> float:
    number = read_number(value)
    if not 0 <= number <= high:
        raise DataError(f"expected {what}, found {shorten(value)}")
    return number


def _as_float(value: float | Decimal) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):  # too large; a signalling NaN
        return math.inf
