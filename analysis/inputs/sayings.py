"""What several tables say of the same things, and the first two that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragmend.analysis.inputs.labels import READINGS
from ragmend.analysis.inputs.places import describe_row, in_message
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd


_REMINDERS = {"gold": "; gold is one value a record, that of the untouched answer"}


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return names as text, blank as missing; a column of floats (12.0) as its whole numbers."""
    if column.dtype.kind == "f":  # what a column of whole numbers becomes beside a blank
        column = column.convert_dtypes()
    text = column.astype(str).astype(object)
    return text.mask(column.isna() | (text == ""))


def as_flag(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return 0 and 1 however written; what is neither, which others refuse, as missing."""
    return column.map(READINGS).astype("Int64")


def sayings(
    frame: pd.DataFrame, key: Sequence[str], value: pd.Series[Any], file: str
) -> pd.DataFrame:
    """Return what a table says: the columns of the key, value, row and file; blanks say nothing.

    Args:
        frame: The key's columns, as text; rows that repeat may have been left out, but the
            index is that of the whole table, from 0.
        key: The columns that name what it speaks of.
        value: What it says of that, row by row.
        file: The table's name.
    """
    said = frame[list(key)].assign(value=value.astype(object)).dropna()
    return said.assign(row=said.index + 1, file=file)


def refuse_two_values(said: Sequence[pd.DataFrame], key: Sequence[str], what: str) -> None:
    """Raise StatisticsError unless everything that is said of one thing is the same.

    Args:
        said: What each table says, as `sayings`.
        key: The columns of the key.
        what: What the values are called.
    """
    import pandas as pd

    if not said:
        return
    everything = pd.concat(said, ignore_index=True)
    distinct = everything.drop_duplicates([*key, "value"])
    others = distinct[distinct.duplicated(list(key))]
    if len(others):
        found = others.iloc[0]
        is_same = (distinct[list(key)] == found[list(key)]).all(axis=1)
        before = distinct[is_same].iloc[0]
        raise StatisticsError(
            f"{found['file']}: row {found['row']}, {describe_row(found[list(key)].to_dict())}: "
            f"{what} is {in_message(found['value'])}, but {in_message(before['value'])} in row "
            f"{before['row']} of {before['file']}{_REMINDERS.get(what, '')}"
        )
