"""Judge errors and label budgets: golden values by hand arithmetic, refusals, and partial gold."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import Frames, Provenance, Settings
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.printing.write import table_csv
from ragmend.analysis.study import Study
from ragmend.analysis.tables.judge_error_tables import judge_error_table, label_budget_table
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out

FAST = Settings(n_resamples=50)
JUDGES = Provenance(judges=("qwen", "llama", "gemma"))


@pytest.fixture(scope="module")
def golden(golden_frames) -> Study:
    return Study(golden_frames, FAST, JUDGES)


def labels_of(cells: dict[tuple[int, int, int], int], **columns) -> pd.DataFrame:
    """Return labels of one judge: (original, removal, gold) repeated, gold -1 unknown."""
    rows = [cell for cell, count in cells.items() for _ in range(count)]
    return pd.DataFrame(
        [
            {
                "record_id": f"r{i:04}",
                "judge": "j",
                "condition": condition,
                "label": label,
                "gold": None if gold == -1 else gold,
            }
            for i, (before, after, gold) in enumerate(rows)
            for condition, label in [("original", before), ("removal", after)]
        ]
    ).assign(**columns)


def study_of(labels: pd.DataFrame) -> Study:
    return Study(Frames(labels=labels), FAST, Provenance())


@pytest.mark.parametrize(
    ("judge", "true_positives", "true_negatives"),
    [("qwen", 726, 45), ("llama", 699, 38), ("gemma", 737, 4)],
)
def test_golden_error_rates_are_those_of_the_papers_confusion_tables(
    golden, judge, true_positives, true_negatives
):
    frame = judge_error_table(golden).frame.set_index(["judge", "condition"])
    row = frame.loc[(judge, "original")]
    sensitivity, specificity = Fraction(true_positives, 740), Fraction(true_negatives, 176)
    assert (row["sensitivity"], row["specificity"]) == (sensitivity, specificity)
    assert row["youden"] == sensitivity + specificity - 1
    assert row["n_gold"] == 916
    # Judged: true positives and false positives; corrected: the gold rate itself.
    assert row["rate"] == Fraction(true_positives + 176 - true_negatives, 916)
    assert row["corrected"] == row["raw_corrected"] == Fraction(740, 916)
    assert row["status"] == "corrected"
    # statsmodels proportion_confint(740, 916, method="wilson")
    for name in ("corrected", "ppi"):
        ends = (row[f"{name}_low"], row[f"{name}_high"])
        assert ends == pytest.approx(proportion_confint(740, 916, method="wilson"))
    assert (row["ppi"], row["ppi_lambda"]) == (740 / 916, None)


def test_every_golden_transport_to_a_repaired_condition_is_refused(golden):
    frame = judge_error_table(golden).frame.query("condition != 'original'")
    assert len(frame) == 9
    assert (frame["raw_corrected"] < 0).all()
    assert set(frame["status"]) == {"refused: the formula leaves [0, 1]"}
    for name in ("corrected", "corrected_low", "corrected_high", "ppi", "ppi_low", "ppi_lambda"):
        assert frame[name].isna().all()
    assert (frame["n_gold"] == 0).all()


@pytest.mark.parametrize(
    ("judge", "condition", "hallucinated", "true_positives", "true_negatives"),
    [("qwen", "removal", 498, 726, 45), ("gemma", "generative", 895, 737, 4)],
)
def test_the_formula_of_a_golden_repaired_condition_is_as_by_hand(
    golden, judge, condition, hallucinated, true_positives, true_negatives
):
    frame = judge_error_table(golden).frame.set_index(["judge", "condition"])
    specificity = Fraction(true_negatives, 176)
    youden = Fraction(true_positives, 740) + specificity - 1
    expected = (Fraction(hallucinated, 916) + specificity - 1) / youden
    assert frame.loc[(judge, condition), "raw_corrected"] == expected


def test_a_transport_inside_0_and_1_is_given_on_condition():
    # Sensitivity 36/40, specificity 48/60; after the repair 30 of 100: (.3 + .8 − 1) / .7.
    cells = {(1, 1, 1): 25, (1, 0, 1): 11, (0, 0, 1): 4, (1, 1, 0): 5, (1, 0, 0): 7, (0, 0, 0): 48}
    table = judge_error_table(study_of(labels_of(cells)))
    row = table.frame.iloc[1]
    assert row["condition"] == "removal"
    assert row["corrected"] == Fraction(1, 7)
    assert row["corrected_low"] < 1 / 7 < row["corrected_high"]
    assert row["status"] == "corrected, if error rates carry over"
    assert any("human labels on repaired answers are needed" in note for note in table.notes)


def test_empty_answers_were_not_judged_and_are_not_corrected():
    cells = {(1, 1, 1): 25, (1, 0, 1): 11, (0, 0, 1): 4, (1, 1, 0): 5, (1, 0, 0): 7, (0, 0, 0): 48}
    labels = labels_of(cells)
    is_empty = (labels["condition"] == "removal") & (labels.index >= 180)
    row = judge_error_table(study_of(labels.assign(empty=is_empty.astype(int)))).frame.iloc[1]
    assert (row["n"], row["rate"]) == (90, Fraction(30, 90))
    # (1/3 + .8 − 1) / .7
    assert row["corrected"] == (Fraction(1, 3) + Fraction(4, 5) - 1) / Fraction(7, 10)


def test_empty_untouched_answers_were_not_judged_either():
    cells = {(1, 1, 1): 25, (1, 0, 1): 11, (0, 0, 1): 4, (1, 1, 0): 5, (1, 0, 0): 7, (0, 0, 0): 48}
    labels = labels_of(cells)
    # The last 10 records, clean by gold and judged so, turn out to be empty.
    is_empty = (labels["condition"] == "original") & (labels.index >= 180)
    study = study_of(labels.assign(empty=is_empty.astype(int)))
    before, after = judge_error_table(study).frame.to_dict("records")
    assert (before["n"], before["n_gold"], before["rate"]) == (90, 90, Fraction(48, 90))
    assert before["specificity"] == after["specificity"] == Fraction(38, 50)
    assert before["corrected"] == Fraction(40, 90)
    assert after["n"] == 100
    assert label_budget_table(study).frame["n_gold"].iloc[0] == 90


def test_a_judge_that_saw_no_untouched_answer_has_a_row_with_the_reason():
    labels = labels_of({(0, 1, 1): 6, (0, 0, 0): 6})
    is_empty = (labels["condition"] == "original").astype(int)
    study = study_of(labels.assign(empty=is_empty))
    before, after = judge_error_table(study).frame.to_dict("records")
    assert (before["n"], before["rate"], after["n"], after["rate"]) == (0, None, 12, Fraction(1, 2))
    assert before["status"] == after["status"]
    assert before["status"].startswith("refused: every untouched answer is empty")
    assert set(label_budget_table(study).frame["judge"]) == {"any"}


def test_a_few_golds_do_not_say_what_a_judge_saves():
    study = study_of(labels_of({(1, 1, 1): 3, (0, 0, 0): 3, (1, 1, -1): 100, (0, 0, -1): 94}))
    row = label_budget_table(study).frame.iloc[-6]
    assert (row["correlation"], row["correlation_low"]) == (1, None)
    assert (row["labels_gold_only"], row["labels_with_judge"]) == (93, None)


def test_partial_gold_uses_the_judge_where_there_is_none():
    cells = {
        (1, 1, 1): 36,
        (0, 0, 1): 4,
        (1, 1, 0): 12,
        (0, 0, 0): 48,
        (1, 1, -1): 90,
        (0, 0, -1): 110,
    }
    row = judge_error_table(study_of(labels_of(cells))).frame.iloc[0]
    assert (row["n"], row["n_gold"]) == (300, 100)
    # λ: covariance .36 − .4 · .48 = .168; variance of 138 ones in 300 (ddof 1); n/m = 1/2.
    variance = 138 * 162 / 300 / 299
    assert row["ppi_lambda"] == pytest.approx(0.168 / (1.5 * variance))
    # .40 + λ (.45 − .48)
    assert row["ppi"] == pytest.approx(0.40 - 0.03 * row["ppi_lambda"])
    # (138/300 + .8 − 1) / .7
    assert row["corrected"] == (Fraction(138, 300) - Fraction(1, 5)) / Fraction(7, 10)


@pytest.mark.parametrize(
    ("gold", "missing"), [(1, "no answer clean by gold"), (0, "no answer hallucinated by gold")]
)
def test_gold_of_one_kind_is_refused_and_nothing_is_nan(gold, missing):
    study = study_of(labels_of({(1, 0, gold): 5, (0, 0, gold): 5, (1, 1, -1): 10}))
    table = judge_error_table(study)
    assert all(missing in status for status in table.frame["status"])
    assert table.frame["youden"].isna().all()
    assert table.frame["ppi"].iloc[0] is None
    assert table.frame["ppi_low"].iloc[0] is None
    reason = "refused: gold has fewer than 5 answers of a kind"
    assert table.frame["ppi_status"].tolist() == [reason, None]
    assert f"prediction-powered {reason}: 1 of 1 judges" in table.notes
    assert b"nan" not in table_csv(table)
    budget = label_budget_table(study)
    assert budget.frame["status"].iloc[0] == "gold of one kind only: plan as without gold"
    assert budget.frame["labels_gold_only"].iloc[0] is None


def test_without_gold_judge_error_is_left_out_and_the_budget_is_the_worst_case():
    labels = labels_of({(1, 0, -1): 300, (0, 0, -1): 200}).drop(columns="gold")
    assert reason_to_leave_out(study_of(labels), TABLES["judge_error"]) == "needs gold labels"
    frame = label_budget_table(study_of(labels)).frame
    assert set(frame["judge"]) == {"any"}
    # 9600 = 1.95996² · (.25 / .01² − 1)
    assert frame["labels_gold_only"].tolist() == [9600, 2398, 1064, 381, 93]
    assert frame["labels_with_judge"].isna().all()
    assert frame["status"].tolist() == [*["more than the records"] * 3, *["within the records"] * 2]


def test_the_golden_budget_is_as_by_hand(golden):
    table = label_budget_table(golden)
    frame = table.frame.set_index(["judge", "condition", "half_width_pp"])
    assert len(frame) == 4 * 5
    # Wilson's half width at the rate 740/916 is 5.01 points with 236 labels and 4.998 with 237
    widths = [np.diff(proportion_confint(n * 740 / 916, n, method="wilson")) for n in (236, 237)]
    assert widths[0] > 0.1 >= widths[1]
    row = frame.loc[("qwen", "original", 5)]
    assert row["labels_gold_only"] == 237
    phi2 = (726 * 45 - 131 * 14) ** 2 / (740 * 176 * 857 * 59)
    assert row["correlation"] == pytest.approx(phi2**0.5)
    # With a judge (1 − ρ²) / (1/n0 − ρ²/916), ρ the lower limit of φ
    n0 = 1.959963984540054**2 * (740 * 176 / 916**2) / 0.05**2
    assert 0 < row["correlation_low"] < row["correlation"]
    rho2 = row["correlation_low"] ** 2
    assert row["labels_with_judge"] == int(np.ceil((1 - rho2) / (1 / n0 - rho2 / 916)))
    too_fine = frame.loc[("qwen", "original", 1)]
    assert (too_fine["labels_gold_only"], too_fine["labels_with_judge"]) == (5962, None)
    assert too_fine["status"] == "more than the records"
    printed = print_rows(table)[-1]
    assert printed == [
        "any",
        "without gold",
        "10",
        "50.0",
        "—",
        "—",
        "0",
        "93",
        "—",
        "within the records",
    ]


def test_one_condition_and_one_judge_suffice():
    labels = labels_of({(1, 1, 1): 8, (0, 0, 0): 9, (0, 0, 1): 2, (1, 0, 0): 1})
    study = study_of(labels.query("condition == 'original'"))
    (row,) = judge_error_table(study).frame.to_dict("records")
    assert row["corrected"] == Fraction(10, 20)
