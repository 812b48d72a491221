"""The explanation: each sentence true of the values at hand, in awkward shapes too."""

import itertools

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings
from ragmend.analysis.analyze import analyze
from ragmend.analysis.prose.words import counted, listed, p_value, points

FAST = Settings(n_resamples=200, figure_formats=())


def table(labels: dict[tuple[str, str], list[int]], **columns) -> pd.DataFrame:
    """Return a label table from the labels of each judge and condition, records in order."""
    return pd.DataFrame(
        [
            {
                "record_id": f"r{i:03}",
                "judge": judge,
                "condition": condition,
                "label": label,
                **{name: values[i] for name, values in columns.items()},
            }
            for (judge, condition), found in labels.items()
            for i, label in enumerate(found)
        ]
    )


def explain(labels: pd.DataFrame, **settings) -> dict[str, list[str]]:
    """Return the sentences of the explanation by the heading they stand under."""
    analysis = analyze(Frames(labels=labels), settings=FAST.model_copy(update=settings))
    return {section.heading: list(section.sentences) for section in analysis.sections}


def text(labels: pd.DataFrame, **settings) -> str:
    return " ".join(itertools.chain(*explain(labels, **settings).values()))


def changed(n: int, fewer: int, more: int = 0) -> tuple[list[int], list[int]]:
    """Return labels of n records before and after, so many of them fewer and more."""
    rest = n - fewer - more
    before = [1] * fewer + [0] * more + [1, 0] * (rest // 2) + [1] * (rest % 2)
    after = [0] * fewer + [1] * more + before[fewer + more :]
    return before, after


def one_judge(fewer: int, more: int = 0, n: int = 100, **columns) -> pd.DataFrame:
    before, after = changed(n, fewer, more)
    return table({("j", "original"): before, ("j", "x"): after}, **columns)


@pytest.fixture(scope="module")
def golden(golden_frames):
    analysis = analyze(golden_frames, settings=Settings(figure_formats=()))
    return " ".join(sentence for section in analysis.sections for sentence in section.sentences)


@pytest.mark.parametrize(
    "sentence",
    [
        "gemma against human annotation: κ 0.029 on 916 answers, of at most 0.063",
        "QA: removal 52 < extractive 71 = generative 71 of 134",
        "removal: QA 53.9 < Data2txt 65.5 < Summary 67.6 %",
        "macro F1: TeQHallu 71.3 < finetuned Llama-2-13B 71.8",
        "LettuceDetect-large-v1 (ModernBERT 396M) 72.8",
        "Gemini-1.5 PRO and Gemini-2.5-Flash are equal in all 5 rows",
        "extractive-generative, llama: +1.4 points, Holm-adjusted p = 0.130: not significant",
        "removal edits 83.5 % of the 176 flagged answers in which people found nothing wrong",
        "No rate corrected by the judge's errors is given for gemma on removal",
        "a difference of that size would be found with 16.3 % power, and 21 runs of each",
    ],
)
def test_the_golden_report_says(golden, sentence):
    assert sentence in golden


def test_a_change_is_told_with_its_direction_and_size():
    found = explain(one_judge(fewer=20))["What changed"]
    assert found[0].startswith(
        "original-x: every judge finds fewer answers hallucinated in x (j −20.0 points;"
    )


def test_without_a_significant_change_nothing_is_said_to_stay_so():
    found = explain(one_judge(2, 1, source_id=[f"s{i // 5}" for i in range(100)]))["What changed"]
    assert found == ["original-x: no judge sees a significant change."]


def test_a_change_that_falls_under_clustering_is_named():
    # Ten of twelve changes in two of twenty sources: over sources they may be chance.
    before, after = changed(100, 12)
    sources = ["a"] * 6 + ["b"] * 6 + [f"s{i // 4:02}" for i in range(88)]
    labels = table({("j", "original"): before, ("j", "x"): after}, source_id=sources)
    found = " ".join(explain(labels, n_resamples=2000)["What changed"])
    assert "j original-x is no longer significant: the interval over sources includes" in found


def test_few_sources_tell_nothing_of_clustering():
    labels = one_judge(20, source_id=[f"s{i % 3}" for i in range(100)])
    assert "With 3 sources it cannot be told what stays significant" in text(labels)


def test_a_change_that_is_not_significant_is_never_called_none():
    found = " ".join(explain(one_judge(8, 5, n=60))["What did not, and what could have been seen"])
    assert "not significant" in found
    assert "would have been found with 80 % power, a smaller one perhaps not" in found
    assert "it is not shown that the two are within 5 points" in found
    assert "no difference" not in found


def test_equivalence_is_said_with_what_it_rests_on():
    found = text(one_judge(1, 1, n=200))
    assert "the two are equivalent within 5 points, if the records are independent" in found


def test_judges_contradict_each_other_only_where_each_is_significant():
    up, down = changed(100, 0, 20), changed(100, 20)
    opposed = table(
        {("a", "original"): up[0], ("a", "x"): up[1], ("b", "original"): down[0],
         ("b", "x"): down[1]}
    )  # fmt: skip
    assert "Judges contradict each other, each significantly, on original-x." in text(opposed)
    still = table(
        {("a", "original"): up[0], ("a", "x"): up[0], ("b", "original"): down[0],
         ("b", "x"): down[1]}
    )  # fmt: skip
    assert "contradict" not in text(still)


def test_one_condition_is_not_said_to_be_compared():
    labels = table({("a", "r"): [1, 0, 1, 0], ("b", "r"): [1, 0, 0, 0]})
    sections = explain(labels)
    assert "What changed" not in sections
    assert "compared on the same records" not in text(labels)
    assert "Cohen's κ between two judges is 0.500 (a and b, r)." in text(labels)


def test_a_judge_that_flags_most_clean_answers_is_said_to_show_little():
    labels = table({("a", "original"): [1, 1, 1, 0], ("b", "original"): [1, 0, 0, 0]})
    golds = labels.assign(gold=[1, 0, 0, 0] * 2)
    assert "the judges call hallucinated: 0.0 % (b) and 66.7 % (a)" in text(golds)
    assert "calls most clean answers hallucinated" in text(golds)
    mild = golds[golds["judge"] == "b"]
    assert "calls most clean answers hallucinated" not in text(mild)


def test_many_judges_are_counted_and_their_range_is_given():
    before, after = changed(60, 20)
    labels = table(
        {(f"j{j:02}", condition): found for j in range(12)
         for condition, found in (("original", before), ("x", after))},
        gold=before,
    )  # fmt: skip
    found = text(labels)
    assert "12 judges labelled the same 60 records in 2 conditions (original and x)." in found
    assert "(j00 −33.3 to j11 −33.3 points;" in found
    assert "κ against human annotation is defined for 12 judges" in found


def test_dropped_records_are_told():
    labels = one_judge(20).drop(index=3)
    assert "1 record lacked a label and was left out" in text(labels, incomplete="drop")


def test_heuristic_judges_are_named_among_the_limits():
    labels = one_judge(20)
    provenance = Provenance(embedded_judges=True, faults=())
    analysis = analyze(Frames(labels=labels), settings=FAST, provenance=provenance)
    limits = analysis.sections[-1]
    assert limits.heading == "What these numbers cannot say"
    assert any("The judges are heuristics" in sentence for sentence in limits.sentences)
    assert not any("judge failed" in sentence for sentence in limits.sentences)


SHARED = (
    "over the same evidence as the verifier; that heuristics object less after a repair follows "
    "from how they work."
)
MODELLESS = "without a language model; that"
NOT_SHOWN = "object less after a repair does not show that the answers are better."


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"heuristic_judges": ("a", "b")},
            f"Among the judges a and b are heuristics {SHARED}",
        ),
        (
            {"heuristic_judges": ("a",), "verifier_name": "Q"},
            f"Among the judges a is a heuristic, {MODELLESS} heuristics {NOT_SHOWN}",
        ),
        (
            {"embedded_judges": True, "verifier_name": "Q"},
            f"The judges are heuristics, {MODELLESS} they {NOT_SHOWN}",
        ),
    ],
)
def test_heuristics_among_language_models_are_told_apart(changes, sentence):
    provenance = Provenance(**changes)
    analysis = analyze(Frames(labels=one_judge(20)), settings=FAST, provenance=provenance)
    assert sentence in analysis.sections[-1].sentences


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (points(-28.384), "−28.4"),
        (points(1.53), "+1.5"),
        (p_value(0.0134), "p = 0.013"),
        (p_value(0.0, -312.0), "p < 1e-300"),
        (listed([]), ""),
        (listed(["a"]), "a"),
        (listed(["a", "b", "c"]), "a, b and c"),
        (counted(1, "judge"), "1 judge"),
        (counted(2700, "answer"), "2,700 answers"),
    ],
)
def test_numbers_stand_in_sentences_as_people_write_them(printed, expected):
    assert printed == expected
