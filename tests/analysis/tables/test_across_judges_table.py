"""The tables across judges: the golden values, and what is left out or undefined."""

import math

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings
from ragmend.analysis.printing.notes import INDEPENDENT
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.study import Study
from ragmend.analysis.tables.across_judges_table import across_judges_table, cochran_q_table
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=50)


def study_of(rows: dict[str, dict[str, list[int]]], settings: Settings = FAST) -> Study:
    """Return a study of labels by judge and condition, records numbered."""
    labels = pd.DataFrame(
        [
            {"record_id": f"r{i:03}", "judge": judge, "condition": condition, "label": label}
            for judge, conditions in rows.items()
            for condition, found in conditions.items()
            for i, label in enumerate(found)
        ]
    )
    return Study(Frames(labels=labels), settings, Provenance())


@pytest.fixture(scope="module")
def golden(golden_frames) -> Study:
    return Study(golden_frames, FAST, Provenance(judges=("qwen", "llama", "gemma")))


def test_the_golden_judges_agree_on_all_contrasts_but_one(golden):
    frame = across_judges_table(golden).frame.set_index("contrast")
    assert frame["judges"].eq(3).all()
    # Gemma's (18, 4) is the weakest of original → generative, Llama's (25, 38) of the last.
    assert frame.loc["original-generative", "p_max"] == pytest.approx(4.344e-3, rel=5e-4)
    assert frame.loc["original-generative", "direction"] == "fewer in B"
    assert frame.loc["extractive-generative", "p_max"] == pytest.approx(0.1299, abs=5e-5)
    assert frame.loc["extractive-generative", "p_max_holm"] == pytest.approx(0.1299, abs=5e-5)
    assert frame.loc["extractive-generative", "not_significant"] == "llama"
    assert frame["significant"].tolist() == [3, 3, 3, 3, 2, None]
    assert frame.loc["removal-generative", "p_max_holm"] is None


def test_the_largest_p_is_that_of_the_contrasts(golden):
    frame = across_judges_table(golden).frame.set_index("contrast")
    for name, row in frame.iterrows():
        ps = [contrast.p_exact for contrast in golden.contrasts if contrast.contrast == name]
        assert row["p_max"] == max(ps)
        assert row["log10_p_max"] == pytest.approx(math.log10(max(ps)))


def test_opposite_signs_print_as_mixed_without_a_p():
    table = across_judges_table(
        study_of(
            {
                "a": {"original": [1, 1, 1, 0], "removal": [0, 0, 1, 0]},
                "b": {"original": [0, 1, 1, 0], "removal": [1, 1, 1, 0]},
            }
        )
    )
    assert print_rows(table) == [
        ["original-removal", "primary", "2", "mixed", "—", "—", "0", "a, b"]
    ]


def test_one_judge_is_left_out_with_the_reason():
    study = study_of({"a": {"original": [1, 1, 0], "removal": [0, 1, 0]}})
    reason = reason_to_leave_out(study, TABLES["across_judges"])
    assert reason == "needs labels of at least two judges"
    assert reason_to_leave_out(study, TABLES["cochran_q"]) is None


def test_one_condition_is_left_out_with_the_reason():
    study = study_of({"a": {"original": [1, 1, 0]}, "b": {"original": [0, 1, 0]}})
    for name in ("across_judges", "equivalence"):
        assert reason_to_leave_out(study, TABLES[name]) == study.design.reason
    reason = reason_to_leave_out(study, TABLES["cochran_q"])
    assert reason == "needs labels in at least two conditions"


def test_cochrans_q_of_the_golden_labels_is_the_formula_of_their_counts(golden, golden_frames):
    frame = cochran_q_table(golden).frame.set_index("judge")
    assert frame["conditions"].eq(4).all()
    for judge, labels in golden_frames.labels.groupby("judge"):
        wide = labels.pivot(index="record_id", columns="condition", values="label")
        columns, rows = wide.sum(), wide.sum(axis=1)
        q = 3 * (4 * (columns**2).sum() - columns.sum() ** 2) / (4 * rows.sum() - (rows**2).sum())
        assert frame.loc[judge, "q"] == pytest.approx(q)
        assert (frame.loc[judge, "df"], frame.loc[judge, "n"]) == (3, 916)
        assert frame.loc[judge, "p"] < 1e-11


def test_with_two_conditions_p_is_that_of_the_contrast_beside_it():
    study = study_of({"a": {"original": [1] * 5 + [0], "removal": [0] * 6}})
    table = cochran_q_table(study)
    row = table.frame.iloc[0]
    assert row["p"] == study.contrasts[0].p_exact == pytest.approx(0.0625)
    assert (row["n_varying"], row["p_by"]) == (5, "exact McNemar")
    assert any("exact test" in note for note in table.notes)


def test_few_changes_among_many_conditions_are_marked_in_their_row():
    conditions = {"original": [1] * 5 + [0] * 4, "removal": [0] * 9, "generative": [0] * 9}
    many = {name: labels * 2 for name, labels in conditions.items()}
    table = cochran_q_table(study_of({"a": conditions}))
    assert table.frame["p_by"].tolist() == ["chi-square, too few vary"]
    assert any("Tate and Brown" in note for note in table.notes)
    enough = cochran_q_table(study_of({"a": many}))
    assert enough.frame["p_by"].tolist() == ["chi-square"]
    assert not any("Tate and Brown" in note for note in enough.notes)


def test_both_tables_say_that_answers_are_taken_as_independent(golden):
    for table in (across_judges_table(golden), cochran_q_table(golden)):
        assert INDEPENDENT in table.notes


def test_a_judge_that_never_changes_has_nothing_to_test_and_the_note_says_so():
    same = {"original": [1, 0, 1], "removal": [1, 0, 1]}
    table = cochran_q_table(study_of({"a": same, "b": same}))
    assert print_rows(table) == [[judge, "3", "2", "—", "1", "0", "—", "—"] for judge in "ab"]
    assert any("nothing to test" in note for note in table.notes)
    joint = across_judges_table(study_of({"a": same, "b": same})).frame.iloc[0]
    assert (joint["direction"], joint["p_max"]) == ("none", None)


def test_a_table_across_judges_of_nothing_is_refused():
    with pytest.raises(StatisticsError):
        across_judges_table(study_of({"a": {"original": [1, 0]}}))
