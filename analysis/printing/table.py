"""A table: exact values for the CSV, and how to print them; rounding is half-up.

Cells are int, Fraction (exact rates), float, str, or None where a value is undefined.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragmend.analysis.statistics.checks import check_count, check_number
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

Cell = int | float | str | Fraction | None
Style = Literal["text", "count", "decimal", "interval", "p_value"]

JUDGE_COLUMNS = ("judge", "rater_a", "rater_b")
UNDEFINED = "—"
_MOST_DIGITS = 100
_LEAST_PRINTED_P = 1e-300
_LEAST_PLAIN_P = Fraction(1, 1000)


class Column(NamedTuple):
    """How one column prints; an interval reads `<name>_low` and `<name>_high`.

    Numbers print `scale` times their value: 100 prints a proportion as a percentage.
    """

    name: str
    heading: str
    style: Style
    digits: int = 0
    scale: int = 1


class Table(NamedTuple):
    """A finished table: every column goes to the CSV, the listed ones are printed."""

    name: str
    title: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    marks: Mapping[str, str] = MappingProxyType({})
    """What is printed for the name of a judge, where that is not the name itself."""
    is_lookup: bool = False
    """Whether it is long and for looking up only: written as files, not shown in a report."""


def table_frame(rows: Sequence[NamedTuple]) -> pd.DataFrame:
    """Return a frame of objects, so that counts stay int and rates stay exact.

    Raises:
        StatisticsError: There is no row.
    """
    import pandas as pd

    if not rows:
        raise StatisticsError("a table needs at least one row")
    return pd.DataFrame(rows, columns=list(rows[0]._fields), dtype=object)


def proportion(count: int, of: int) -> Fraction | None:
    """Return count / of exactly; None where there is nothing to divide by."""
    return Fraction(count, of) if of else None


def percent(count: int, of: int) -> Fraction | None:
    """Return 100 · count / of exactly; None where there is nothing to divide by."""
    return Fraction(100 * count, of) if of else None


def round_half_up(value: float | Fraction, digits: int) -> str:
    """Print a number with so many decimals, halves away from zero.

    A Fraction is rounded exactly; a float by the shortest decimal that names it, so that
    3.925 prints 3.93 although its binary value lies below.

    Raises:
        StatisticsError: The value is not finite or no number, or the digits are no count.
    """
    digits = check_count(digits, "digits", most=_MOST_DIGITS)
    exact = value if isinstance(value, Fraction) else _as_named(value)
    scaled = int(abs(exact) * 10**digits + Fraction(1, 2))
    sign = "-" if exact < 0 and scaled else ""
    whole, rest = divmod(scaled, 10**digits)
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"


def print_rows(table: Table) -> list[list[str]]:
    """Return the printed cells, row by row, in the order of the table's columns."""
    records = table.frame.to_dict("records")
    return [
        [_print_column(record, column, table.marks) for column in table.columns]
        for record in records
    ]


def print_p_value(p: float | Fraction) -> str:
    """Print a p-value: three decimals, or two digits and a power of ten when below .001."""
    if p < _LEAST_PRINTED_P:
        return "< 1e-300"
    return f"{float(p):.1e}" if p < _LEAST_PLAIN_P else round_half_up(p, 3)


def _print_column(record: Mapping[Hashable, Cell], column: Column, marks: Mapping[str, str]) -> str:
    if column.name in JUDGE_COLUMNS:
        name = str(record[column.name])
        return marks.get(name, name)
    if column.style != "interval":
        return _print_cell(record[column.name], column)
    ends = [record[f"{column.name}_low"], record[f"{column.name}_high"]]
    if None in ends:
        return UNDEFINED
    return f"[{', '.join(_print_number(end, column) for end in ends)}]"


def _print_cell(value: Cell, column: Column) -> str:
    if value is None:
        return UNDEFINED
    if column.style == "text":
        return str(value)
    if column.style == "p_value":
        return print_p_value(_number(value))
    return _print_number(value, column)


def _print_number(value: Cell, column: Column) -> str:
    return round_half_up(column.scale * _number(value), column.digits)


def _as_named(value: object) -> Fraction:
    number = check_number(value, "value")
    return Fraction(int(value)) if isinstance(value, Integral) else Fraction(Decimal(repr(number)))


def _number(value: Cell) -> float | Fraction:
    if value is None or isinstance(value, str):
        raise StatisticsError(f"expected a number to print, got {value!r}")
    return value
