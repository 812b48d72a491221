"""What the repair did against gold: counted again from the CSV files by other code."""

import csv
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ragmend.analysis import Provenance, Settings, build_frames, table_csv, table_markdown
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import round_half_up
from ragmend.analysis.statistics.intervals import cluster_share_intervals
from ragmend.analysis.study import Study
from ragmend.analysis.tables.gold_outcomes import gold_outcomes
from ragmend.analysis.tables.recipes import TABLES
from ragmend.errors import AccountingError, StatisticsError

ARMS = ("removal", "extractive", "generative")
TASKS = ("all", "QA", "Data2txt", "Summary")
FATE = {"drop": "removed", "substitute": "changed", "rewrite": "changed", "keep": "kept"}
GOLD = {"1": "unsupported", "0": "supported", "": "unknown"}
NAMES = ("repair_against_gold", "answers_against_gold")


def make(name, frames, n_resamples=50):
    settings = Settings(n_resamples=n_resamples)
    return TABLES[name].make(Study(frames, settings, Provenance()))


def small_frames(**changes):
    """Two sources, three answers: one hallucinated of two claims, one clean, one unannotated."""
    claims = {
        "record_id": ["a", "a", "b", "c"],
        "claim_id": ["a0", "a1", "b0", "c0"],
        "task": "QA",
        "record_gold": [1, 1, 0, None],
        "gold_unsupported": [1, 0, 0, None],
        "action_removal": ["drop", "drop", "keep", "drop"],
    }
    records = {
        "record_id": ["a", "b", "c"],
        "source_id": ["s1", "s2", "s2"],
        "task": "QA",
        "gold": [1, 0, None],
    }
    claims |= {k: v for k, v in changes.items() if k in claims or k.startswith("action_")}
    records |= {k.removeprefix("records_"): v for k, v in changes.items() if "records_" in k}
    return Frames(claims=pd.DataFrame(claims), records=pd.DataFrame(records))


