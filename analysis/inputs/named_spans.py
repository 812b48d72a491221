"""How many strings the judges named as unsupported, and how many of them stand in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.places import read_column, refuse_rows
from ragmend.values import read_count

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

SPAN_COLUMNS = ("n_spans", "n_located")
_UNKNOWN = -1


class SpanCounts(NamedTuple):
    """Strings a label, in rows or in a cube; -1 of a judge that does not name any, or unlabelled.

    Attributes:
        named: All that the judge named.
        located: Those that stand in the answer.
    """

    named: NDArray[np.int64]
    located: NDArray[np.int64]


def span_counts(
    labels: pd.DataFrame, label_L: NDArray[np.int64], *, key: Sequence[str], name: str
) -> SpanCounts:
    """Read how many strings each judge named, held to the labels.

    Args:
        labels: `SPAN_COLUMNS`, both blank in all rows of a judge that gives labels only; judge.
        label_L: The labels, row by row; -1 where missing.
        key: Columns that name a row.
        name: The table's name in messages.

    Returns:
        Counts row by row.

    Raises:
        StatisticsError: A value is no count; only one of the two is given; more strings are
            located than named; a label is not 1 exactly where a string is named; or a judge
            names strings in some of its labels only.
    """
    import pandas as pd

    named_L, located_L = (_counts(labels, column, key, name) for column in SPAN_COLUMNS)
    is_labelled, is_known = label_L != _UNKNOWN, named_L != _UNKNOWN
    one_is_missing = is_known != (located_L != _UNKNOWN)
    contradicts = is_known & is_labelled & (label_L != (named_L > 0))
    telling = labels["judge"].isin(set(labels["judge"][is_known & is_labelled]))
    partly = telling.to_numpy(dtype=bool) & is_labelled & ~is_known
    for wrong_L, message in (
        (one_is_missing, "one of n_spans and n_located is missing"),
        (located_L > named_L, "n_located is more than n_spans"),
        (contradicts, "a label is 1 exactly where n_spans is at least 1"),
        (partly, "n_spans is missing here, though not everywhere of this judge"),
    ):
        refuse_rows(labels, pd.Series(wrong_L, index=labels.index), key, name, message)
    is_counted = is_labelled & is_known
    return SpanCounts(
        *(np.where(is_counted, counts_L, _UNKNOWN) for counts_L in (named_L, located_L))
    )


def _counts(labels: pd.DataFrame, column: str, key: Sequence[str], name: str) -> NDArray[np.int64]:
    """Return a column's whole numbers, -1 where it is blank."""
    read = read_column(labels, column, read_count, key, name)
    return np.array([_UNKNOWN if count is None else count for count in read], dtype=np.int64)
