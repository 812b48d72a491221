"""Agreement and judge reliability as printed: the paper's values, ceilings and reasons."""

import pandas as pd
import pytest
from scipy import stats

from ragmend.analysis import Frames, Provenance, Settings, table_csv, table_latex
from ragmend.analysis.analyze import analyze
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.study import Study
from ragmend.analysis.tables.agreement_tables import (
    judge_reliability_table,
    rater_agreement_table,
)
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=50)
JUDGES = ("qwen", "llama", "gemma")
NAMES = ("agreement", "judge_reliability")


@pytest.fixture(scope="module")
def study(golden_frames):
    return Study(Frames(labels=golden_frames.labels), FAST, Provenance(judges=JUDGES))


@pytest.fixture(scope="module")
def agreement(study):
    return rater_agreement_table(study)


@pytest.fixture(scope="module")
def reliability(study):
    return judge_reliability_table(study)


def changed(study, **columns):
    labels = study.frames.labels.assign(**columns)
    return Study(Frames(labels=labels), FAST, study.provenance)


def printed(table, key):
    headings = [column.heading for column in table.columns]
    return {row[headings.index(key)]: row for row in print_rows(table)}


def test_kappa_against_gold_and_the_errors_are_the_papers(reliability):
    # arXiv 2608.29307: sections 7.5 (rates on clean answers) and 8 (κ, specificity).
    rows = printed(reliability, "judge")
    headings = [column.heading for column in reliability.columns]
    picked = [headings.index(name) for name in ("specificity %", "κ", "max. κ")]
    picked.insert(1, headings.index("clean judged hallucinated %"))
    assert [[rows[judge][i] for i in picked] for judge in JUDGES] == [
        ["25.6", "74.4", "0.317", "0.449"],
        ["21.6", "78.4", "0.203", "0.568"],
        ["2.3", "97.7", "0.029", "0.063"],
    ]


def test_gold_has_740_hallucinated_and_176_clean_answers(reliability):
    counts = reliability.frame[["n", "n_gold_hallucinated", "n_gold_clean"]]
    assert counts.drop_duplicates().to_numpy().tolist() == [[916, 740, 176]]
    # scipy.stats.binomtest(45, 176).proportion_ci(method="wilson")
    expected = stats.binomtest(45, 176).proportion_ci(method="wilson")
    qwen = reliability.frame.iloc[0]
    found = (qwen["specificity_low"], qwen["specificity_high"])
    assert found == pytest.approx((expected.low, expected.high))
    assert qwen["rate_clean_low"] == pytest.approx(1 - expected.high)


def test_pairwise_kappa_spans_what_the_paper_says(agreement):
    frame = agreement.frame
    pairs = frame[~frame["rater_a"].isin(["gold", "all"])]["kappa"]
    assert len(pairs) == 12
    assert (f"{min(pairs):.3f}", f"{max(pairs):.3f}") == ("0.072", "0.481")


def test_a_judge_whose_kappa_cannot_be_high_is_named_with_its_ceiling(reliability, agreement):
    (note,) = (note for note in reliability.notes if "cannot exceed" in note)
    assert note == (
        "gemma: κ against gold cannot exceed 0.063, for it judges 99.2 % hallucinated where gold "
        "has 80.8 %"
    )
    (note,) = (note for note in agreement.notes if "cannot reach" in note)
    assert "rates: gold and gemma on original (0.063), qwen and gemma on generative (0." in note
    assert note.endswith(", and 2 more")


def test_every_pair_of_every_condition_and_gold_on_the_untouched_answers(agreement):
    frame = agreement.frame
    assert len(frame) == 4 * (3 + 1) + 3
    assert set(frame[frame["rater_a"] == "gold"]["condition"]) == {"original"}
    assert frame[frame["rater_a"] == "all"]["alpha"].notna().all()


def test_the_notes_say_whether_answers_are_independent(study, agreement, golden_frames):
    assert any("independent" in note for note in agreement.notes)
    assert any("bootstrap over records, 50 resamples" in note for note in agreement.notes)
    known = study.frames.labels["record_id"].map(
        golden_frames.records.set_index("record_id")["source_id"]
    )
    notes = rater_agreement_table(changed(study, source_id=known)).notes
    assert any("349 sources" in note for note in notes)
    assert any("bootstrap over whole sources" in note for note in notes)


def test_undefined_cells_have_a_reason_below(study):
    labels = study.frames.labels
    constant = changed(study, label=labels["label"].where(labels["judge"] != "gemma", 1))
    table = rater_agreement_table(constant)
    row = next(row for row in print_rows(table) if row[:3] == ["llama", "gemma", "removal"])
    assert row[4:8] == ["—"] * 4
    assert row[8] != "—"
    reason = "—: gemma gave the same label to every record (9 of 19 rows)"
    assert reason in table.notes
    reliability = judge_reliability_table(constant)
    assert "—: gemma gave the same label to every record (1 of 3 rows)" in reliability.notes
    assert b"nan" not in table_csv(table).lower()


