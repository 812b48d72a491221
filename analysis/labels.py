"""The tidy label table: checked once, then a cube of records × judges × conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.frames import require_columns
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

KEY = ["record_id", "judge", "condition"]
# True, 1.0 and numpy's own zeros and ones hash like 1 and 0, so this covers them.
_READINGS = {0: 0, 1: 1, "0": 0, "1": 1, "false": 0, "true": 1}


class LabelCube(NamedTuple):
    """Complete paired labels; records sorted by id, whatever order they came in."""

    record_ids: tuple[str, ...]
    judges: tuple[str, ...]
    conditions: tuple[str, ...]
    labels_RJC: NDArray[np.int64]  # noqa: N815
    empty_RJC: NDArray[np.int64] | None  # noqa: N815
    """1 where the answer was empty; None where the table does not say."""


def label_cube(
    labels: pd.DataFrame, *, conditions: Sequence[str], judges: Sequence[str] = ()
) -> LabelCube:
    """Check a label table and arrange it as a cube.

    Args:
        labels: Columns record_id, judge, condition, label (0/1 or true/false), and
            perhaps empty (0/1).
        conditions: The conditions that every record must have, in the cube's order.
        judges: The judges that every record must have, in the cube's order; empty: those
            found, by name.

    Raises:
        StatisticsError: A column or part of a key is missing; a label is not 0 or 1; a judge
            or condition is unknown; a (record, judge, condition) cell occurs twice or not at
            all; an empty answer is labelled 1.
    """
    require_columns(labels, [*KEY, "label"], table="labels")
    labels = _with_text_keys(labels)
    judges = tuple(judges) or tuple(sorted(labels["judge"].unique()))
    _refuse_unknown(labels, "condition", conditions)
    _refuse_unknown(labels, "judge", judges)
    _refuse_duplicates(labels)
    record_ids = tuple(sorted(labels["record_id"].unique()))
    axes = (record_ids, judges, tuple(conditions))
    labels_RJC = _fill(labels, "label", axes)
    empty_RJC = _fill(labels, "empty", axes) if "empty" in labels else None
    if empty_RJC is not None:
        _refuse_empty_and_hallucinated(labels)
    return LabelCube(*axes, labels_RJC, empty_RJC)


def _with_text_keys(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the table with keys as text, so that records sort alike however ids were read."""
    incomplete = labels[labels[KEY].isna().any(axis=1)]
    if len(incomplete):
        raise StatisticsError(f"{_place(incomplete)}: a part of the key is missing")
    return labels.astype(dict.fromkeys(KEY, str))


def _refuse_unknown(labels: pd.DataFrame, column: str, known: Sequence[str]) -> None:
    unknown = labels[~labels[column].isin(known)]
    if len(unknown):
        raise StatisticsError(
            f"{_place(unknown)}: unknown {column}, expected one of {', '.join(known)}"
        )


def _refuse_duplicates(labels: pd.DataFrame) -> None:
    repeated = labels[labels.duplicated(KEY)]
    if len(repeated):
        raise StatisticsError(f"{_place(repeated)}: this cell occurs more than once")


def _refuse_empty_and_hallucinated(labels: pd.DataFrame) -> None:
    is_empty, is_hallucinated = (labels[name].map(_READINGS).eq(1) for name in ("empty", "label"))
    contradictory = labels[is_empty & is_hallucinated]
    if len(contradictory):
        raise StatisticsError(f"{_place(contradictory)}: an empty answer cannot be labelled 1")


def _fill(
    labels: pd.DataFrame, column: str, axes: tuple[tuple[str, ...], ...]
) -> NDArray[np.int64]:
    import pandas as pd

    read = labels[column].map(_READINGS)
    wrong = labels[read.isna()]
    if len(wrong):
        value = wrong[column].iloc[0]
        raise StatisticsError(f"{_place(wrong)}: {column} {value!r} is neither 0 nor 1")
    cells = pd.MultiIndex.from_product(axes, names=KEY)
    filled = pd.Series(read.to_numpy(), index=pd.MultiIndex.from_frame(labels[KEY])).reindex(cells)
    if filled.isna().any():
        record_id, judge, condition = cells[filled.isna().to_numpy()][0]
        raise StatisticsError(
            f"labels: record {record_id}, judge {judge}, condition {condition}: no label "
            f"({int(filled.isna().sum())} of {len(cells)} cells are missing)"
        )
    return filled.to_numpy(dtype=np.int64).reshape([len(axis) for axis in axes])


def _place(rows: pd.DataFrame) -> str:
    """Name the first of some rows, counted from 1 without the header, and its key."""
    record_id, judge, condition = rows.iloc[0][KEY]
    row = rows.index[0]
    at = f"row {row + 1}, " if isinstance(row, int | np.integer) else ""
    return f"labels: {at}record {record_id}, judge {judge}, condition {condition}"
