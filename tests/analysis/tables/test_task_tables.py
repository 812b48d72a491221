"""Table 6: eligible claims, judged rates and retained text, task by task."""

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.statistics.score_intervals import tango_interval
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import AccountingError, StatisticsError

FAST = Settings(n_resamples=50)
RECIPE = TABLES["table6_tasks"]
JUDGED = ["hallucinated", "rate_pct", "rate_low", "diff_pp", "diff_low"]
RETAINED = ["retention_pct", "retention_low", "retention_high"]


@pytest.fixture(scope="module")
def golden_table(golden_frames):
    return make(golden_frames)


@pytest.fixture
def frames(run) -> Frames:
    return build_frames(run, threshold=0.5)


def make(frames, settings=FAST, **provenance):
    return RECIPE.make(Study(frames, settings, Provenance(**provenance)))


def reason(frames):
    return reason_to_leave_out(Study(frames, FAST, Provenance()), RECIPE)


def cell(table, task, condition):
    return table.frame.set_index(["task", "condition"]).loc[(task, condition)]


def is_unknown(frame, columns):
    return all(value is None for column in columns for value in frame[column])


# Source: arXiv 2608.29307, Table 6 and section 7.4; the golden files are synthetic.
@pytest.mark.parametrize(
    ("task", "eligible", "rates", "lengths", "reduction"),
    [
        ("QA", "49.6", "87.3 38.8 53.0 53.0", "— 53.9 77.0 79.6", "-48.5"),
        ("Data2txt", "36.6", "96.7 62.8 69.7 74.2", "— 65.5 70.3 76.9", "-33.9"),
        ("Summary", "34.3", "88.7 40.7 45.6 47.5", "— 67.6 86.1 89.5", "-48.0"),
    ],
)
def test_the_published_table_comes_out(golden_table, task, eligible, rates, lengths, reduction):
    table = golden_table
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, cells, strict=True)) for cells in print_rows(table)]
    own = [row for row in rows if row["task"] == task]
    assert {row["eligible_pct"] for row in own} == {eligible}
    assert " ".join(row["rate_pct"] for row in own) == rates
    assert " ".join(row["retention_pct"] for row in own) == lengths
    assert next(row["diff_pp"] for row in own if row["condition"] == "removal") == reduction


def test_intervals_are_wilsons_of_the_rate_and_tangos_of_the_difference(
    golden_frames, golden_table
):
    row = cell(golden_table, "QA", "removal")
    low, high = proportion_confint(52, 134, method="wilson")
    assert (row["rate_low"], row["rate_high"]) == pytest.approx((100 * low, 100 * high))
    labels = golden_frames.labels.query("task == 'QA' and judge == 'qwen'")
    wide = labels.pivot_table(index="record_id", columns="condition", values="label")
    b = int((wide["original"] > wide["removal"]).sum())
    c = int((wide["original"] < wide["removal"]).sum())
    low, high = tango_interval(b, c, 134)
    assert (row["diff_low"], row["diff_high"]) == pytest.approx((100 * low, 100 * high))
    assert row["diff_pp"] * 134 == 100 * (c - b)


def test_all_tasks_together_come_last_and_are_as_in_table_3(golden_frames, golden_table):
    table = golden_table
    assert list(dict.fromkeys(table.frame["task"])) == ["QA", "Data2txt", "Summary", "all"]
    arms = TABLES["table3_arms"].make(Study(golden_frames, FAST, Provenance())).frame
    pooled = table.frame.query("task == 'all' and condition != 'original'")
    columns = [*RETAINED, "retention_cluster_low", "retention_cluster_high"]
    assert pooled[columns].to_numpy().tolist() == arms[columns].to_numpy().tolist()
    assert set(pooled["claims"]) == {7926}
    assert set(pooled["eligible"]) == {3014}


def test_the_reference_has_neither_difference_nor_retention(frames):
    row = cell(make(frames), "QA", "original")
    assert is_unknown(pd.DataFrame([row], dtype=object), [*RETAINED, "diff_pp", "diff_low"])
    assert (row["n"], row["hallucinated"], row["rate_pct"]) == (2, 2, 100)


def test_the_primary_judge_is_named_and_may_be_another(golden_frames, golden_table):
    table = golden_table
    assert any("judged by qwen, the primary judge" in note for note in table.notes)
    assert set(table.frame["judge"]) == {"qwen"}
    assert set(make(golden_frames, primary_judge="gemma").frame["judge"]) == {"gemma"}


def test_tasks_that_are_not_known_follow_by_name(golden_frames):
    renamed = {"QA": "zeta", "Summary": "alpha"}
    arms = golden_frames.arms.assign(task=golden_frames.arms["task"].replace(renamed))
    tasks = make(Frames(arms=arms)).frame["task"]
    assert list(dict.fromkeys(tasks)) == ["Data2txt", "alpha", "zeta", "all"]


