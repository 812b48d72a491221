"""The columns of a table value by value, and where one is wrong: the first such row, its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmend.errors import DataError, StatisticsError
from ragmend.io import shorten
from ragmend.values import Cell, Reader

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 80  # characters of a name in a message
_WORDS = {"record_id": "record", "claim_id": "claim", "response_id": "response"}


def describe_row(values: Mapping[Any, Any]) -> str:
    """Name a row by its key, as in `record r1, judge strict`; long names are cut."""
    return ", ".join(
        f"{_WORDS.get(str(name), name)} {in_message(value)}" for name, value in values.items()
    )


def in_message(value: object) -> str:
    """Return a value as a message says it: a text without quotes, and cut where it is long."""
    if is_nothing(value):
        return "(blank)"
    if not isinstance(value, str):
        return shorten(_as_python(value), _LONGEST)
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"


def is_blank(column: pd.Series[Any]) -> pd.Series[bool]:
    """Tell which values are missing or empty text."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    if infer_dtype(column, skipna=False) in ("string", "integer", "boolean"):
        return column.isna() | (column == "")
    # One by one: a list among the values would be compared element by element.
    return pd.Series([is_nothing(value) for value in column], index=column.index, dtype=bool)


def is_nothing(value: object) -> bool:
    """Tell whether one value is missing or empty text."""
    import pandas as pd

    if isinstance(value, str):
        return not value
    return value is None or value is pd.NA or value is pd.NaT or _is_nan(value)


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


def read_column(
    frame: pd.DataFrame,
    column: str,
    read: Reader,
    key: Sequence[str],
    name: str,
) -> pd.Series[Any]:
    """Return a column with every value read, None where it is blank.

    Args:
        frame: The table, in the order it was given in.
        column: Its column, of whatever type: also categories, numpy's and Python's own values.
        read: Reads one value, or raises DataError.
        key: Columns that name a row.
        name: The table's name.

    Raises:
        StatisticsError: A value that is refused; the message names its row.
    """
    import pandas as pd

    quickly = _read_texts(frame[column], read)
    if quickly is not None:
        return quickly
    cells: list[Cell] = []
    for place, value in enumerate(frame[column]):
        try:
            cells.append(None if is_nothing(value) else read(_as_python(value)))
        except DataError as error:
            at = describe_row({part: frame[part].iloc[place] for part in key})
            raise StatisticsError(f"{name}: row {place + 1}, {at}: {column}: {error}") from error
    return pd.Series(cells, index=frame.index, dtype=object)


def _read_texts(column: pd.Series[Any], read: Reader) -> pd.Series[Any] | None:
    """Return a column of texts alone, each different one read once; None: look row by row."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    if infer_dtype(column, skipna=False) != "string":
        return None
    codes, texts = pd.factorize(column)
    cells = np.full(len(texts) + 1, None, dtype=object)  # the last for what is missing, code -1
    try:
        cells[:-1] = [read(text) if text else None for text in map(str, texts)]
    except DataError:
        return None  # row by row it is named
    return pd.Series(cells[codes], index=column.index, dtype=object)


def _is_nan(value: object) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _as_python(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