@pytest.fixture(scope="module")
def golden_rows():
    path = Path(__file__).parents[2] / "golden" / "analysis"
    with (path / "reconstructed_verifier.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def by_claim(golden_analysis):
    frame = golden_analysis.tables["repair_against_gold"].frame
    return frame.set_index(["arm", "task", "gold"])


@pytest.fixture(scope="module")
def by_answer(golden_analysis):
    return golden_analysis.tables["answers_against_gold"].frame.set_index(["arm", "task"])


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("task", TASKS)
def test_claims_are_counted_as_the_csv_file_has_them(golden_rows, by_claim, arm, task):
    rows = [row for row in golden_rows if task in ("all", row["task"])]
    expected = Counter((GOLD[r["gold_unsupported"]], FATE[r[f"action_{arm}"]]) for r in rows)
    for gold in ("unsupported", "supported", "unknown"):
        row = by_claim.loc[(arm, task, gold)]
        for fate in ("removed", "changed", "kept"):
            assert row[fate] == expected[gold, fate]
        assert row["claims"] == row["removed"] + row["changed"] + row["kept"]
        assert row["edited"] == row["removed"] + row["changed"]
        assert row["edited_pct"] == Fraction(100 * row["edited"], row["claims"])
    assert expected.total() == sum(by_claim.loc[(arm, task, g), "claims"] for g in GOLD.values())


@pytest.mark.parametrize("arm", ARMS)
def test_the_tasks_add_up_to_all(by_claim, by_answer, arm):
    for gold in ("unsupported", "supported", "unknown"):
        for count in ("claims", "removed", "changed", "kept"):
            parts = [by_claim.loc[(arm, task, gold), count] for task in TASKS]
            assert parts[0] == sum(parts[1:])
    for count in ("answers", "clean", "clean_edited", "hallucinated", "cleared"):
        parts = [by_answer.loc[(arm, task), count] for task in TASKS]
        assert parts[0] == sum(parts[1:])


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("task", TASKS)
def test_answers_are_counted_as_the_csv_file_has_them(golden_rows, by_answer, arm, task):
    answers = {}
    for row in golden_rows:
        if task in ("all", row["task"]):
            answers.setdefault((row["record_id"], row["record_gold"]), []).append(row)
    edited = Counter(
        gold
        for (_, gold), rows in answers.items()
        if any(row[f"action_{arm}"] != "keep" for row in rows)
    )
    cleared = 0
    for rows in answers.values():
        actions = [row[f"action_{arm}"] for row in rows if row["gold_unsupported"] == "1"]
        cleared += bool(actions) and "keep" not in actions
    row = by_answer.loc[(arm, task)]
    assert (row["clean_edited"], row["hallucinated_edited"]) == (edited["0"], edited["1"])
    assert row["cleared"] == cleared
    assert Counter(gold for _, gold in answers) == {"0": row["clean"], "1": row["hallucinated"]}


@pytest.mark.parametrize("arm", ARMS)
def test_what_the_paper_publishes_stands_beside_ours_and_agrees(
    by_claim, by_answer, acceptance, arm
):
    unsupported, supported = (by_claim.loc[(arm, "all", g)] for g in ("unsupported", "supported"))
    tp, fp, fn = (int(acceptance[f"t2.0.5.{name}"]) for name in ("TP", "FP", "FN"))
    assert (unsupported["edited"], supported["edited"], unsupported["kept"]) == (tp, fp, fn)
    assert unsupported["paper_claims"] == int(acceptance["ver.gold_pos"])
    assert supported["paper_claims"] == int(acceptance["ver.aligned"]) - tp - fn
    assert round_half_up(unsupported["paper_edited_pct"] / 100, 3) == acceptance["t2.0.5.R"]
    assert round_half_up(unsupported["paper_of_edited_pct"] / 100, 3) == acceptance["t2.0.5.P"]
    for row in (unsupported, supported):
        assert row["paper_edited_pct"] == row["edited_pct"]
        assert row["paper_of_edited_pct"] == row["of_edited_pct"]
        assert (row["paper_removed_pct"] == row["removed_pct"]) is (arm == "removal")
    answers = by_answer.loc[(arm, "all")]
    for group, published in [("clean", "clean"), ("hallucinated", "hall")]:
        printed = acceptance[f"t7.{published}.{arm}.edited"]
        assert round_half_up(answers[f"paper_{group}_edited_pct"], 1) == printed
        assert round_half_up(answers[f"{group}_edited_pct"], 1) == printed


def test_what_the_paper_does_not_say_is_left_blank(golden_analysis):
    claims, answers = (golden_analysis.tables[name].frame for name in NAMES)
    for frame in (claims, answers):
        papers = [column for column in frame if column.startswith("paper_")]
        assert frame.loc[frame["task"] != "all", papers].isna().all(axis=None)
    is_unknown = claims["gold"] == "unknown"
    assert claims.loc[is_unknown, ["paper_claims", "of_edited_pct"]].isna().all(axis=None)
    is_milder = claims["arm"] != "removal"
    assert claims.loc[is_milder, "paper_removed_pct"].isna().all()


def test_the_interval_draws_sources_and_not_claims(golden_frames, by_claim):
    merged = golden_frames.claims.merge(golden_frames.records[["record_id", "source_id"]])
    unsupported = merged[merged["gold_unsupported"] == 1]
    is_edited = unsupported["action_removal"].ne("keep")
    sums = is_edited.groupby(unsupported["source_id"]).agg(["sum", "size"]).sort_index()
    stream = np.random.default_rng(42)
    draws = stream.integers(0, len(sums), (10_000, len(sums)))
    parts, wholes = sums["sum"].to_numpy()[draws], sums["size"].to_numpy()[draws]
    low, high = np.quantile(100 * parts.sum(axis=1) / wholes.sum(axis=1), [0.025, 0.975])
    row = by_claim.loc[("removal", "all", "unsupported")]
    assert (row["edited_low"], row["edited_high"]) == pytest.approx((low, high), rel=1e-12)
    assert row["edited_low"] < row["edited_pct"] < row["edited_high"]


def test_clusters_of_equal_claims_widen_the_interval():
    # Ten claims a source that all share a fate say no more than one claim a source.
    fates = np.tile([0, 1], 20)
    (alone,) = cluster_share_intervals(fates[:, None], np.ones(40), n_resamples=500)
    (tenfold,) = cluster_share_intervals(10 * fates[:, None], np.full(40, 10), n_resamples=500)
    assert tenfold == alone


def test_one_source_gives_no_interval_and_a_source_without_units_is_refused():
    assert cluster_share_intervals([[1]], [2], n_resamples=10) is None
    with pytest.raises(StatisticsError, match="at least one unit"):
        cluster_share_intervals([[1], [0]], [2, 0], n_resamples=10)


def test_the_order_of_the_input_changes_nothing(golden_frames):
    shuffled = golden_frames._replace(
        claims=golden_frames.claims.sample(frac=1, random_state=1),
        records=golden_frames.records.sample(frac=1, random_state=2),
    )
    for name in NAMES:
        assert table_csv(make(name, shuffled)) == table_csv(make(name, golden_frames))


def test_an_answer_without_annotation_is_left_out_and_counted():
    frames = small_frames()
    claims = make("repair_against_gold", frames)
    assert claims.frame.query("task == 'all'")["claims"].tolist() == [1, 2]
    assert any(note.startswith("1 of 3 answers have no gold label") for note in claims.notes)
    row = make("answers_against_gold", frames).frame.iloc[0]
    assert (row["answers"], row["clean"], row["clean_edited"]) == (2, 1, 0)
    assert (row["hallucinated"], row["cleared"]) == (1, 1)


def test_without_any_annotation_every_share_is_undefined():
    frames = small_frames(record_gold=None, gold_unsupported=None, records_gold=None)
    for name in NAMES:
        table = make(name, frames)
        assert table.frame.filter(regex="_pct$|_low$").isna().sum().sum() > 0
        assert any(note.startswith("3 of 3 answers have no gold label") for note in table.notes)
    assert make("repair_against_gold", frames).frame["claims"].tolist() == [0, 0]
    assert make("repair_against_gold", frames).frame["removed_pct"].isna().all()


def test_without_records_every_answer_is_its_own_source_and_the_note_says_so():
    frames = small_frames()._replace(records=None)
    table = make("answers_against_gold", frames)
    assert any("answers (this input does not name their sources)" in note for note in table.notes)
    assert table.frame.iloc[0]["answers"] == 2


def test_a_clean_answer_without_a_claim_counts_and_is_not_edited():
    frames = small_frames(
        records_record_id=["a", "b", "c", "d"],
        records_source_id=["s1", "s2", "s2", "s3"],
        records_gold=[1, 0, None, 0],
    )
    row = make("answers_against_gold", frames).frame.iloc[0]
    assert (row["clean"], row["clean_edited"]) == (2, 0)


def test_a_hallucinated_answer_whose_span_no_claim_has_is_not_cleared():
    frames = small_frames(gold_unsupported=[None, 0, 0, None])
    row = make("answers_against_gold", frames).frame.iloc[0]
    assert (row["hallucinated"], row["cleared"]) == (1, 0)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"action_removal": ["drop", "drop", "keep", "mend"]}, StatisticsError, "claim c0.*'mend'"),
        ({"gold_unsupported": [1, 0, 1, None]}, AccountingError, "record b has a claim that gold"),
        ({"gold_unsupported": [1, 0, 0, 1]}, AccountingError, "record c has a claim that gold"),
        ({"gold_unsupported": [2, 0, 0, None]}, StatisticsError, "gold_unsupported 2"),
        ({"record_gold": [1, 0, 0, None]}, AccountingError, "record a has two gold labels"),
        ({"records_record_id": ["a", "b", "x"]}, AccountingError, "record c is not among"),
        ({"claim_id": ["a0", "a0", "b0", "c0"]}, StatisticsError, "more than once"),
    ],
)
def test_input_that_contradicts_itself_is_refused_by_name(changes, error, message):
    with pytest.raises(error, match=message):
        gold_outcomes(small_frames(**changes))


