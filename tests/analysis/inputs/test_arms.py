"""The arms frame: arranged by record and arm, or refused by row and key."""

import numpy as np
import pandas as pd
import pytest

from ragmend.analysis import Frames
from ragmend.analysis.inputs.arms import arm_cube
from ragmend.errors import AccountingError, StatisticsError
from ragmend.records import ARMS

COUNTS = {"claims": 4, "eligible": 2, "claims_kept": 2, "dropped": 2, "substituted": 0}
CHARS = {"rewritten": 0, "original_chars": 100, "repaired_chars": 50}


def frame(**changes):
    """Two records in two arms; r2 has gold 0."""
    rows = [
        {"record_id": record, "task": "QA", "gold": gold, "arm": arm, **COUNTS, **CHARS}
        for arm in ("removal", "extractive")
        for record, gold in (("r2", 0), ("r1", 1))
    ]
    return pd.DataFrame(rows).assign(**changes)


def records(*ids, **columns):
    columns = {"source_id": [f"s-{record}" for record in ids], **columns}
    return pd.DataFrame({"record_id": list(ids), **columns})


def cube(arms, records=None, known=ARMS):
    return arm_cube(Frames(arms=arms, records=records), known=known)


def with_cell(column, value, row=2):
    arms = frame().astype({column: object})
    arms.loc[row, column] = value
    return arms


def test_records_are_sorted_and_arms_in_the_known_order():
    found = cube(frame(repaired_chars=[10, 20, 30, 140]), records("r1", "r2", "r3"))
    assert found.record_ids == ("r1", "r2")
    assert found.arms == ("removal", "extractive")
    assert found.ratio_RA.tolist() == [[0.2, 1.4], [0.1, 0.3]]
    assert found.counts_RA["claims_kept"].tolist() == [[2, 2], [2, 2]]
    assert found.gold_R.tolist() == [1, 0]
    assert found.tasks_R == ("QA", "QA")
    assert found.sources_R == ("s-r1", "s-r2")


def test_the_order_of_the_rows_changes_nothing():
    whole = frame(repaired_chars=[10, 20, 30, 140])
    one, other = cube(whole), cube(whole.iloc[::-1])
    assert (one.ratio_RA == other.ratio_RA).all()
    assert one[:2] == other[:2]


def test_what_is_not_known_is_said_to_be_unknown():
    arms = frame(gold=pd.NA, task=None)
    found = cube(arms)
    assert found.gold_R.tolist() == [-1, -1]
    assert found.tasks_R is None
    assert found.sources_R is None
    assert cube(arms.drop(columns="task")).tasks_R is None
    assert cube(arms, records("r1", "r2", source_id=None)).sources_R is None


def test_ids_that_were_read_as_numbers_are_text():
    arms = frame(record_id=[2, 1, 2, 1])
    assert cube(arms, records(1, 2)).sources_R == ("s-1", "s-2")


def test_counts_that_were_read_as_floats_are_counts():
    assert cube(frame(claims=4.0)).counts_RA["claims"].dtype == np.int64


@pytest.mark.parametrize("value", [np.nan, -1, 1.5, np.inf, "many", None])
@pytest.mark.parametrize("column", ["claims", "dropped", "repaired_chars"])
def test_a_count_that_is_none_is_refused_by_row_and_key(column, value):
    with pytest.raises(StatisticsError) as refused:
        cube(with_cell(column, value))
    assert str(refused.value).startswith(f"arms: row 3, record r2, arm extractive: {column} ")
    assert "is not a count" in str(refused.value)


@pytest.mark.parametrize("column", ["repaired_chars", "gold", "arm"])
def test_a_missing_column_is_named(column):
    with pytest.raises(StatisticsError, match=rf"lacks the column\(s\) {column}"):
        cube(frame().drop(columns=column))


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (with_cell("arm", "removl"), "row 3, record r2, arm removl: unknown arm, expected one of"),
        (with_cell("arm", None), "row 3.*a part of the key is missing"),
        (with_cell("record_id", ""), "row 3.*a part of the key is missing"),
        (with_cell("arm", "removal"), "record_id r2, arm removal occurs more than once"),
        (with_cell("original_chars", 0), "row 3.*the original answer is empty"),
        (with_cell("gold", 1), "row 3, record r2, arm extractive: gold is not that of"),
        (with_cell("task", "Summary"), "row 3, record r2, arm extractive: task is not that of"),
        (with_cell("task", None), "row 3.*task is missing here, though not everywhere"),
        (frame().drop(index=3), "record r1, arm extractive: no such row"),
    ],
)
def test_keys_and_facts_that_do_not_fit_are_refused(arms, message):
    with pytest.raises(StatisticsError, match=message):
        cube(arms)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (with_cell("dropped", 1), "row 3.*claims are not kept . dropped"),
        (with_cell("substituted", 3), "row 3.*more claims replaced than kept"),
        (with_cell("eligible", 5), "row 3.*more claims eligible than there are"),
        (with_cell("eligible", 1), "row 3.*eligible is not that of the record's first arm"),
        (with_cell("original_chars", 90), "row 3.*original_chars is not that of"),
    ],
)
def test_counts_that_do_not_add_up_are_refused(arms, message):
    with pytest.raises(AccountingError, match=message):
        cube(arms)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (records("r1"), "records: record r2 has arms but no row here"),
        (records("r1", "r2", source_id=["s", None]), "row 2, record r2: source_id is missing"),
        (records("r1", "r2", "r2"), "record_id r2 occurs more than once"),
    ],
)
def test_records_that_do_not_name_every_source_are_refused(own, message):
    with pytest.raises(StatisticsError, match=message):
        cube(frame(), own)
