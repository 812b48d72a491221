"""The table of the papers' sentences, on the golden inputs and on a run's own."""

import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.from_records import build_frames
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.claims_of_the_text_table import (
    CLAIMS,
    NOT_TESTABLE,
    claims_of_the_text_table,
    without_testable_claims,
)

FEW = Settings(n_resamples=20)


def study(frames):
    return Study(frames, FEW, Provenance())


@pytest.fixture(scope="module")
def rows(golden_frames):
    frame = claims_of_the_text_table(study(golden_frames)).frame
    return {row["claim"]: row for row in frame.to_dict("records")}


@pytest.mark.parametrize(
    ("words", "holds", "evidence"),
    [
        ("rises from removal to extractive to generative in every task", "no",
         "QA: removal 52 < extractive 71 = generative 71 of 134"),
        ("every judge's rate rises", "yes", "gemma: removal 870 < extractive 883"),
        ("every arm lowers", "yes", "p, exact McNemar: 0.004 (gemma, original-generative)"),
        ("retains the least", "no", "removal: QA 53.9 < Data2txt 65.5 < Summary 67.6 %"),
        ("nine times", "no", "removal 359 / 39 = 9.2; extractive 290 / 26 = 11.2; generative 260"),
        ("3.27 points", "no", "30 of 916 answers, 3.28 points"),
        ("κ of two judges", "yes", "from 0.072 (gemma and qwen, generative) to 0.481"),
        ("median of the usable", "no", "7b: usable 77.25, all 76.00; 13b: usable 78.95, all 78.60"),
        ("do not differ", "yes", "usable runs 3.93 points, p = 0.284; all runs 11.16 points"),
        ("dropped or substituted", "no", "extractive 873 / 873; generative 817 / 873 of 916"),
        ("outpaces", "no", "TeQHallu 71.3 < finetuned Llama-2-13B 71.8"),
        ("only system ahead", "no", "LettuceDetect-large-v1 (ModernBERT 396M) 72.8"),
        ("of their own", "no", "base: Gemini-1.5 PRO and Gemini-2.5-Flash are equal in all 5 rows"),
        ("macro F1 is the mean", "yes", "macro precision and recall would be 72.8, printed 71.3"),
        ("macro precision and recall", "yes", "29 of 30 come out as printed"),
        ("F1 is the harmonic", "no", "48.6 from precision 33.2 and recall 90.6, printed 45.6"),
    ],
)  # fmt: skip
def test_each_sentence_is_judged_by_the_golden_numbers(rows, words, holds, evidence):
    (row,) = [row for claim, row in rows.items() if words in claim]
    assert row["holds"] == holds
    assert evidence in row["evidence"]


def test_exactly_one_pair_of_models_is_equal_and_one_f1_impossible(rows):
    (models,) = [row for claim, row in rows.items() if "of their own" in claim]
    (f1,) = [row for claim, row in rows.items() if "F1 is the harmonic" in claim]
    assert models["evidence"].count("are equal in all") == 1
    assert "6 differ by no more than rounding allows, 1 by more" in f1["evidence"]


def test_every_sentence_has_its_row_and_place(rows):
    assert list(rows) == [claim.sentence for claim in CLAIMS]
    assert all(row["source"] and row["where"] for row in rows.values())


def test_a_runs_own_data_are_asked_the_same_sentences(run):
    frames = build_frames(run, threshold=0.5)
    table = claims_of_the_text_table(study(frames))
    assert table.title == "Claims of the papers' texts, on the data of this analysis"
    rows = {row["claim"]: row for row in table.frame.to_dict("records")}
    assert list(rows) == [claim.sentence for claim in CLAIMS]
    # Both judges call every original hallucinated and nothing else.
    (lowers,) = [row for claim, row in rows.items() if "every arm lowers" in claim]
    assert lowers["holds"] == "yes"
    assert "mild 2 against 0, 0, 0" in lowers["evidence"]
    assert sum(row["holds"] == NOT_TESTABLE for row in rows.values()) == 12


@pytest.mark.parametrize("name", ["labels", "arms", "runs", "published"])
def test_any_one_input_is_enough(golden_frames, name):
    only = study(Frames(**{name: golden_frames._asdict()[name]}))
    assert without_testable_claims(only) is None
    holds = claims_of_the_text_table(only).frame["holds"]
    assert 0 < (holds == NOT_TESTABLE).sum() < len(holds)


def test_without_any_of_them_there_is_no_table(golden_frames):
    only = study(Frames(selection=golden_frames.selection, claims=golden_frames.claims))
    assert without_testable_claims(only).startswith("needs labels, arms, runs or published scores")


def test_the_order_of_rows_changes_nothing(golden_frames):
    shuffled = Frames(
        **{
            name: None if frame is None else frame.sample(frac=1, random_state=1)
            for name, frame in golden_frames._asdict().items()
            if name != "published"
        },
        published=golden_frames.published,
    )
    assert claims_of_the_text_table(study(shuffled)).frame.equals(
        claims_of_the_text_table(study(golden_frames)).frame
    )
