"""Tables that contradict each other are refused: by both names, the row, and what each says."""

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.analyze import analyze
from ragmend.analysis.inputs.agreeing import refuse_contradictions
from ragmend.analysis.settings import InputFile
from ragmend.errors import AccountingError, StatisticsError

TABLES = ("labels", "arms", "claims", "records", "selection")
INPUTS = {name: (InputFile(path=f"{name}.csv", sha256="0" * 64),) for name in TABLES}
FAST = Settings(n_resamples=20)


@pytest.fixture
def frames(run) -> Frames:
    """Two records of two claims: c0 kept, c1 dropped, substituted or rewritten; one unflagged."""
    built = build_frames(run, threshold=0.5)
    return Frames(**{name: getattr(built, name) for name in TABLES})


def check(frames, threshold=0.5):
    refuse_contradictions(frames, Provenance(inputs=INPUTS, threshold=threshold))


def with_cell(frames, table, column, row, value):
    """Return the tables with one cell of another value; row None: all of its column."""
    frame = getattr(frames, table).copy()
    frame[column] = frame[column].astype(object) if column in frame else 0
    frame.loc[slice(None) if row is None else row, column] = value
    return frames._replace(**{table: frame})


def without(frames, *tables):
    return frames._replace(**dict.fromkeys(tables))


def with_emptied(frames):
    """Return the tables with r1 emptied by removal, as its row of the arms says."""
    return with_cell(frames, "arms", "repaired_chars", 0, 0)


# Rows of the labels: r1 strict original, removal, …; of the arms: r1 removal, r2 removal, …;
# of the claims: r1 c0, r1 c1, r2 c0, r2 c1.
CONTRADICTIONS = [
    ("records", "gold", 0, 0, "labels.csv: row 1, record r1: gold is 1, but 0 in row 1 of records"),
    ("labels", "task", None, "Summary", "row 1, record r1: task is Summary, but QA in row 1 of"),
    ("labels", "source_id", 3, "s9", "labels.csv: row 4, record r1: source_id is s9, but s1 in"),
    ("arms", "gold", 1, 1, "arms.csv: row 2, record r2: gold is 1, but 0 in row 2 of records.csv"),
    ("arms", "task", 2, "Summary", "arms.csv: row 3, record r1: task is Summary, but QA in row 1"),
    ("claims", "record_gold", 3, 1, "claims.csv: row 4, record r2: gold is 1, but 0 in row 2 of"),
    ("claims", "task", 1, "Summary", "claims.csv: row 2, record r1: task is Summary, but QA in"),
    ("selection", "gold", 0, 0, "selection.csv: row 1, record r1: gold is 0, but 1 in row 1 of"),
    ("selection", "task", 1, "Summary", "selection.csv: row 2, record r2: task is Summary, but"),
    ("records", "task", None, "all", "records.csv: row 1, record r1: a task cannot be called"),
    ("claims", "task", 2, "pooled", "claims.csv: row 3, record r2: a task cannot be called"),
    ("selection", "task", 2, "all", "selection.csv: row 3, response r3, record (blank): a task"),
    ("labels", "record_id", 8, "r9", "labels.csv: row 9, record r9: this record is not in records"),
    ("arms", "record_id", 1, "r9", "arms.csv: row 2, record r9: this record is not in records.csv"),
    ("claims", "record_id", 2, "r9", "claims.csv: row 3, record r9: this record is not in records"),
    ("selection", "record_id", 1, "r9", "records.csv: row 2, record r2: no flagged response of"),
    ("selection", "record_id", 1, None, "selection.csv: row 2, response r2: flagged, but without"),
    ("selection", "record_id", 1, "r1", "row 2, response r2: its record_id occurs more than once"),
    ("selection", "verdict", 0, "clean", "row 1, response r1: flagged must go with the verdict"),
    ("selection", "verdict", 2, "hallucinated", "row 3, response r3: flagged must go with"),
    ("selection", "verdict", 2, "cleen", "row 3, response r3: unknown verdict, expected one of"),
    ("labels", "empty", 6, 1, "labels.csv: row 7, record r1, condition extractive: empty"),
]  # fmt: skip
MISCOUNTS = [
    ("arms", "claims", 0, 3, "arms.csv: row 1, record r1, arm removal: claims is 3, but claims"),
    ("arms", "eligible", 3, 0, "row 4, record r2, arm extractive: eligible is 0, but claims.csv"),
    ("arms", "dropped", 1, 0, "row 2, record r2, arm removal: dropped is 0, but claims.csv has 1 "),
    ("arms", "substituted", 2, 0, "row 3, record r1, arm extractive: substituted is 0, but"),
    ("arms", "rewritten", 5, 2, "row 6, record r2, arm generative: rewritten is 2, but claims.csv"),
    ("claims", "action_removal", 3, "keep", "arm removal: dropped is 1, but claims.csv has 0"),
    ("claims", "action_extractive", 2, "drop", "claims.csv: row 3, record r2, claim c0: action_ex"),
    ("claims", "rewrite_proposed", 1, 0, "claims.csv: row 2, record r1, claim c1: action_generati"),
]  # fmt: skip


def test_a_runs_own_tables_and_the_golden_ones_agree(frames, golden_frames):
    check(frames)
    check(golden_frames)


def refused(frames, error=StatisticsError, **options):
    with pytest.raises(error) as caught:
        check(frames, **options)
    return str(caught.value)


@pytest.mark.parametrize(("table", "column", "row", "value", "message"), CONTRADICTIONS)
def test_a_contradiction_is_refused(frames, table, column, row, value, message):
    assert message in refused(with_cell(frames, table, column, row, value))


