"""Where in a table something is wrong: the first such row, and its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

_WORDS = {"record_id": "record", "claim_id": "claim", "response_id": "response"}


def describe_row(values: Mapping[Any, Any]) -> str:
    """Name a row by its key, as in `record r1, judge strict`."""
    return ", ".join(f"{_WORDS.get(str(name), name)} {value}" for name, value in values.items())


def is_blank(column: pd.Series[Any]) -> pd.Series[bool]:
    """Tell which values are missing or empty text."""
    return column.isna() | (column == "")


def refuse_rows(
    frame: pd.DataFrame,
    wrong: pd.Series[bool],
    key: Sequence[str],
    name: str,
    message: str,
    error: type[Exception] = StatisticsError,
) -> None:
    """Raise the error unless no row is wrong; the first is named, counted from 1.

    Args:
        frame: The table, in the order it was given in.
        wrong: Whether each row is wrong.
        key: Columns that name a row.
        name: The table's name.
        message: What is wrong.
        error: The error to raise.
    """
    if not wrong.any():
        return
    place = int(wrong.to_numpy().argmax())
    at = describe_row({column: frame[column].iloc[place] for column in key})
    raise error(f"{name}: row {place + 1}, {at}: {message}")