def test_gold_of_one_kind_leaves_a_rate_undefined(study):
    table = judge_reliability_table(changed(study, gold=1))
    row = table.frame.iloc[0]
    assert (row["specificity"], row["specificity_low"], row["rate_clean"]) == (None, None, None)
    assert row["sensitivity"] is not None
    assert any("gold gave the same label" in note for note in table.notes)


def test_records_without_gold_are_counted_out(study):
    gold = study.frames.labels["gold"]
    known = study.frames.labels["record_id"] >= "syn-0100"
    table = judge_reliability_table(changed(study, gold=gold.where(known)))
    assert set(table.frame["n"]) == {816}
    assert "on original, where gold holds: 816 of 916 answers have gold" in table.notes


def test_an_empty_untouched_answer_is_no_judgement(study):
    labels = study.frames.labels
    is_empty = (
        (labels["judge"] == "qwen") & (labels["condition"] == "original") & (labels["label"] == 0)
    )
    table = judge_reliability_table(changed(study, empty=is_empty.astype(int)))
    rows = table.frame.set_index("judge")
    # All 14 + 45 answers that qwen called clean are empty: 726 + 131 are left.
    assert rows.loc["qwen", ["n", "n_gold_hallucinated", "n_gold_clean"]].tolist() == [
        857,
        726,
        131,
    ]
    assert (rows.loc["qwen", "sensitivity"], rows.loc["qwen", "specificity"]) == (1, 0)
    assert rows.loc["llama", "n"] == 916
    assert any("empty answers are left out here" in note for note in table.notes)
    assert not any("empty" in note for note in judge_reliability_table(study).notes)


def test_full_agreement_is_not_taken_for_certainty(study):
    rows = study.frames.labels
    first = rows[rows["judge"] == "qwen"].set_index(["record_id", "condition"])["label"]
    same = rows.set_index(["record_id", "condition"]).index.map(first)
    table = rater_agreement_table(changed(study, label=same))
    pairs = table.frame.query("rater_a != 'gold' and rater_a != 'all'")
    assert (pairs["kappa"] == 1).all()
    assert pairs[["kappa_low", "ac1_high"]].isna().all(axis=None)
    assert any(note.startswith("—: no interval: its ends would be equal") for note in table.notes)


def test_few_sources_are_counted_among_answers_with_gold(study):
    labels = study.frames.labels
    source = "s" + labels["record_id"].str[-2:]
    assert not any(
        "as few as" in n for n in rater_agreement_table(changed(study, source_id=source)).notes
    )
    few = changed(study, source_id=source, gold=labels["gold"].where(source < "s12"))
    for table in (rater_agreement_table(few), judge_reliability_table(few)):
        assert any("as few as 12 sources" in note for note in table.notes)


def test_one_judge_without_gold_has_no_table_and_the_reason_is_said(golden_frames):
    labels = golden_frames.labels
    alone = labels[labels["judge"] == "qwen"].drop(columns="gold")
    study = Study(Frames(labels=alone), FAST, Provenance())
    reasons = {name: reason_to_leave_out(study, TABLES[name]) for name in NAMES}
    assert reasons["agreement"] == "needs two judges, or one and gold labels"
    assert "needs gold" in reasons["judge_reliability"]
    with pytest.raises(StatisticsError, match="needs gold"):
        judge_reliability_table(study)


def test_the_recipes_make_both_tables(study, agreement, reliability):
    assert [reason_to_leave_out(study, TABLES[name]) for name in NAMES] == [None, None]
    assert [TABLES[name].make(study).name for name in NAMES] == list(NAMES)


def test_answers_of_one_source_have_no_interval_and_the_reason_is_said(study):
    table = rater_agreement_table(changed(study, source_id="s"))
    assert table.frame["kappa_low"].isna().all()
    assert table.frame["alpha_low"].isna().all()
    (note,) = (note for note in table.notes if note.startswith("—"))
    assert "all records share one source" in note
    assert note.endswith("(19 of 19 rows)")
    assert any("intervals: none, for all answers share one source" in note for note in table.notes)


def test_the_tables_can_be_written_as_latex(agreement, reliability):
    for table in (agreement, reliability):
        assert r"$\kappa$" in table_latex(table)


def test_many_raters_make_a_table_for_looking_up(golden_frames, agreement):
    assert not agreement.is_lookup
    one = golden_frames.labels.query("judge == 'qwen' and condition == 'original'")
    many = pd.concat([one.assign(judge=f"judge-{j:02}") for j in range(16)])
    study = Study(Frames(labels=many), FAST, Provenance())
    table = rater_agreement_table(study)
    assert len(table.frame) == 120 + 16 + 1
    assert table.is_lookup


def test_gold_of_answers_that_no_judge_saw_leaves_reliability_out_and_nothing_else():
    labels = pd.DataFrame(
        [
            {
                "record_id": f"r{i}", "judge": judge, "condition": condition,
                "label": int(i > 2 and condition == "original"),
                "gold": 0 if i == 0 else None,
                "empty": int(i == 0),
            }
            for i in range(8)
            for judge in ("a", "b")
            for condition in ("original", "x")
        ]
    )  # fmt: skip
    found = analyze(Frames(labels=labels), settings=FAST.model_copy(update={"figure_formats": ()}))
    assert "contrasts" in found.tables
    assert "gold" in found.left_out["judge_reliability"]
