"""The tidy label table: checked once, then a cube of records × judges × conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragmend.analysis.inputs.frames import require_columns
from ragmend.analysis.inputs.named_spans import SPAN_COLUMNS, SpanCounts, span_counts
from ragmend.analysis.inputs.places import (
    describe_row,
    in_message,
    is_blank,
    read_column,
    refuse_rows,
)
from ragmend.analysis.settings import Incomplete
from ragmend.errors import StatisticsError
from ragmend.values import FLAGS, read_flag, read_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

KEY = ["record_id", "judge", "condition"]
GOLD = "gold"
"""The rater that stands for human annotation in tables of agreement."""
ALL = "all"
"""Both raters of the row that holds what all judges have in common."""
_RESERVED = {GOLD: "human annotation", ALL: "all judges together"}
READINGS = FLAGS
"""What a 0 or 1 may be written as."""
_MISSING = -1
_HOW_TO_DROP = "--incomplete drop leaves such records out"


class LabelCube(NamedTuple):
    """Complete paired labels; records sorted by id, whatever order they came in."""

    record_ids: tuple[str, ...]
    judges: tuple[str, ...]
    conditions: tuple[str, ...]
    labels_RJC: NDArray[np.int64]  # noqa: N815
    """0 or 1."""
    empty_RJC: NDArray[np.int64] | None  # noqa: N815
    """1 where the answer was empty; None where the table does not say."""
    gold_R: NDArray[np.int64]  # noqa: N815
    """1 where the untouched answer is hallucinated by gold, 0 where not, -1 where unknown."""
    tasks_R: tuple[str, ...] | None  # noqa: N815
    """Task of each record; None where the table does not say."""
    sources_R: tuple[str, ...] | None  # noqa: N815
    """Source of each record; None where the table does not say."""
    n_dropped: int
    """Records left out because a label was missing."""
    spans_RJC: SpanCounts | None = None  # noqa: N815
    """What the judges named; None where the table does not say."""

    def labels_R(self, judge: str, condition: str) -> NDArray[np.int64]:  # noqa: N802
        """Return one judge's labels of one condition."""
        return self.labels_RJC[:, self.judges.index(judge), self.conditions.index(condition)]


def label_cube(
    labels: pd.DataFrame,
    *,
    conditions: Sequence[str],
    judges: Sequence[str] = (),
    incomplete: Incomplete = "refuse",
    name: str = "labels",
) -> LabelCube:
    """Check a label table and arrange it as a cube.

    Args:
        labels: Columns record_id, judge, condition, label (0/1 or true/false), and perhaps
            empty (0/1), n_spans and n_located (counts, or missing for a judge that names
            nothing), gold (0/1 or missing), task and source_id, the latter three the same in
            all rows of a record.
        conditions: The conditions that every record must have, in the cube's order.
        judges: The judges that every record must have, in the cube's order; empty: those
            found, by name.
        incomplete: What to do with a record that lacks a label: stop, or leave it out.
        name: The table's name in messages.

    Raises:
        StatisticsError: A column or part of a key is missing; a label is not 0 or 1; a judge
            or condition is unknown, or a judge is called gold or all; a (record, judge,
            condition) cell occurs twice or not at all; an empty answer is labelled 1; a label is
            not what its spans make it; a record has two golds, tasks or sources.
    """
    require_columns(labels, [*KEY, "label"], table=name)
    labels = _with_text_keys(labels.reset_index(drop=True), name)
    _refuse_reserved(labels, name)
    judges = tuple(judges) or tuple(sorted(labels["judge"].unique()))
    _refuse_unknown(labels, "condition", conditions, name)
    _refuse_unknown(labels, "judge", judges, name)
    refuse_rows(labels, labels.duplicated(KEY), KEY, name, "this cell occurs more than once")
    if incomplete == "refuse":
        refuse_rows(labels, is_blank(labels["label"]), KEY, name, f"no label; {_HOW_TO_DROP}")
    record_ids = tuple(sorted(labels["record_id"].unique()))
    axes = (record_ids, judges, tuple(conditions))
    cells, label_L = _cells(labels, axes), _flags(labels, "label", name)
    empty_L = _flags(labels, "empty", name) if "empty" in labels else None
    cube = LabelCube(
        *axes,
        labels_RJC=_fill(label_L, cells, axes),
        empty_RJC=None if empty_L is None else _fill(empty_L, cells, axes),
        gold_R=_gold(labels, record_ids, name),
        tasks_R=_fact(labels, "task", record_ids, name),
        sources_R=_fact(labels, "source_id", record_ids, name),
        n_dropped=0,
        spans_RJC=_spans(labels, label_L, cells, axes, name),
    )
    return _complete(_without_contradictions(cube, name), incomplete, name)


