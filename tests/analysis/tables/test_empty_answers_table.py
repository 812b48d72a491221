"""What empty answers do to rates and differences, by hand counts."""

from fractions import Fraction

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.study import Study
from ragmend.analysis.tables.empty_answers_table import empty_answers_table
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=50)
# label before, label after, empty before, empty after
RECORDS = [
    (1, 0, 0, 1), (1, 0, 0, 1), (0, 0, 0, 1), (1, 0, 0, 0), (1, 1, 0, 0),
    (0, 1, 0, 0), (0, 0, 0, 0), (1, 1, 0, 0), (0, 1, 1, 0), (1, 0, 0, 0),
]  # fmt: skip


def labels_of(records, conditions=("original", "removal")) -> pd.DataFrame:
    before, after = conditions
    return pd.DataFrame(
        [
            {"record_id": f"r{i}", "judge": "j", "condition": c, "label": label, "empty": empty}
            for i, (a, b, empty_a, empty_b) in enumerate(records)
            for c, label, empty in [(before, a, empty_a), (after, b, empty_b)]
        ]
    )


def make(labels: pd.DataFrame):
    return empty_answers_table(Study(Frames(labels=labels), FAST, Provenance()))


def test_rates_and_differences_are_as_counted_by_hand():
    original, removal = make(labels_of(RECORDS)).frame.to_dict("records")
    assert (original["n"], original["empty"]) == (10, 1)
    assert original["rate_pct"] == 60
    assert original["rate_nonempty_pct"] == Fraction(600, 9)
    assert (original["diff_pp"], original["n_nonempty"]) == (None, None)
    assert (removal["empty"], removal["rate_pct"]) == (3, 40)
    assert removal["rate_nonempty_pct"] == Fraction(400, 7)
    # All records: 4 − 6 of 10. Without r0, r1, r2 and r8: 3 − 4 of 6.
    assert removal["diff_pp"] == -20
    assert (removal["n_nonempty"], removal["diff_nonempty_pp"]) == (6, Fraction(-100, 6))
    assert removal["change_pp"] == Fraction(-100, 6) + 20


def test_without_empty_answers_nothing_changes():
    (_, removal) = make(labels_of([(a, b, 0, 0) for a, b, _, _ in RECORDS])).frame.to_dict(
        "records"
    )
    assert removal["change_pp"] == 0
    assert removal["rate_pct"] == removal["rate_nonempty_pct"]


def test_a_condition_of_empty_answers_only_is_undefined_with_the_reason():
    table = make(labels_of([(1, 0, 0, 1), (0, 0, 0, 1)]))
    assert print_rows(table)[1] == ["j", "removal", "2", "2", "0.0", "—", "-50.00", "0", "—", "—"]
    assert any("no record left" in note for note in table.notes)


def test_without_a_reference_only_rates_are_given():
    table = make(labels_of(RECORDS, conditions=("one", "two")))
    assert table.frame["diff_pp"].isna().all()
    assert any("no reference condition" in note for note in table.notes)


def test_labels_that_do_not_mark_empties_are_left_out_or_refused():
    labels = labels_of(RECORDS).drop(columns="empty")
    study = Study(Frames(labels=labels), FAST, Provenance())
    assert reason_to_leave_out(study, TABLES["empty_answers"]) == "needs labels.empty"
    with pytest.raises(StatisticsError, match="do not say which answers are empty"):
        make(labels)


def test_a_run_of_records_says_which_answers_are_empty(run):
    frames = build_frames(run, threshold=0.5)
    table = empty_answers_table(Study(frames, FAST, Provenance()))
    assert table.frame["n"].tolist() == [2] * 8  # two judges, four conditions
    assert table.frame["empty"].tolist() == [0] * 8
