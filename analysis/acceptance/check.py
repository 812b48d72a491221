"""The check against published numbers: each beside the string that our tables print.

Of a list of published numbers only `id`, `location` and `published` are read: what somebody
else computed from the same data cannot make a number come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ragmend.analysis.acceptance.cells import addresses
from ragmend.analysis.acceptance.explained import explain
from ragmend.analysis.acceptance.readings import READINGS, Found, read_address
from ragmend.analysis.inputs.places import is_nothing
from ragmend.analysis.printing.table import Table
from ragmend.errors import DataError, StatisticsError
from ragmend.values import read_text

State = Literal["ok", "differs", "explained", "no input", "unknown"]

_COLUMNS = ("id", "location", "published")
_BORNE_OUT: tuple[State, ...] = ("ok", "explained")
_WORDS: dict[State, str] = {
    "ok": "ok", "explained": "explained", "differs": "differ",
    "no input": "without input", "unknown": "unknown",
}  # fmt: skip
_ALWAYS_COUNTED: tuple[State, ...] = ("ok", "explained", "differs")


class CheckedNumber(NamedTuple):
    """A published number and ours."""

    id: str
    location: str
    published: str
    ours: str | None
    """As our table prints it; None: there is none."""
    state: State
    reason: str
    """Why it is not simply ok; empty where it is."""


class PublishedNumber(NamedTuple):
    """One published number, its place in the paper and the printed string."""

    id: str
    location: str
    published: str


def check_published(
    tables: Mapping[str, Table], rows: Iterable[Mapping[Any, object]]
) -> list[CheckedNumber]:
    """Compare published numbers with what our tables print.

    Args:
        tables: The tables of an analysis, by name.
        rows: As of `read_published`.

    Returns:
        The numbers in the order given.

    Raises:
        StatisticsError: As `read_published`.
    """
    return check_numbers(tables, read_published(rows))


def read_published(
    rows: Iterable[Mapping[Any, object]], *, name: str = "published numbers"
) -> list[PublishedNumber]:
    """Check a list of published numbers.

    Args:
        rows: One published number each, with its id, its location in the paper and the printed
            string; every other column is ignored.
        name: The list's name in messages, a file.

    Raises:
        StatisticsError: There is none; a row lacks one of the three, or has a number that is
            no longer as it was printed; or an id occurs twice.
    """
    read: dict[str, PublishedNumber] = {}
    for place, row in enumerate(rows, start=1):
        found = PublishedNumber(
            *(_cell(row, column, f"{name}: row {place}") for column in _COLUMNS)
        )
        if found.id in read:
            raise StatisticsError(f"{name}: row {place}: {found.id} occurs more than once")
        read[found.id] = found
    if not read:
        raise StatisticsError(f"{name}: no rows, so that nothing would be checked")
    return list(read.values())


def check_numbers(
    tables: Mapping[str, Table], published: Iterable[PublishedNumber]
) -> list[CheckedNumber]:
    """Compare published numbers, once read, with what our tables print."""
    return [_check(tables, number) for number in published]


def all_borne_out(numbers: Iterable[CheckedNumber]) -> bool:
    """Tell whether every number comes out, or cannot come out of any data for a shown reason."""
    return all(number.state in _BORNE_OUT for number in numbers)


def check_lines(numbers: Sequence[CheckedNumber]) -> list[str]:
    """Return one aligned line a number below a heading, and the summary last."""
    rows = [
        (n.id, n.location, n.published, n.ours or "", f"{n.state}: {n.reason}".removesuffix(": "))
        for n in numbers
    ]
    heading = ("id", "location", "published", "ours", "state")
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    return [
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (heading, *rows)
        ),
        check_summary(numbers),
    ]


def check_summary(numbers: Iterable[CheckedNumber]) -> str:
    """Count the numbers by state, as in `240 ok, 2 explained, 0 differ`."""
    counts = Counter(number.state for number in numbers)
    return ", ".join(
        f"{counts[state]} {word}"
        for state, word in _WORDS.items()
        if counts[state] or state in _ALWAYS_COUNTED
    )


def _cell(row: Mapping[Any, object], column: str, where: str) -> str:
    value = row.get(column)
    if is_nothing(value):
        raise StatisticsError(f"{where}: no {column}")
    try:
        text = read_text(value).strip()
    except DataError as error:
        raise StatisticsError(f"{where}: {column}: {error}; write it in quotes") from error
    if not text:
        raise StatisticsError(f"{where}: no {column}")
    return text


def _check(tables: Mapping[str, Table], row: PublishedNumber) -> CheckedNumber:
    found = _find(tables, row.id)
    if found is None:
        return CheckedNumber(*row, None, "unknown", "no table is known to hold this number")
    if found.ours is None:
        return CheckedNumber(*row, None, "no input", found.place)
    if found.ours == row.published:
        return CheckedNumber(*row, found.ours, "ok", "")
    reason = explain(tables, row.id, published=row.published)
    if reason is not None:
        return CheckedNumber(*row, found.ours, "explained", reason)
    return CheckedNumber(*row, found.ours, "differs", found.place)


def _find(tables: Mapping[str, Table], number_id: str) -> Found | None:
    if number_id in READINGS:
        return READINGS[number_id](tables)
    address = addresses().get(number_id)
    return None if address is None else read_address(tables, address)