@pytest.mark.parametrize(("table", "column", "row", "value", "message"), MISCOUNTS)
def test_counts_that_are_not_those_of_the_claims_are_refused(
    frames, table, column, row, value, message
):
    assert message in refused(with_cell(frames, table, column, row, value), AccountingError)


def test_another_threshold_than_the_repairs_is_refused(frames):
    message = refused(frames, AccountingError, threshold=0.6)
    assert "eligible is 1, but claims.csv has 2 claims of this record" in message
    message = refused(without(frames, "arms"), AccountingError, threshold=0.2)
    assert "row 2, record r1, claim c1: action_removal is not keep" in message


def test_analyze_refuses_before_it_computes(frames):
    wrong = with_cell(frames, "arms", "gold", None, 0)
    with pytest.raises(StatisticsError, match="arms: row 1, record r1: gold is 0, but 1 in row 1"):
        analyze(wrong, settings=FAST)


@pytest.mark.parametrize("table", ["labels", "arms", "records"])
def test_a_record_that_only_one_table_has_is_refused(frames, table):
    more = getattr(frames, table).iloc[[0]].assign(record_id="r9")
    wrong = frames._replace(**{table: pd.concat([getattr(frames, table), more])})
    assert "record r9: this record is not in" in refused(wrong)


def test_without_records_labels_and_arms_must_be_of_the_same(frames):
    arms = frames.arms[frames.arms["record_id"] == "r1"]
    few = without(frames, "records", "claims", "selection")._replace(arms=arms)
    assert refused(few) == "labels.csv: row 9, record r2: this record is not in arms.csv"
    check(few._replace(labels=None))


def test_an_answer_without_claims_is_no_contradiction(frames):
    arms = frames.arms.copy()
    counts = ["claims", "eligible", "claims_kept", "dropped", "substituted", "rewritten"]
    arms.loc[arms["record_id"] == "r2", counts] = 0
    check(frames._replace(arms=arms, claims=frames.claims[frames.claims["record_id"] == "r1"]))


def test_judges_and_arms_call_the_same_answers_empty(frames):
    emptied = with_emptied(frames)
    message = refused(emptied)
    assert "labels.csv: row 2, record r1, condition removal: empty" in message
    assert "is 0, but 1 in row 1 of arms.csv" in message
    is_it = (frames.labels["record_id"] == "r1") & (frames.labels["condition"] == "removal")
    labels = frames.labels.assign(empty=is_it.astype(int))
    check(emptied._replace(labels=labels))
    assert "is 1, but 0 in row 1 of arms.csv" in refused(frames._replace(labels=labels))
    unsaid = labels.drop(columns="empty").assign(label=1)
    assert "row 2, record r1, judge strict, condition removal: labelled 1, but arms.csv has" in (
        refused(emptied._replace(labels=unsaid))
    )


def test_blank_says_nothing(frames):
    for table, column in [
        ("labels", "gold"), ("labels", "task"), ("arms", "gold"), ("claims", "record_gold"),
        ("selection", "gold"), ("selection", "verdict"), ("claims", "action_generative"),
        ("labels", "empty"),
    ]:  # fmt: skip
        check(with_cell(frames, table, column, None, None))
        check(with_cell(frames, table, column, None, ""))


def test_more_may_be_flagged_than_were_repaired(frames):
    selection = frames.selection.assign(
        flagged=1, record_id=frames.selection["response_id"], verdict="hallucinated"
    )
    check(frames._replace(selection=selection))


def test_ids_and_golds_are_compared_by_what_they_mean(frames):
    numbers = {"r1": 1, "r2": 2}
    tables = {
        name: getattr(frames, name).assign(
            record_id=getattr(frames, name)["record_id"].map(numbers)
        )
        for name in TABLES
    }  # in the selection, with its blank, 1.0 and 2.0
    labels = tables["labels"].assign(record_id=tables["labels"]["record_id"].astype(str))
    check(Frames(**tables)._replace(labels=labels.assign(gold=labels["gold"].astype(str))))


def test_claims_a_threshold_was_chosen_on_are_of_other_records(frames):
    other = frames.claims.assign(record_id="r9", record_gold=0, split="development")
    claims = pd.concat([frames.claims.assign(split="test"), other])
    check(frames._replace(claims=claims))


def test_claims_without_a_verdict_may_have_any_action(frames):
    claims = frames.claims.assign(kind="statement")
    claims.loc[0, ["kind", "p_support", "action_extractive"]] = ["heading", None, "drop"]
    check(without(frames._replace(claims=claims), "arms"))


def legitimate(frames, **settings):
    provenance = Provenance(threshold=0.5)
    return refuse_contradictions(frames, provenance, **settings)


def test_an_id_for_every_response_contradicts_nothing(golden_frames):
    selection = golden_frames.selection.assign(record_id=golden_frames.selection["response_id"])
    flagged = selection["flagged"] == 1
    selection.loc[flagged, "record_id"] = golden_frames.selection.loc[flagged, "record_id"]
    legitimate(golden_frames._replace(selection=selection))


def test_records_that_are_only_looked_up_in_may_be_more_than_were_judged(golden_frames):
    labels = golden_frames.labels[golden_frames.labels["record_id"] != "syn-0000"]
    only = Frames(labels=labels, records=golden_frames.records)
    legitimate(only)
    with pytest.raises(StatisticsError, match="syn-0000: this record is not in labels; --incom"):
        legitimate(golden_frames._replace(labels=labels))
    legitimate(golden_frames._replace(labels=labels), incomplete="drop")


def test_an_arm_of_ones_own_may_have_a_threshold_of_its_own(golden_frames):
    claims = golden_frames.claims.assign(action_strict="drop")
    legitimate(Frames(claims=claims))
