from pathlib import Path

import pandas as pd
import pytest

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import print_rows, round_half_up
from ragmend.analysis.printing.write import table_csv
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.seed_comparison import seed_comparison_table, without_two_models
from ragmend.analysis.tables.seed_tables import (
    detector_seeds_table,
    failed_answers_table,
    without_scored_runs,
)
from ragmend.errors import StatisticsError

GOLDEN = Path(__file__).parents[2] / "golden" / "analysis"
SEEDS = (13, 21, 42, 84, 100)
COLUMNS = {"all.mean": "mean_all", "all.sd": "sd_all", "us.mean": "mean_usable"}
COLUMNS |= {"us.sd": "sd_usable", "median": "median_all"}


@pytest.fixture(scope="module")
def published():
    return pd.read_csv(GOLDEN / "published_seed_f1.csv")


def study(runs, **frames):
    return Study(Frames(runs=runs, **frames), Settings(), Provenance(faults=()))


def printed(table):
    headings = [column.heading for column in table.columns]
    return [dict(zip(headings, row, strict=True)) for row in print_rows(table)]


@pytest.mark.parametrize("model", ["7b", "13b"])
def test_table_1_comes_out_as_published(published, acceptance, model):
    table = detector_seeds_table(study(published))
    row = table.frame.set_index("model").loc[model]
    for seed in SEEDS:
        assert round_half_up(row[f"f1_seed_{seed}"], 1) == acceptance[f"t1.{model}.seed{seed}"]
    for name, column in COLUMNS.items():
        assert round_half_up(row[column], 2) == acceptance[f"t1.{model}.{name}"]


def test_an_unusable_run_is_marked_and_named_and_counted(published):
    table = detector_seeds_table(study(published))
    small, large = printed(table)
    assert (small["seed 100"], large["seed 13"], large["seed 42"]) == ("1.3†", "41.4†", "79.6")
    assert (small["usable"], small["runs"], small["unusable %"]) == ("4", "5", "20.0")
    assert (small["median, all"], small["median, usable"]) == ("76.00", "77.25")
    assert any("7b seed 100 (1.3), 13b seed 13 (41.4)" in note for note in table.notes)


def test_the_order_of_the_input_changes_nothing(published):
    turned = published.iloc[::-1]
    for make in (detector_seeds_table, seed_comparison_table):
        assert table_csv(make(study(turned))) == table_csv(make(study(published)))


def test_a_seed_that_a_model_lacks_and_an_sd_of_one_run_are_undefined():
    runs = pd.DataFrame(
        [("a", 1, 70.0, 1), ("b", 1, 60.0, 0), ("b", 2, 62.0, 0)],
        columns=["model", "seed", "f1", "usable"],
    )
    a, b = printed(detector_seeds_table(study(runs)))
    assert (a["seed 2"], a["all: SD"], a["usable: mean"]) == ("—", "—", "70.00")
    assert (b["usable: mean"], b["median, usable"], b["all: mean"]) == ("—", "—", "61.00")
    table = seed_comparison_table(study(runs))
    (row,) = table.frame.to_dict("records")  # b has no usable run
    assert (row["runs"], row["n_a"], row["n_b"], row["diff_pp"]) == ("all", 1, 2, -9)
    undefined = (
        "t", "df", "p_welch", "ci_low", "p_permutation", "sd_a", "correlation", "power_pct",
        "runs_needed",
    )  # fmt: skip
    assert [row[name] for name in undefined] == [None] * len(undefined)
    assert any("fewer than two runs of a model" in note for note in table.notes)


def test_welch_prints_as_published(published, acceptance):
    table = seed_comparison_table(study(published))
    for row in table.frame.to_dict("records"):
        ours = {
            "diff": round_half_up(row["diff_pp"], 2),
            "lo": round_half_up(row["ci_low"], 2),
            "hi": round_half_up(row["ci_high"], 2),
            "p": round_half_up(row["p_welch"], 3),
        }
        assert ours == {name: acceptance[f"welch.{row['runs']}.{name}"] for name in ours}


def test_what_the_paper_lacks_stands_beside_welch(published, golden_frames):
    table = seed_comparison_table(study(published, selection=golden_frames.selection))
    usable, every = printed(table)
    assert (usable["A"], usable["B"], usable["runs"], every["runs"]) == (
        "7b", "13b", "usable", "all",
    )  # fmt: skip
    assert (usable["power %"], usable["runs needed"]) == ("16", "21")
    assert (usable["p, permutation"], usable["P(B > A)"]) == ("0.200", "0.81")
    assert (usable["item SE"], usable["SD A"], usable["SD B"]) == ("1.03", "6.02", "0.93")
    assert (every["r over seeds"], every["seeds of both"]) == ("-0.33", "5")
    assert any("excluded after its outcome" in note for note in table.notes)


