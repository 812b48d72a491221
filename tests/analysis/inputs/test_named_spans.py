"""Counts of named strings beside the labels: read, held to them, and refused by row."""

import pandas as pd
import pytest

from ragmend.analysis.inputs.labels import label_cube
from ragmend.analysis.inputs.tidy import tidy_frame
from ragmend.errors import StatisticsError

# record, judge, label, n_spans, n_located
ROWS = [
    ("r1", "a", 1, 3, 2), ("r2", "a", 1, 1, 0), ("r3", "a", 0, 0, 0),
    ("r1", "b", 1, None, None), ("r2", "b", 0, None, None), ("r3", "b", 1, None, None),
]  # fmt: skip


def labels(**changes) -> pd.DataFrame:
    columns = ["record_id", "judge", "label", "n_spans", "n_located"]
    frame = pd.DataFrame(ROWS, columns=columns, dtype=object).assign(condition="original")
    for column, value in changes.items():
        frame.loc[1, column] = value
    return frame


def cube(frame, **options):
    return label_cube(frame, conditions=("original",), **options)


def test_counts_stand_beside_the_labels_and_are_unknown_of_other_judges():
    spans = cube(labels()).spans_RJC
    assert spans.named[:, :, 0].tolist() == [[3, -1], [1, -1], [0, -1]]
    assert spans.located[:, :, 0].tolist() == [[2, -1], [0, -1], [0, -1]]


@pytest.mark.parametrize("column", ["n_spans", "n_located"])
def test_a_table_with_one_column_of_two_tells_nothing(column):
    assert cube(labels().drop(columns=column)).spans_RJC is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_spans": -1}, r"row 2, record r2, judge a.*n_spans: expected a whole number"),
        ({"n_located": 0.5}, r"row 2, record r2, judge a.*n_located: expected a whole number"),
        ({"n_located": 2}, r"row 2, record r2, judge a.*n_located is more than n_spans"),
        ({"n_located": None}, r"row 2, record r2.*one of n_spans and n_located is missing"),
        ({"n_spans": None}, r"row 2, record r2.*one of n_spans and n_located is missing"),
        ({"n_spans": 0}, r"row 2, record r2.*a label is 1 exactly where n_spans is at least 1"),
        ({"label": 0}, r"row 2, record r2.*a label is 1 exactly where n_spans is at least 1"),
        ({"n_spans": None, "n_located": None}, r"row 2, record r2.*though not everywhere of this"),
    ],
)
def test_what_contradicts_the_label_or_itself_is_refused_with_its_row(changes, message):
    if changes == {"n_spans": 0}:
        changes = {"n_spans": 0, "n_located": 0}
    with pytest.raises(StatisticsError, match=message):
        cube(labels(**changes))


def test_a_record_without_a_label_goes_with_its_counts():
    found = cube(labels(label=None), incomplete="drop")
    assert found.record_ids == ("r1", "r3")
    assert found.spans_RJC.named[:, 0, 0].tolist() == [3, 0]


def test_counts_come_through_from_text():
    text = labels().map(lambda value: "" if value is None else str(value))
    found = tidy_frame(text, "labels", name="labels.csv")
    assert found["n_spans"].tolist()[:3] == [3, 1, 0]
    assert found["n_located"].isna().tolist() == [False] * 3 + [True] * 3
    assert cube(found).spans_RJC.located[:, 0, 0].tolist() == [2, 0, 0]


def test_a_count_that_is_none_is_refused_on_reading():
    with pytest.raises(StatisticsError, match=r"labels.csv: row 2, .*n_spans: expected a whole"):
        tidy_frame(labels(n_spans="many"), "labels", name="labels.csv")