def test_claims_that_no_arm_repaired_are_refused():
    frames = small_frames()
    claims = frames.claims.drop(columns="action_removal")
    with pytest.raises(StatisticsError, match="no column action_"):
        gold_outcomes(frames._replace(claims=claims))


def test_a_run_of_records_gives_the_table(run):
    frames = build_frames(run, threshold=0.5)
    table = make("repair_against_gold", frames)
    unsupported = table.frame.query("gold == 'unsupported' and task == 'all'")
    assert unsupported[["arm", "removed", "changed", "kept"]].to_numpy().tolist() == [
        ["removal", 1, 0, 0],
        ["extractive", 0, 1, 0],
        ["generative", 0, 1, 0],
    ]
    assert "| removal | all | unsupported | 1 | 1 | 0 | 0 | 100.0 |" in table_markdown(table)


def test_a_kept_claim_that_assembly_took_out_is_removed(run):
    taken_out = run.actions[0].model_copy(update={"edits": ("drop_without_content",), "text": ""})
    frames = build_frames(run._replace(actions=[taken_out, *run.actions[1:]]), threshold=0.5)
    table = make("repair_against_gold", frames)
    supported = table.frame.query("gold == 'supported' and task == 'all'").set_index("arm")
    assert supported["kept"].tolist() == [1, 2, 2]
    assert supported.loc["removal", "removed"] == 2


def test_a_dropped_heading_that_stays_over_its_content_is_kept(run):
    (number,) = (
        n
        for n, action in enumerate(run.actions)
        if action.arm == "removal" and action.kind == "drop" and action.record_id == "r1"
    )
    head = run.actions[number].model_copy(update={"edits": ("keep_head",), "text": "Hours:"})
    actions = [*run.actions[:number], head, *run.actions[number + 1 :]]
    before, after = (
        make("repair_against_gold", build_frames(each, threshold=0.5))
        .frame.query("arm == 'removal' and task == 'all'")[["removed", "kept"]]
        .sum()
        for each in (run, run._replace(actions=actions))
    )
    assert after["removed"] == before["removed"] - 1
    assert after["kept"] == before["kept"] + 1