def keep_records(cube: LabelCube, kept_R: NDArray[np.bool_]) -> LabelCube:
    """Return the cube of some of its records.

    Raises:
        StatisticsError: No record is kept.
    """
    if not kept_R.any():
        raise StatisticsError("no record is left to compare")
    return cube._replace(
        record_ids=_pick(cube.record_ids, kept_R),
        labels_RJC=cube.labels_RJC[kept_R],
        empty_RJC=None if cube.empty_RJC is None else cube.empty_RJC[kept_R],
        gold_R=cube.gold_R[kept_R],
        tasks_R=None if cube.tasks_R is None else _pick(cube.tasks_R, kept_R),
        sources_R=None if cube.sources_R is None else _pick(cube.sources_R, kept_R),
        spans_RJC=None
        if cube.spans_RJC is None
        else SpanCounts(*(counts_RJC[kept_R] for counts_RJC in cube.spans_RJC)),
    )


def _pick(names: Sequence[str], kept_R: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, is_kept in zip(names, kept_R, strict=True) if is_kept)


def _with_text_keys(labels: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the table with keys as text, so that records sort alike however ids were read."""
    absent = labels[KEY].apply(is_blank).any(axis=1)
    refuse_rows(labels, absent, KEY, name, "a part of the key is missing")
    return labels.assign(**{part: read_column(labels, part, read_text, KEY, name) for part in KEY})


def _refuse_reserved(labels: pd.DataFrame, name: str) -> None:
    for judge, whose in _RESERVED.items():
        message = f"a judge cannot be called {judge!r}: in tables of agreement that is {whose}"
        refuse_rows(labels, labels["judge"] == judge, KEY, name, message)


def _refuse_unknown(labels: pd.DataFrame, column: str, known: Sequence[str], name: str) -> None:
    message = f"unknown {column}, expected one of {', '.join(known)}"
    refuse_rows(labels, ~labels[column].isin(known), KEY, name, message)


def _cells(labels: pd.DataFrame, axes: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return the place of each row in the flattened cube."""
    import pandas as pd

    codes = [
        pd.Categorical(labels[column], categories=list(axis)).codes.astype(np.int64)
        for column, axis in zip(KEY, axes, strict=True)
    ]
    return np.ravel_multi_index(codes, [len(axis) for axis in axes]).astype(np.int64)


def _fill(
    values_L: NDArray[np.int64], cells: NDArray[np.int64], axes: Sequence[Sequence[str]]
) -> NDArray[np.int64]:
    """Return a column as a cube, -1 where the table has no row or no value."""
    shape = [len(axis) for axis in axes]
    filled = np.full(int(np.prod(shape)), _MISSING, dtype=np.int64)
    filled[cells] = values_L
    return filled.reshape(shape)


def _spans(
    labels: pd.DataFrame,
    label_L: NDArray[np.int64],
    cells: NDArray[np.int64],
    axes: Sequence[Sequence[str]],
    name: str,
) -> SpanCounts | None:
    if not set(SPAN_COLUMNS) <= set(labels):
        return None
    counts = span_counts(labels, label_L, key=KEY, name=name)
    return SpanCounts(*(_fill(counts_L, cells, axes) for counts_L in counts))


def _flags(labels: pd.DataFrame, column: str, name: str) -> NDArray[np.int64]:
    """Return a column's zeros and ones, -1 where it is blank."""
    read = read_column(labels, column, read_flag, KEY, name)
    return np.array([_MISSING if flag is None else flag for flag in read], dtype=np.int64)


def _gold(labels: pd.DataFrame, record_ids: Sequence[str], name: str) -> NDArray[np.int64]:
    if "gold" not in labels:
        return np.full(len(record_ids), _MISSING, dtype=np.int64)
    golds = labels.assign(gold=_flags(labels, "gold", name))
    known = golds[golds["gold"] != _MISSING]  # blank in some rows of a record: known from others
    of_record = _one_a_record(known, "gold", name)
    return of_record.reindex(list(record_ids), fill_value=_MISSING).to_numpy(dtype=np.int64)


def _fact(
    labels: pd.DataFrame, column: str, record_ids: Sequence[str], name: str
) -> tuple[str, ...] | None:
    if column not in labels:
        return None
    absent = is_blank(labels[column])
    if absent.all():
        return None
    refuse_rows(labels, absent, KEY, name, f"{column} is missing here, though not everywhere")
    facts = read_column(labels, column, read_text, KEY, name)
    of_record = _one_a_record(labels.assign(**{column: facts}), column, name)
    return tuple(of_record.loc[list(record_ids)])


def _one_a_record(labels: pd.DataFrame, column: str, name: str) -> pd.Series[Any]:
    """Return the column by record id, once it is known to be the same in all of its rows."""
    first = labels.drop_duplicates("record_id").set_index("record_id")[column]
    differs = labels[column] != labels["record_id"].map(first)
    if differs.any():
        row = labels[differs].iloc[0]
        here, before = map(in_message, (row[column], first[row["record_id"]]))
        message = f"{column} is {here} here and {before} in the record's first row"
        refuse_rows(labels, differs, KEY, name, message)
    return first


def _without_contradictions(cube: LabelCube, name: str) -> LabelCube:
    if cube.empty_RJC is None:
        return cube
    contradictory = np.argwhere((cube.empty_RJC == 1) & (cube.labels_RJC == 1))
    if len(contradictory):
        at = _name_cell(cube, contradictory[0])
        raise StatisticsError(f"{name}: {at}: an empty answer cannot be labelled 1")
    unknown = np.argwhere((cube.empty_RJC == _MISSING) & (cube.labels_RJC != _MISSING))
    if len(unknown):
        at = _name_cell(cube, unknown[0])
        raise StatisticsError(f"{name}: {at}: whether the answer is empty is missing")
    return cube


def _complete(cube: LabelCube, incomplete: Incomplete, name: str) -> LabelCube:
    lacks_RJC = cube.labels_RJC == _MISSING
    if not lacks_RJC.any():
        return cube
    if incomplete == "refuse":
        at = _name_cell(cube, np.argwhere(lacks_RJC)[0])
        raise StatisticsError(
            f"{name}: {at}: no label ({int(lacks_RJC.sum())} of {lacks_RJC.size} cells are "
            f"missing); {_HOW_TO_DROP}"
        )
    lacking_R = lacks_RJC.any(axis=(1, 2))
    if lacking_R.all():
        raise StatisticsError(f"{name}: every record lacks a label; nothing can be compared")
    return keep_records(cube, ~lacking_R)._replace(n_dropped=int(lacking_R.sum()))


def _name_cell(cube: LabelCube, cell: NDArray[np.int64]) -> str:
    r, j, c = cell
    return describe_row(
        {"record_id": cube.record_ids[r], "judge": cube.judges[j], "condition": cube.conditions[c]}
    )
