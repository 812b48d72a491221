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
        (
            {"claims": "-1"},
            r"claims: expected a whole number from 0 to 1,000,000,000,000, found '-1'",
        ),
        ({"claims": "2.5"}, r"claims: expected a whole number.*, found '2.5'"),
        ({"claims": "many"}, r"claims: expected a whole number.*, found 'many'"),
        ({"repaired_chars": "inf"}, r"repaired_chars: expected a whole number.*, found 'inf'"),
        ({"repaired_chars": "nan"}, r"repaired_chars: expected a whole number.*, found 'nan'"),
        ({"gold": "2"}, r"gold: expected 0 or 1.*, found '2'"),
        ({"gold": "yes"}, r"gold: expected 0 or 1.*, found 'yes'"),
        ({"record_id": ""}, r"row 2, record \(blank\), arm removal: record_id is missing"),
        ({"claims": True}, r"claims: expected a whole number from 0 .*, found True"),
        ({"claims": "1000000000001"}, r"claims: expected a whole number .*'1000000000001'"),
        ({"claims": 10**400}, r"claims: expected a whole number .*, found 1000"),
        ({"claims": 10**5000}, r"claims: expected .*, found int too long to print"),
        ({"claims": [1]}, r"claims: expected a whole number .*, found \[1\]"),
        ({"gold": [1]}, r"gold: expected 0 or 1, found \[1\]"),
        ({"task": ["QA"]}, r"task: expected text or a whole number, found \['QA'\]"),
        ({"record_id": 1.5}, r"row 2, record 1.5, .*: record_id: expected text or a whole number"),
        ({"record_id": b"1"}, r"record_id: expected text or a whole number, found b'1'"),
        ({"record_id": True}, r"record_id: expected text or a whole number, found True"),
        ({"record_id": "x" * 5000, "gold": "?"}, r"row 2, record x{79}…, arm removal: gold"),
        ({"record_id": "0"}, r"row 2, record 0, arm removal: occurs more than once"),
    ],
)
def test_a_value_that_its_column_does_not_allow_is_refused_by_name(changes, message):
    with pytest.raises(StatisticsError, match=message):
        tidy_frame(arms(**changes), "arms", name="arms.csv")


@pytest.mark.parametrize("value", ["1.5", "-0.1", "NaN", "inf", "0,5", "high"])
def test_a_probability_outside_0_to_1_is_refused(value):
    with pytest.raises(
        StatisticsError, match=r"p_support: expected a (probability from 0 to 1|finite number)"
    ):
        tidy_frame(claims(p_support=value), "claims", name="c.csv")


@pytest.mark.parametrize(
    ("frame", "changes", "message"),
    [
        ("claims", {"kind": "sentence"}, "kind: expected one of statement, heading, lead_in, qu"),
        ("claims", {"split": "train"}, "split: expected one of development, test, found 'train'"),
        ("claims", {"action_removal": "keep "}, "action_removal: expected one of keep, substit"),
        ("claims", {"action_mine": "kept"}, "action_mine: expected one of keep, substitute, rew"),
        ("claims", {"source_id": ["s"]}, "source_id: expected text or a whole number"),
        ("claims", {"p_support": True}, "p_support: expected a finite number, found True"),
        ("selection", {"verdict": "yes"}, "verdict: expected one of hallucinated, clean, unpars"),
        ("runs", {"f1": "7_8.5"}, "f1: expected a finite number, found '7_8.5'"),
        ("runs", {"f1": "٧٨"}, "f1: expected a finite number, found '٧٨'"),
        ("runs", {"f1": " 78"}, "f1: expected a finite number, found ' 78'"),
        ("runs", {"f1": "1e-999999999"}, "f1: expected a finite number"),
        ("runs", {"f1": "100.5"}, "f1: expected percent from 0 to 100, found '100.5'"),
        ("runs", {"empty_pct": "101"}, "empty_pct: expected percent from 0 to 100, found '101'"),
    ],
)
def test_a_word_or_number_outside_its_columns_list_is_refused(frame, changes, message):
    row = {
        "claims": CLAIM,
        "selection": {"response_id": "t1", "gold": "1", "flagged": "1", "record_id": "1"},
        "runs": {"model": "7b", "seed": "1", "f1": "78.5", "usable": "1"},
    }[frame]
    tidy_frame(pd.DataFrame([row]), frame, name="x.csv")
    wrong = pd.DataFrame([dict.fromkeys(changes) | row, row | changes], dtype=object)
    wrong[next(iter(row))] = ["0", "1"]
    with pytest.raises(StatisticsError, match=rf"x\.csv: row 2, .*: {message}"):
        tidy_frame(wrong, frame, name="x.csv")


def test_a_score_stays_as_it_was_printed():
    runs = pd.DataFrame([{"model": "7b", "seed": 1, "f1": "74.830", "usable": True}])
    assert tidy_frame(runs, "runs", name="r")["f1"].tolist() == ["74.830"]


def test_categories_are_read_as_what_they_stand_for():
    found = tidy_frame(arms().astype("category"), "arms", name="arms")
    assert found["claims"].tolist() == [5, 5]
    assert found["gold"].tolist() == [1, 1]
    labels = pd.DataFrame({"record_id": ["1"], "judge": ["j"], "condition": ["o"], "label": ["1"]})
    assert tidy_frame(labels.astype("category"), "labels", name="l")["label"].tolist() == [1]


def test_counts_are_exact_up_to_the_largest():
    assert tidy_frame(arms(claims=10**12), "arms", name="a")["claims"].tolist() == [5, 10**12]
    assert tidy_frame(arms(claims="999999999999.0"), "arms", name="a")["claims"][1] == 10**12 - 1


def test_the_same_published_score_twice_is_refused():
    row = {"table": "1", "group": "QA", "method": "m", "model": "", "f1": "1"}
    row |= {"precision": "1", "recall": ""}
    with pytest.raises(StatisticsError, match=r"p: row 2, table 1, .*model \(blank\): occurs more"):
        tidy_frame(pd.DataFrame([row, row]), "published", name="p")


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
