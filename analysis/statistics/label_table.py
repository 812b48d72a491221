"""The label table that a statistic takes whole: checked far enough to read its conditions."""

from __future__ import annotations

from ragmend.analysis.inputs.frames import require_columns
from ragmend.analysis.inputs.labels import KEY
from ragmend.analysis.inputs.places import is_blank, refuse_rows
from ragmend.errors import StatisticsError


def conditions_of(labels: object) -> list[str]:
    """Return the conditions of a tidy label table, in order of appearance.

    Raises:
        StatisticsError: It is no frame, has no row, lacks a column has one twice or
            complex labels, or a condition is missing.
    """
    import pandas as pd

    if not isinstance(labels, pd.DataFrame):
        raise StatisticsError(f"labels: expected a DataFrame, got {type(labels).__name__}")
    doubled = labels.columns[labels.columns.duplicated()]
    if len(doubled):
        raise StatisticsError(f"labels: more than one column is called {doubled[0]!r}")
    require_columns(labels, [*KEY, "label"], table="labels")
    if labels["label"].dtype.kind == "c":
        raise StatisticsError("labels: a label is 0 or 1, but the column holds complex numbers")
    absent = is_blank(labels["condition"])
    refuse_rows(labels, absent, KEY, "labels", "a part of the key is missing")
    return [str(condition) for condition in labels["condition"].unique()]
