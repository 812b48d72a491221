"""The papers' sentences on small inputs, on which each holds or fails by hand."""

from itertools import product

import pandas as pd
import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.published.claim import chain
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.claims_of_the_text_table import CLAIMS

CONDITIONS = ("original", "removal", "extractive", "generative")
FEW = Settings(n_resamples=20)


def find(words, **frames):
    (claim,) = [claim for claim in CLAIMS if words in claim.sentence]
    return claim.evaluate(Study(Frames(**frames), FEW, Provenance()))


def label_frame(counts, n=20, task="QA"):
    """Labels with so many ones for each judge, in the order of CONDITIONS."""
    return pd.DataFrame(
        [
            (f"{task}{i:03}", judge, condition, int(i < count), task)
            for judge, ones in counts.items()
            for condition, count in zip(CONDITIONS, ones, strict=True)
            for i in range(n)
        ],
        columns=["record_id", "judge", "condition", "label", "task"],
    )


def score_frame(*rows):
    columns = ["table", "group", "method", "model", "precision", "recall", "f1"]
    return pd.DataFrame(rows, columns=columns)


def test_the_ordering_must_be_strict_in_every_task():
    rising = label_frame({"qwen": (9, 2, 3, 4)}, n=10, task="QA")
    equal = label_frame({"qwen": (9, 2, 4, 4)}, n=10, task="Summary")
    assert find("in every task", labels=rising) == (
        True, "qwen: QA: removal 2 < extractive 3 < generative 4 of 10",
    )  # fmt: skip
    both = find("in every task", labels=pd.concat([rising, equal]))
    assert both.holds is False
    assert both.evidence.endswith("Summary: removal 2 < extractive 4 = generative 4 of 10")


def test_the_primary_judge_alone_drives_the_tasks_and_every_judge_the_whole():
    labels = label_frame({"qwen": (9, 2, 3, 4), "llama": (9, 4, 3, 2)}, n=10)
    assert find("in every task", labels=labels).holds is True
    assert find("every judge's rate rises", labels=labels) == (
        False,
        (
            "llama: removal 4 > extractive 3 > generative 2; "
            "qwen: removal 2 < extractive 3 < generative 4 of 10"
        ),
    )


@pytest.mark.parametrize(("generative", "holds"), [(8, True), (9, False), (10, False)])
def test_an_arm_that_lowers_no_rate_of_one_judge_breaks_the_agreement(generative, holds):
    labels = label_frame({"qwen": (9, 2, 3, 4), "gemma": (9, 8, 8, generative)}, n=10)
    assert find("all judges agree", labels=labels).holds is holds


def test_the_largest_p_of_the_reductions_is_named():
    labels = label_frame({"qwen": (10, 0, 0, 0), "gemma": (10, 0, 0, 9)}, n=10)
    # One discordant pair: p = 1.
    evidence = find("all judges agree", labels=labels).evidence
    assert evidence.endswith("the largest p, exact McNemar: 1.000 (gemma, original-generative)")


def test_the_factor_must_round_to_nine_in_every_arm():
    nine = label_frame({"qwen": (19, 1, 1, 1), "gemma": (19, 17, 17, 17)})
    assert find("nine times", labels=nine) == (
        True,
        (
            "answers fewer, qwen / gemma: removal 18 / 2 = 9.0; extractive 18 / 2 = 9.0; "
            "generative 18 / 2 = 9.0"
        ),
    )
    other = label_frame({"qwen": (19, 1, 1, 10), "gemma": (19, 17, 17, 17)})
    assert find("nine times", labels=other).holds is False
    none = label_frame({"qwen": (19, 1, 1, 1), "gemma": (19, 17, 19, 17)})
    assert find("nine times", labels=none).holds is None


def test_3_27_points_is_what_the_counts_print_and_not_what_rounded_rates_give():
    published = label_frame({"qwen": (857, 498, 567, 597)}, n=916)
    assert find("3.27 points", labels=published) == (
        False,
        "qwen: 30 of 916 answers, 3.28 points; between the rounded rates, 65.17 − 61.90, 3.27",
    )
    # 327 of 10,000 is 3.27 points.
    exact = label_frame({"qwen": (0, 0, 0, 327)}, n=10_000)
    assert find("3.27 points", labels=exact).holds is True


def test_the_range_of_kappa_names_its_ends():
    # By hand, n = 4: equal labels give κ = 1; half the records equal at rates .5 give κ = 0.
    labels = label_frame(dict.fromkeys(("gemma", "llama", "qwen"), (2, 2, 2, 2)), n=4)
    crossed = (labels["judge"] == "llama") & (labels["condition"] == "removal")
    labels.loc[crossed, "label"] = [1, 0, 1, 0]
    found = find("κ of two judges", labels=labels)
    lowest, highest = "0.000 (gemma and llama, removal)", "1.000 (gemma and llama, original)"
    assert found == (False, f"12 pairs and conditions: from {lowest} to {highest}")
    same = (2, 2, 2, 2)
    constant = label_frame({"gemma": (4, 2, 2, 2), "llama": same, "qwen": same}, n=4)
    assert find("κ of two judges", labels=constant).holds is None


