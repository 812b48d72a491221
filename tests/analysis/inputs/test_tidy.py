"""Anyone's columns: typed where they can be, refused with table, row and key where not."""

import pandas as pd
import pytest

from ragmend.analysis.inputs.tidy import tidy_frame
from ragmend.errors import StatisticsError

ARM = {
    "record_id": "1", "task": "QA", "gold": "1", "arm": "removal", "claims": "5", "eligible": "2",
    "claims_kept": "3", "dropped": "2", "substituted": "0", "rewritten": "0",
    "original_chars": "100", "repaired_chars": "60",
}  # fmt: skip
CLAIM = {
    "record_id": "1", "claim_id": "c0", "task": "QA", "record_gold": "0", "p_support": "0.25",
    "aligned": "1", "gold_unsupported": "0",
}  # fmt: skip


def arms(**changes):
    return pd.DataFrame([{**ARM, "record_id": "0"}, {**ARM, **changes}])


def claims(**changes):
    return pd.DataFrame([{**CLAIM, "claim_id": "z"}, {**CLAIM, **changes}])


def test_text_becomes_what_the_columns_hold():
    found = tidy_frame(arms(gold=""), "arms", name="arms.csv")
    assert found["claims"].tolist() == [5, 5]
    assert found["gold"].isna().tolist() == [False, True]
    assert found["record_id"].tolist() == ["0", "1"]


def test_typed_values_are_taken_as_they_are():
    numbers = arms().assign(record_id=[1, 2], gold=[True, None], claims=[5.0, 5])
    found = tidy_frame(numbers, "arms", name="arms.parquet")
    assert found["record_id"].tolist() == ["1", "2"]
    assert found["gold"].tolist()[0] == 1
    assert found["claims"].dtype == "Int64"


def test_a_column_of_ones_own_stays():
    assert tidy_frame(arms(note="x"), "arms", name="a")["note"].tolist()[1] == "x"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": ""}, r"arms.csv: row 2, record 1, arm removal: claims is missing"),
        ({"claims": None}, r"row 2, record 1, arm removal: claims is missing"),
        ({"claims": "-1"}, r"claims is '-1', expected a whole number, 0 or more"),
        ({"claims": "2.5"}, r"claims is '2.5', expected a whole number"),
        ({"claims": "many"}, r"claims is 'many', expected a whole number"),
        ({"repaired_chars": "inf"}, r"repaired_chars is 'inf', expected a whole number"),
        ({"repaired_chars": "nan"}, r"repaired_chars is 'nan', expected a whole number"),
        ({"gold": "2"}, r"gold is '2', expected 0 or 1"),
        ({"gold": "yes"}, r"gold is 'yes', expected 0 or 1"),
        ({"record_id": ""}, r"row 2, record , arm removal: record_id is missing"),
        ({"record_id": "0"}, r"row 2, record 0, arm removal: occurs more than once"),
    ],
)
def test_a_value_that_its_column_does_not_allow_is_refused_by_name(changes, message):
    with pytest.raises(StatisticsError, match=message):
        tidy_frame(arms(**changes), "arms", name="arms.csv")


@pytest.mark.parametrize("value", ["1.5", "-0.1", "NaN", "inf", "0,5", "high"])
def test_a_probability_outside_0_to_1_is_refused(value):
    with pytest.raises(StatisticsError, match=r"p_support is .*expected a number from 0 to 1"):
        tidy_frame(claims(p_support=value), "claims", name="c.csv")


def test_a_claim_that_was_not_verified_has_no_probability():
    assert tidy_frame(claims(p_support=""), "claims", name="c")["p_support"].isna().tolist() == [
        False,
        True,
    ]


def test_a_missing_column_is_named_with_those_that_are_there():
    with pytest.raises(StatisticsError, match=r"lacks the column\(s\) dropped; it has record_id"):
        tidy_frame(arms().drop(columns="dropped"), "arms", name="arms.csv")


def test_a_table_without_rows_is_refused():
    with pytest.raises(StatisticsError, match=r"arms.csv table has no rows"):
        tidy_frame(arms().iloc[:0], "arms", name="arms.csv")


def test_the_golden_tables_come_through_as_they_are(golden_frames):
    for frame in ("claims", "arms", "records", "selection"):
        given = getattr(golden_frames, frame)
        found = tidy_frame(given, frame, name=frame)
        assert list(found) == list(given)
        assert len(found) == len(given)