def test_without_a_selection_the_item_error_is_undefined_with_the_reason(published):
    table = seed_comparison_table(study(published))
    assert table.frame["item_se_pp"].isna().all()
    assert any("without the selection" in note for note in table.notes)


def test_three_models_are_compared_two_by_two(published):
    third = published[published["model"] == "7b"].assign(model="70b")
    table = seed_comparison_table(study(pd.concat([published, third])))
    pairs = list(zip(table.frame["model_a"], table.frame["model_b"], strict=True))
    assert pairs[::2] == pairs[1::2] == [("7b", "13b"), ("7b", "70b"), ("13b", "70b")]
    same = table.frame.set_index(["model_a", "model_b", "runs"]).loc[("7b", "70b", "all")]
    assert (same["diff_pp"], same["superiority"], same["p_welch"]) == (0, 0.5, 1.0)


def test_one_model_is_not_compared(published):
    assert without_two_models(study(published)) is None
    assert without_two_models(study(published[published["model"] == "7b"])) == "needs two models"


def test_failed_answers_stand_beside_each_run(published):
    shares = published.assign(empty_pct=[0.5] * 9 + [None], unparsed_pct=[99.0] + [0.0] * 9)
    table = failed_answers_table(study(shares))
    rows = printed(table)
    assert rows[0]["unparsed answers %"] == "99.0"
    assert rows[-1]["empty answers %"] == "—"
    assert "—: not recorded" in table.notes
    with pytest.raises(StatisticsError, match="percentage, got 101"):
        failed_answers_table(study(shares.assign(empty_pct=101)))


def test_the_score_of_the_answers_that_could_be_read_stands_beside_that_of_all(published):
    shares = published.assign(empty_pct=0.0, unparsed_pct=0.0)
    assert "F1 % of read answers" not in printed(failed_answers_table(study(shares)))[0]
    told = shares.assign(f1_read=[70.25] + [None] * 9)
    rows = printed(failed_answers_table(study(told)))
    assert [row["F1 % of read answers"] for row in rows[:2]] == ["70.3", "—"]
    with pytest.raises(StatisticsError, match="percentage, got -1"):
        failed_answers_table(study(told.assign(f1_read=-1)))


def test_health_and_its_reason_stand_beside_a_run_where_the_input_has_them(published):
    shares = published.assign(empty_pct=0.0, unparsed_pct=0.0)
    assert list(failed_answers_table(study(shares)).frame)[-1] == "unparsed_pct"
    told = shares.assign(
        health=["failed" if usable == 0 else None for usable in shares["usable"]],
        reason=["it says nothing" if usable == 0 else None for usable in shares["usable"]],
    )
    table = failed_answers_table(study(told))
    assert [row["reason"] for row in printed(table) if row["health"] == "failed"] == [
        "it says nothing",
        "it says nothing",
    ]
    (note,) = (n for n in detector_seeds_table(study(told)).notes if n.startswith("†"))
    assert note.startswith("† unusable by the verdict on its training: 7b seed 100 (1.3), 13b")
    half = told.assign(health=told["health"].where(told["model"] == "7b", None))
    (note,) = (n for n in detector_seeds_table(study(half)).notes if n.startswith("†"))
    assert "after its outcome was seen" in note


def test_a_run_without_a_score_is_named_and_counted_nowhere(published):
    unscored = published.assign(unscored=[None] * 9 + ["not trained"], empty_pct=0, unparsed_pct=0)
    unscored["f1"] = [*published["f1"][:9], None]
    given = study(unscored)
    note = "without a score, and counted nowhere: 13b seed 100 (not trained)"
    for make in (detector_seeds_table, seed_comparison_table, failed_answers_table):
        assert note in make(given).notes
    assert detector_seeds_table(given).frame["n_runs"].tolist() == [5, 4]
    assert printed(detector_seeds_table(given))[1]["seed 100"] == "—"
    row = printed(failed_answers_table(given))[-1]
    assert (row["model"], row["seed"], row["F1 %"]) == ("13b", "100", "—")


def test_where_no_run_has_a_score_the_reason_names_them_all():
    frame = pd.DataFrame(
        {"model": "a", "seed": [1, 2], "usable": 1, "f1": None, "unscored": ["not trained", "lost"]}
    )
    assert without_scored_runs(study(frame)) == (
        "needs a run with a score; without a score, and counted nowhere: a seed 1 (not trained), "
        "a seed 2 (lost)"
    )
    frame["f1"], frame["unscored"] = [1.0, None], [None, "lost"]
    assert without_scored_runs(study(frame)) is None
