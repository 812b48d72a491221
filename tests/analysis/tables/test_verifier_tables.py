from fractions import Fraction

import pandas as pd
import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import print_rows, round_half_up
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.verifier_rows import THRESHOLDS
from ragmend.analysis.tables.verifier_tables import (
    threshold_table,
    verifier_by_task_table,
    without_gold_claims,
)
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=200)


@pytest.fixture(scope="module")
def golden_study(golden_frames):
    return Study(golden_frames, FAST, Provenance(faults=()))


@pytest.fixture(scope="module")
def by_task(golden_study):
    return verifier_by_task_table(golden_study)


def claims_frame():
    rows = [
        ("r1", "c0", "QA", 1, 0.2, 1, 1),
        ("r1", "c1", "QA", 1, 0.9, 1, 0),
        ("r1", "c2", "QA", 1, 0.1, 0, None),
        ("r2", "c0", "QA", 0, 0.4, 1, 0),
        ("r3", "c0", "Summary", 0, 0.7, 1, 0),
        ("r3", "c1", "Summary", 0, None, 1, 0),
    ]
    columns = "record_id claim_id task record_gold p_support aligned gold_unsupported".split()
    return pd.DataFrame(rows, columns=columns)


def study(records=None, threshold=0.5, **columns):
    claims = claims_frame().assign(**columns)
    provenance = Provenance(faults=(), threshold=threshold)
    return Study(Frames(claims=claims, records=records), FAST, provenance)


def row_of(table, column, value):
    (row,) = (row for row in table.frame.to_dict("records") if row[column] == value)
    return row


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_table_2_comes_out_as_published(golden_study, acceptance, threshold):
    row = row_of(threshold_table(golden_study), "threshold", threshold)
    for ours, theirs in (("flagged", "flagged"), ("tp", "TP"), ("fp", "FP"), ("fn", "FN")):
        assert str(row[ours]) == acceptance[f"t2.{threshold}.{theirs}"]
    for ours, theirs in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
        assert round_half_up(row[ours], 3) == acceptance[f"t2.{threshold}.{theirs}"]
        if ours != "f1":
            assert round_half_up(row[f"paper_{ours}"], 3) == acceptance[f"t2.{threshold}.{theirs}"]


def test_all_claims_below_and_clean_answers_edited_are_those_of_the_arms(golden_study, acceptance):
    row = row_of(threshold_table(golden_study), "threshold", 0.5)
    assert str(row["all_below"]) == acceptance["ver.eligible"]
    assert round_half_up(row["clean_edited_pct"], 1) == acceptance["t7.clean.removal.edited"]


def test_the_pooled_counts_are_the_published_ones(by_task, acceptance):
    row = row_of(by_task, "task", "pooled")
    for ours, theirs in (
        ("claims", "claims"), ("aligned", "aligned"), ("unaligned", "unaligned"),
        ("gold_positive", "gold_pos"), ("eligible", "eligible"),
        ("eligible_unaligned", "eligible_unaligned"),
    ):  # fmt: skip
        assert str(row[ours]) == acceptance[f"ver.{theirs}"]
    assert round_half_up(row["auc"], 3) == acceptance["ver.auc"]


@pytest.mark.parametrize("task", ["QA", "Summary", "Data2txt"])
def test_the_tasks_shares_and_medians_are_the_published_ones(by_task, acceptance, task):
    row = row_of(by_task, "task", task)
    assert round_half_up(row["eligible_pct"], 1) == acceptance[f"t6.elig.{task}"]
    median = round_half_up(row["median_p"], 3)
    assert median == acceptance.get(f"ver.median.{task}", median)


def test_the_two_intervals_hold_the_area_and_the_sources_are_counted(by_task):
    for row in by_task.frame.to_dict("records"):
        assert row["auc_low"] < row["auc"] < row["auc_high"]
        assert row["auc_cluster_low"] < row["auc"] < row["auc_cluster_high"]
    assert row_of(by_task, "task", "pooled")["sources"] == 349


