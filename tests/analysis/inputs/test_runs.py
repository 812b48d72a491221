from fractions import Fraction

import pandas as pd
import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.runs import detector_runs, natural_order
from ragmend.errors import StatisticsError


def runs(**columns):
    given = {"model": ["7b", "13b"], "seed": [2, 10], "f1": [74.825, 1.3], "usable": [1, 0]}
    frame = pd.DataFrame(given | columns)
    return detector_runs(Frames(runs=frame))


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
    ],
)
def test_a_run_that_cannot_be_read_is_refused_by_name(columns, message):
    with pytest.raises(StatisticsError, match=message):
        runs(**columns)