def test_arms_alone_give_the_retained_text_and_say_what_is_missing(golden_frames):
    table = make(Frames(arms=golden_frames.arms))
    assert is_unknown(table.frame, [*JUDGED, "judge", "claims", "eligible", "eligible_pct"])
    assert table.frame["condition"].tolist() == ["removal", "extractive", "generative"] * 4
    assert "judge" not in {column.name for column in table.columns}
    assert "judged rates: no labels in this input" in table.notes
    assert "claims: not in this input" in table.notes


def test_labels_alone_give_the_judged_rates_and_say_what_is_missing(golden_frames, golden_table):
    table = make(Frames(labels=golden_frames.labels))
    assert table.frame[JUDGED].to_numpy().tolist() == golden_table.frame[JUDGED].to_numpy().tolist()
    assert is_unknown(table.frame, RETAINED)
    assert "length: no arms in this input" in table.notes


def test_tasks_may_come_from_the_records_or_from_the_arms(frames):
    labels = frames.labels.drop(columns="task")
    assert cell(make(Frames(labels=labels, records=frames.records)), "QA", "removal")["n"] == 2
    assert cell(make(Frames(labels=labels, arms=frames.arms)), "QA", "removal")["n"] == 2


def test_without_tasks_the_table_is_left_out_with_the_reason(frames):
    labels = frames.labels.drop(columns="task")
    assert reason(Frames(labels=labels)) == "needs the task of each record"
    assert reason(Frames(arms=frames.arms.assign(task=""))) == "needs the task of each record"
    assert reason(Frames(claims=frames.claims)) == "needs labels or arms"
    assert reason(frames) is None


def test_without_a_reference_nothing_is_compared_and_the_note_says_so(frames):
    labels = frames.labels[frames.labels["condition"] != "original"]
    table = make(Frames(labels=labels))
    assert is_unknown(table.frame, ["diff_pp", "diff_low", "diff_high"])
    assert any(note.startswith("difference: —") for note in table.notes)


def test_a_record_without_a_label_is_left_out_of_every_column(golden_frames):
    labels = golden_frames.labels.drop(index=0)  # syn-0000, a Data2txt answer of 12 claims
    dropped = Settings(n_resamples=50, incomplete="drop")
    table = make(golden_frames._replace(labels=labels), dropped)
    arms = golden_frames.arms.query("record_id != 'syn-0000'")
    alone = make(Frames(arms=arms, records=golden_frames.records))
    row, own = (cell(each, "Data2txt", "removal") for each in (table, alone))
    assert (row["n"], row["claims"]) == (577, 5285 - 12)
    assert row[RETAINED].tolist() == own[RETAINED].tolist()
    note = "claims and lengths: without the records that lack a label, like the judged rates"
    assert note in table.notes


def test_claims_of_no_labelled_record_are_refused_though_others_lack_a_label(golden_frames):
    claims = pd.concat([golden_frames.claims, golden_frames.claims[:1].assign(record_id="r9")])
    frames = Frames(labels=golden_frames.labels.drop(index=0), claims=claims)
    with pytest.raises(StatisticsError, match="record r9 has claims, but is not among the labels"):
        make(frames, Settings(n_resamples=50, incomplete="drop"))


def test_claims_that_a_threshold_was_chosen_on_are_not_counted(frames):
    other = frames.claims.assign(record_id=["r7", "r7", "r8", "r8"], split="development")
    claims = pd.concat([frames.claims.assign(split="test"), other])
    assert set(make(frames._replace(claims=claims)).frame["claims"]) == {4}


def test_unverified_claims_are_in_no_share(frames):
    claims = frames.claims.assign(p_support=[None, 0.25, 0.5, 0.25])
    table = make(frames._replace(claims=claims.astype({"p_support": float})))
    assert cell(table, "all", "removal")[["claims", "eligible"]].tolist() == [3, 2]


@pytest.mark.parametrize(
    ("name", "change", "error", "message"),
    [
        ("labels", {"task": "Summary"}, StatisticsError, "r1, .*task is not that of records"),
        ("claims", {"record_id": "r9", "claim_id": list("abcd")}, StatisticsError,
         "record r9 has claims, but is not among"),
        ("claims", {"p_support": [0.5, 0.25, 1.5, 0.25]}, StatisticsError,
         r"row 3, record r2, claim c0: P\(support\) is not between"),
        ("claims", {"p_support": 0.9}, AccountingError, "removal drops exactly"),
    ],
)  # fmt: skip
def test_inputs_that_do_not_fit_together_are_refused(frames, name, change, error, message):
    changed = getattr(frames, name).assign(**change)
    with pytest.raises(error, match=message):
        make(frames._replace(**{name: changed}))


def test_labels_and_arms_of_other_tasks_are_refused(frames):
    labels = frames.labels.assign(task="Summary")
    with pytest.raises(StatisticsError, match="r1: task Summary in the labels, QA in"):
        make(frames._replace(labels=labels, records=None))


@pytest.mark.parametrize(
    ("name", "message"),
    [("labels", "r2 has arms but no labels"), ("arms", "r2 has labels but no arms")],
)
def test_labels_and_arms_of_other_records_are_refused(frames, name, message):
    short = getattr(frames, name).query("record_id == 'r1'")
    with pytest.raises(StatisticsError, match=message):
        make(frames._replace(**{name: short}))