def test_a_few_claims_are_counted_by_hand():
    row = row_of(threshold_table(study()), "threshold", 0.5)
    # Aligned with gold below .5: r1 c0 (unsupported) and r2 c0; beside them the unaligned r1 c2.
    assert (row["flagged"], row["tp"], row["fp"], row["fn"]) == (2, 1, 1, 0)
    assert (row["all_below"], row["all_below_pct"]) == (3, Fraction(300, 5))
    assert row["hallucinated_below_pct"] == Fraction(200, 3)
    assert row["clean_edited_pct"] == 50  # r2, not r3


def test_a_claim_on_the_threshold_is_not_flagged():
    assert row_of(threshold_table(study()), "threshold", 0.4)["flagged"] == 1
    assert row_of(verifier_by_task_table(study(threshold=0.4)), "task", "QA")["eligible"] == 2


def test_unverified_claims_are_left_out_and_counted():
    for table in (threshold_table(study()), verifier_by_task_table(study())):
        assert any(note.startswith("1 claims were not verified") for note in table.notes)
    assert row_of(verifier_by_task_table(study()), "task", "Summary")["claims"] == 1


def test_development_claims_are_left_out_and_counted():
    split = ["development"] * 3 + ["test"] * 3
    table = verifier_by_task_table(study(split=split))
    assert row_of(table, "task", "pooled")["claims"] == 2
    assert "3 claims of the development split are left out" in table.notes


def test_without_sources_there_is_no_interval_over_them_and_a_note():
    table = verifier_by_task_table(study())
    row = row_of(table, "task", "pooled")
    assert (row["sources"], row["auc_cluster_low"]) == (None, None)
    assert any("sources: not in this input" in note for note in table.notes)
    assert any(note.startswith("AUC of Summary: undefined") for note in table.notes)
    assert print_rows(table)[1][-3:] == ["—", "—", "—"]


def test_a_record_without_a_source_is_named():
    records = pd.DataFrame({"record_id": ["r1", "r2"], "source_id": ["s", "s"]})
    with pytest.raises(StatisticsError, match="record r3 has claims but no source"):
        verifier_by_task_table(study(records))


def test_without_both_kinds_by_gold_table_2_is_left_out():
    assert without_gold_claims(study()) is None
    assert "needs aligned claims" in without_gold_claims(study(gold_unsupported=0))
    assert "needs aligned claims" in without_gold_claims(study(gold_unsupported=None))


def test_unannotated_claims_have_counts_but_no_area():
    table = verifier_by_task_table(study(gold_unsupported=None, record_gold=None))
    row = row_of(table, "task", "pooled")
    assert (row["eligible"], row["gold_positive"], row["auc"]) == (3, 0, None)
    assert any("4 of 4 aligned claims have no gold" in note for note in table.notes)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"p_support": [0.2, 1.5, 0.1, 0.4, 0.7, None]}, "row 2, record r1, claim c1.*outside"),
        ({"p_support": ["0.2", "x", "0.1", "0.4", "0.7", None]}, "claim c1: p_support is not a n"),
        ({"kind": "statement"}, "row 6, record r3, claim c1: p_support of this statement is mis"),
        ({"aligned": [1, None, 1, 1, 1, 1]}, "record r1, claim c1: aligned is missing"),
        ({"task": [None, *["QA"] * 5]}, "record r1, claim c0: task is missing"),
        ({"split": ["dev"] * 6}, "unknown split, expected development or test"),
        ({"split": ["test", "development"] * 3}, "answer's claims are in both splits"),
        ({"split": "development"}, "no verified claim outside the development split"),
        ({"p_support": None}, "no verified claim"),
    ],
)
def test_claims_that_cannot_be_measured_are_refused_by_name(columns, message):
    with pytest.raises(StatisticsError, match=message):
        threshold_table(study(**columns))


def test_headings_of_a_run_need_no_probability():
    kinds = ["statement"] * 5 + ["heading"]
    assert row_of(threshold_table(study(kind=kinds)), "threshold", 0.5)["all_below"] == 3
