"""What the records know of a labelled answer stands in for what the labels leave blank."""

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance
from ragmend.analysis.inputs.record_facts import labels_with_facts
from ragmend.errors import StatisticsError

RECORDS = pd.DataFrame(
    {"record_id": ["a", "b"], "source_id": ["s1", "s2"], "task": ["QA", "Summary"], "gold": [1, 0]}
)


def labels(**columns):
    cells = {"record_id": ["b", "a", "a"], "judge": ["x", "x", "y"], "condition": "o", "label": 0}
    return pd.DataFrame({**cells, **columns})


def filled(**columns):
    found = labels_with_facts(Frames(labels=labels(**columns), records=RECORDS), Provenance())
    return found[["source_id", "task", "gold"]].astype(str).to_numpy().tolist()


KNOWN = [["s2", "Summary", "0"], ["s1", "QA", "1"], ["s1", "QA", "1"]]


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"gold": "", "task": None},
        {"gold": ["", 1, 1], "task": ["Summary", "", "QA"], "source_id": ["", "s1", ""]},
        {"gold": ["0", "", "1"]},
    ],
)
def test_blanks_are_filled_from_the_records(columns):
    assert filled(**columns) == KNOWN


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"gold": [0, 0, 1]}, "row 2, record a, judge x, condition o: gold is not that of records"),
        ({"task": ["", "QA", "Summary"]}, "row 3, record a, judge y, condition o: task is not"),
        ({"source_id": "s1"}, "row 1, record b, judge x, condition o: source_id is not that of"),
    ],
)
def test_what_both_say_must_be_the_same(columns, message):
    with pytest.raises(StatisticsError, match=message):
        filled(**columns)


def test_a_value_that_is_no_gold_is_left_for_its_own_check_to_refuse():
    assert [row[2] for row in filled(gold=["0", "maybe", ""])] == ["0", "maybe", "1"]


def test_a_labelled_record_that_is_none_of_the_records_is_refused():
    frames = Frames(labels=labels(), records=RECORDS.iloc[:1])
    with pytest.raises(StatisticsError, match="records: record b has labels but no row here"):
        labels_with_facts(frames, Provenance())
