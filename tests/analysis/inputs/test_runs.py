from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.runs import UNDEFINED_F1, detector_runs, natural_order, read_runs
from ragmend.analysis.printing.table import round_half_up
from ragmend.errors import StatisticsError

COUNTS = st.integers(0, 3000)


def frame(**columns):
    two = {"model": ["7b", "13b"], "seed": [2, 10], "f1": [74.825, 1.3], "usable": [1, 0]}
    return Frames(runs=pd.DataFrame(two | columns))


def runs(**columns):
    return detector_runs(frame(**columns))


def counted(tp, fp, fn, **columns):
    """Two runs, of which the second has these counts."""
    counts = {"tp": [1, tp], "fp": [1, fp], "fn": [0, fn]}
    return frame(**{"f1": [None, None], **counts, **columns})


@pytest.mark.parametrize("f1", [[74.825, 1.3], ["74.825", "1.3"]])
def test_scores_are_exact_decimals_whether_numbers_or_text(f1):
    assert [run.f1 for run in runs(f1=f1)] == [Fraction(74825, 1000), Fraction(13, 10)]


def test_models_and_seeds_are_in_natural_order():
    found = runs(model=["13b", "7b"], seed=["9", "10"])
    assert [run.model for run in found] == ["7b", "13b"]
    assert sorted(["s10", "s9", "10", "9"], key=natural_order) == ["9", "10", "s9", "s10"]
    long = ["9" * 5000, "1" + "0" * 5000, "010", "9"]
    assert sorted(long, key=natural_order) == ["9", "010", "9" * 5000, "1" + "0" * 5000]


def test_the_run_of_the_population_is_known_where_it_is_marked():
    assert [run.is_population for run in runs()] == [False, False]
    assert [run.is_population for run in runs(population=[0, 1])] == [False, True]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"f1": [74.8, 101]}, "row 2, model 13b, seed 10: f1 is not a percentage"),
        ({"f1": [float("nan"), 1.3]}, "row 1, model 7b, seed 2: f1 is missing"),
        ({"f1": ["74,8", "1.3"]}, "row 1, model 7b, seed 2: f1 is not a percentage"),
        ({"f1": ["7_4.8", "1.3"]}, "row 1, model 7b, seed 2: f1 is not a percentage"),
        ({"f1": ["٧٤", "1.3"]}, "row 1, model 7b, seed 2: f1 is not a percentage"),
        ({"f1": [" 74", "1.3"]}, "row 1, model 7b, seed 2: f1 is not a percentage"),
        ({"f1": [74.8, float("inf")]}, "f1 is not a percentage"),
        ({"usable": [1, None]}, "row 2, model 13b, seed 10: usable is missing"),
        ({"usable": [1, 2]}, "expected 0 or 1"),
        ({"seed": [None, 10]}, "seed is missing"),
        ({"model": ["7b", "7b"], "seed": [2, 2]}, "occurs more than once"),
        ({"population": [1, 1]}, "another run is already marked"),
        ({"population": [1, None]}, "population is neither 0 nor 1"),
        (
            {"unscored": ["not trained", None]},
            "row 1, model 7b, seed 2: unscored says why there is no score, and yet there is one",
        ),
        ({"f1": [74.8, None], "unscored": [None, ""]}, "row 2, model 13b, seed 10: f1 is missing"),
        (
            {"tp": [None, 1], "fp": [None, 1], "fn": [None, None]},
            "row 2, model 13b, seed 10: of tp, fp and fn one is blank and another is not",
        ),
        (
            {"tp": [None, 1], "fp": [None, "many"], "fn": [None, 1]},
            "row 2, model 13b, seed 10: fp: expected a whole number",
        ),
        (
            {"tp": [None, 1], "fp": [None, 1], "fn": [None, 0]},
            "row 2, model 13b, seed 10: f1 is not what tp, fp and fn give",
        ),
        (
            {"f1": ["x", 1.3], "tp": [1, None], "fp": [1, None], "fn": [0, None]},
            "row 1, model 7b, seed 2: f1 is not a percentage",
        ),
    ],
)
def test_a_run_that_cannot_be_read_is_refused_by_name(columns, message):
    with pytest.raises(StatisticsError, match=message):
        runs(**columns)


@given(tp=COUNTS, fp=COUNTS, fn=COUNTS, digits=st.integers(0, 6))
def test_counts_give_the_exact_score_and_a_rounded_one_beside_them_agrees(tp, fp, fn, digits):
    found = read_runs(counted(tp, fp, fn))
    if tp == fp == fn == 0:
        (without,) = found.unscored
        assert (without.model, without.why, without.usable) == ("13b", UNDEFINED_F1, False)
        return
    exact = Fraction(200 * tp, 2 * tp + fp + fn)
    assert [run.f1 for run in found.scored] == [Fraction(200, 3), exact]
    printed = [None, round_half_up(exact, digits)]
    assert read_runs(counted(tp, fp, fn, f1=printed)) == found
    other = exact + Fraction(11, 10 ** (digits + 1))
    if other <= 100:
        with pytest.raises(StatisticsError, match="f1 is not what tp, fp and fn give"):
            read_runs(counted(tp, fp, fn, f1=[None, round_half_up(other, digits)]))


def test_an_undefined_score_is_none_whatever_is_printed_beside_its_counts():
    with pytest.raises(StatisticsError, match="f1 is not what tp, fp and fn give"):
        read_runs(counted(0, 0, 0, f1=[None, "0.0"]))


def test_a_run_without_a_score_is_known_by_its_reason_and_may_lack_all_else():
    found = read_runs(
        frame(
            f1=["74.8", None],
            usable=[1, None],
            unscored=[None, "not trained"],
            health=["usable", None],
            reason=["", None],
        )
    )
    ((run,), (without,)) = found
    assert (run.model, run.f1, run.health, run.reason) == ("7b", Fraction("74.8"), "usable", None)
    assert without == ("13b", "10", "not trained", None, None, None)


def test_counts_without_printed_scores_are_enough_and_one_of_them_is_not():
    counts = counted(1, 0, 0)
    bare = Frames(runs=counts.runs.drop(columns="f1"))
    assert [run.f1 for run in detector_runs(bare)] == [Fraction(200, 3), 100]
    with pytest.raises(StatisticsError, match=r"lacks the column\(s\) f1"):
        detector_runs(Frames(runs=bare.runs.drop(columns="fn")))
