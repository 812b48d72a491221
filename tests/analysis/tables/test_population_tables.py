from pathlib import Path

import pandas as pd
import pytest

from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.population_tables import selection_table

GOLDEN = Path(__file__).parents[2] / "golden" / "analysis"


@pytest.fixture(scope="module")
def runs():
    return pd.read_csv(GOLDEN / "published_seed_f1.csv")


def rank(frames, runs):
    """The rank row and the note that names the run, if the table has them."""
    table = selection_table(Study(frames._replace(runs=runs), Settings(), Provenance()))
    rows = table.frame[table.frame["quantity"] == "population_rank"].to_dict("records")
    return rows, [note for note in table.notes if note.startswith("the population is what")]


def marked(runs, model, seed):
    return runs.assign(population=((runs["model"] == model) & (runs["seed"] == seed)).astype(int))


@pytest.mark.parametrize(
    ("model", "seed", "place", "words"),
    [
        ("13b", 42, 1, "13b seed 42 flagged: best of 5 runs of this model by F1 (79.6 %)"),
        ("13b", 100, 2, "13b seed 100 flagged: second of 5"),
        ("7b", 100, 5, "7b seed 100 flagged: fifth of 5"),
    ],
)
def test_the_rank_of_the_populations_run_among_its_models_runs(
    golden_frames, runs, model, seed, place, words
):
    ((row,), (note,)) = rank(golden_frames, marked(runs, model, seed))
    assert (row["value"], row["of"], row["pct"]) == (place, 5, None)
    assert words in note


def test_runs_with_the_same_score_share_a_place(golden_frames, runs):
    equal = runs.assign(f1=70.0)
    ((row,), (note,)) = rank(golden_frames, marked(equal, "7b", 84))
    assert row["value"] == 1
    assert "best of 5" in note


def test_the_rank_beyond_the_tenth_is_a_number(golden_frames):
    many = pd.DataFrame({"model": "m", "seed": range(12), "f1": range(12), "usable": 1})
    ((row,), (note,)) = rank(golden_frames, many.assign(population=[1] + [0] * 11))
    assert (row["value"], row["of"]) == (12, 12)
    assert "no. 12 of 12" in note


def test_where_the_run_is_unknown_nothing_is_said(golden_frames, runs):
    assert rank(golden_frames, None) == rank(golden_frames, runs) == ([], [])
    assert rank(golden_frames, runs.assign(population=0)) == ([], [])


def test_a_run_without_a_score_is_named_beside_the_rank(golden_frames, runs):
    unscored = marked(runs, "13b", 42).assign(unscored=[None] * 9 + ["not trained"])
    unscored["f1"] = [*runs["f1"][:9], None]
    ((row,), _) = rank(golden_frames, unscored)
    assert (row["value"], row["of"]) == (1, 4)
    study = Study(golden_frames._replace(runs=unscored), Settings(), Provenance())
    note = "without a score, and counted nowhere: 13b seed 100 (not trained)"
    assert note in selection_table(study).notes