@pytest.mark.parametrize(
    ("words", "frames", "need"),
    [
        ("in every task", {}, "needs labels"),
        ("in every task", {"labels": label_frame({"q": (9, 2, 3, 4)}).drop(columns="task")},
         "needs the task of each record"),
        ("all judges agree", {"labels": label_frame({"q": (9, 2, 3, 4)}).query(
            "condition != 'removal'")}, "needs labels in condition removal"),
        ("nine times", {"labels": label_frame({"q": (9, 2, 3, 4)})},
         "needs labels of judge gemma beside another primary judge's"),
        ("κ of two judges", {"labels": label_frame({"q": (9, 2, 3, 4)})},
         "needs labels of the paper's judges"),
        ("retains the least", {}, "needs arms"),
        ("dropped or substituted", {}, "needs arms"),
        ("median of the usable", {}, "needs usable runs of the models 7b and 13b"),
        ("do not differ", {}, "needs runs of two models"),
        ("outpaces", {}, "needs published macro F1 of TeQHallu and of the finetuned Llama-2-13B"),
        ("only system ahead", {}, "needs published macro F1 of TeQHallu and of RAG-HAT"),
        ("of their own", {}, "needs published scores of two models"),
        ("macro F1 is the mean", {}, "needs published macro F1"),
        ("macro precision", {}, "needs published macro scores"),
        ("harmonic mean", {}, "needs published precision, recall and F1"),
    ],
)  # fmt: skip
def test_a_sentence_that_cannot_be_tested_says_what_it_needs(words, frames, need):
    found = find(words, **frames)
    assert found.holds is None
    assert found.evidence.startswith(need)


def arm_frame(**changes):
    """Two answers a task, 100 characters each: what is left in percent, by arm and task."""
    left = {("removal", "Data2txt"): 50, ("removal", "QA"): 60} | changes.pop("left", {})
    rows = [
        {"record_id": f"{task}{i}", "task": task, "gold": 1, "arm": arm, "claims": 2,
         "eligible": 1, "claims_kept": 1, "dropped": 1, "substituted": 0, "rewritten": 0,
         "original_chars": 100, "repaired_chars": percent}
        for (arm, task), percent in left.items()
        for i in range(2)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**changes)


def test_data_to_text_must_retain_least_in_every_arm():
    assert find("retains the least", arms=arm_frame()) == (
        True, "removal: Data2txt 50.0 < QA 60.0 %",
    )  # fmt: skip
    left = {("extractive", "Data2txt"): 60, ("extractive", "QA"): 60}
    found = find("retains the least", arms=arm_frame(left=left))
    assert found == (
        False, "removal: Data2txt 50.0 < QA 60.0 %; extractive: Data2txt 60.0 = QA 60.0 %",
    )  # fmt: skip


def test_an_answer_that_was_only_rewritten_is_edited_against_the_caption():
    assert find("dropped or substituted", arms=arm_frame()).holds is True
    rewritten = arm_frame(claims_kept=2, dropped=0, rewritten=1)
    assert find("dropped or substituted", arms=rewritten) == (
        False,
        "answers with a claim dropped or substituted / with any change: removal 0 / 4 of 4",
    )


def run_frame(f1s_7b, f1s_13b, usable=(1, 1, 1)):
    rows = [
        (model, seed, f1, ok)
        for model, f1s in (("7b", f1s_7b), ("13b", f1s_13b))
        for (seed, f1), ok in zip(enumerate(f1s), usable, strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "f1", "usable"])


def test_the_median_of_usable_runs_leaves_the_others_out():
    holds = run_frame([76.0, 76.0, 1.0], [78.6, 78.6, 1.0], usable=(1, 1, 0))
    assert find("median of the usable", runs=holds).holds is True
    fails = run_frame([70.0, 76.0, 90.0], [70.0, 78.6, 90.0], usable=(1, 1, 0))
    assert find("median of the usable", runs=fails) == (
        False, "7b: usable 73.00, all 76.00; 13b: usable 74.30, all 78.60",
    )  # fmt: skip


def test_sizes_that_differ_significantly_break_the_sentence():
    apart = run_frame([50.0, 50.1, 50.2], [80.0, 80.1, 80.2])
    found = find("do not differ", runs=apart)
    assert found.holds is False
    assert found.evidence.startswith("13b − 7b, Welch: usable runs 30.00 points, p = ")
    assert find("do not differ", runs=run_frame([50.0, 60.0, 70.0], [51.0, 60.0, 70.0])).holds


@pytest.mark.parametrize(("rival", "holds"), [(71.8, False), (71.3, False), (71.2, True)])
def test_who_outpaces_whom_is_read_off_the_macro_rows(rival, holds):
    frame = score_frame(
        ("1", "macro", "TeQHallu", "Gemini", 61.7, 88.9, 71.3),
        ("1", "macro", "finetuned", "Llama-2-13B", 70.3, 74.1, rival),
        ("1", "QA", "finetuned", "Llama-2-13B", 70.3, 74.1, 0.0),
        ("4", "macro", "TeQHallu", "Gemini", 61.7, 88.9, 99.0),
    )
    assert find("outpaces", published=frame).holds is holds


@pytest.mark.parametrize(
    ("rag_hat", "lettuce", "holds", "evidence"),
    [
        (78.0, 72.8, False, "RAG-HAT (L) 78.0, LettuceDetect (M) 72.8"),
        (78.0, 71.3, True, "RAG-HAT (L) 78.0"),
        (71.0, 70.0, False, "none"),
    ],
)
def test_everyone_ahead_is_named(rag_hat, lettuce, holds, evidence):
    frame = score_frame(
        ("1", "macro", "TeQHallu", "Gemini", None, None, 71.3),
        ("1", "macro", "RAG-HAT", "L", None, None, rag_hat),
        ("1", "macro", "LettuceDetect", "M", None, None, lettuce),
    )
    assert find("only system ahead", published=frame) == (
        holds, f"macro F1 above TeQHallu's 71.3: {evidence}",
    )  # fmt: skip


def test_two_models_with_the_same_rows_are_found_and_one_equal_row_is_not_enough():
    groups = ("non-factual", "incoherence")
    rows = {
        "A": dict(zip(groups, (27.63, 42.67), strict=True)),
        "B": dict(zip(groups, (27.63, 44.0), strict=True)),
        "C": dict(zip(groups, (27.63, 42.67), strict=True)),
    }
    lines = [("6", g, "base", m, None, None, rows[m][g]) for m, g in product("ABC", groups)]
    assert find("of their own", published=score_frame(*lines)) == (
        False, "3 pairs of models compared; Table 6, base: A and C are equal in all 2 rows",
    )  # fmt: skip
    assert find("of their own", published=score_frame(*lines[:4])).holds is True
    alone = [("6", "micro", "base", m, None, None, 31.39) for m in "AB"]
    assert find("of their own", published=score_frame(*alone)).holds is None


def test_a_macro_score_is_compared_with_the_mean_of_its_tasks():
    tasks = [("1", t, "m", "x", 50.0, 50.0, f1) for t, f1 in [("QA", 50.1), ("Summary", 60.2)]]
    # The mean is 55.15, printed 55.2; 55.1 is possible, 55.0 is not: |55.15 − 55.0| > 0.1.
    for macro, holds, words in [
        (55.2, True, "1 of 1 come out as printed, 0 differ"),
        (55.1, True, "rounding alone: Table 1, m (x), f1 (55.2, printed 55.1)"),
        (55.0, False, "Table 1, m (x), f1: 55.2 from the 2 tasks', printed 55.0"),
    ]:
        frame = score_frame(*tasks, ("1", "macro", "m", "x", 50.0, 50.0, macro))
        found = find("macro F1 is the mean", published=frame)
        assert (found.holds, words in found.evidence) == (holds, True)
    wrong = score_frame(*tasks, ("1", "macro", "m", "x", 50.0, 51.0, 55.2))
    found = find("macro precision", published=wrong)
    assert found.holds is False
    assert "Table 1, m (x), recall: 50.0 from the 2 tasks', printed 51.0" in found.evidence


def test_a_macro_score_without_all_of_its_tasks_is_left_out():
    frame = score_frame(
        ("1", "QA", "m", "x", None, None, 50.0),
        ("1", "Summary", "m", "x", None, None, None),
        ("1", "macro", "m", "x", None, None, 50.0),
    )
    assert find("macro F1 is the mean", published=frame).holds is None


def test_an_f1_that_its_precision_and_recall_cannot_give_is_named():
    frame = score_frame(
        ("1", "QA", "prompt", "gpt-4-turbo", 33.2, 90.6, 45.6),
        ("1", "Data2txt", "prompt", "gpt-4-turbo", 64.3, 100.0, 78.3),
        ("1", "macro", "prompt", "gpt-4-turbo", 43.0, 96.1, 57.2),  # no harmonic mean by design
        ("1", "zero", "prompt", "gpt-4-turbo", 0.0, 0.0, 0.0),
    )
    found = find("harmonic mean", published=frame)
    assert found == (
        False,
        (
            "1 of 2 come out as printed, 0 differ by no more than rounding allows, 1 by more; "
            "Table 1, QA, prompt (gpt-4-turbo): 48.6 from precision 33.2 and recall 90.6, "
            "printed 45.6"
        ),
    )


def test_a_chain_shows_the_relation_of_neighbours():
    assert chain({"a": 1, "b": 2, "c": 2, "d": 0}, str) == "a 1 < b 2 = c 2 > d 0"
