"""Tables 3 and 7: what each arm did, and how much text it left."""

import pandas as pd
import pytest

from ragmend.analysis import Frames, Provenance, Settings, build_frames
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import AccountingError, StatisticsError

FAST = Settings(n_resamples=50)
GOLD = "table7_clean_and_hallucinatory"


@pytest.fixture
def frames(run) -> Frames:
    return build_frames(run, threshold=0.5)


def make(frames, name="table3_arms", settings=FAST):
    return TABLES[name].make(Study(frames, settings, Provenance()))


def left_out(frames, name):
    return reason_to_leave_out(Study(frames, FAST, Provenance()), TABLES[name])


def test_table_3_has_one_row_an_arm_over_all_answers(frames):
    table = make(frames)
    assert table.frame["arm"].tolist() == ["removal", "extractive", "generative"]
    assert set(table.frame["group"]) == {"all"}
    assert set(table.frame["answers"]) == {2}
    assert "group" not in {column.name for column in table.columns}


def test_table_7_has_the_same_columns_by_gold(frames):
    table = make(frames, GOLD)
    assert table.frame[["group", "arm", "answers"]].to_numpy().tolist() == [
        [group, arm, 1]
        for group in ("clean", "hallucinated")
        for arm in ("removal", "extractive", "generative")
    ]
    assert list(table.frame.columns) == list(make(frames).frame.columns)


def test_the_groups_of_table_7_add_up_to_table_3(golden_frames):
    counts = ["answers", "claims", "kept", "dropped", "substituted", "rewritten", "edited"]
    whole = make(golden_frames).frame.set_index("arm")[counts]
    groups = make(golden_frames, GOLD).frame.groupby("arm", sort=False)[counts].sum()
    assert whole.to_numpy().tolist() == groups.to_numpy().tolist()


# Source: arXiv 2608.29307, Tables 3 and 7; the golden files are synthetic with these margins.
@pytest.mark.parametrize(
    ("name", "row", "printed"),
    [
        ("table3_arms", 0, ["4912", "62.0", "0", "0", "3014", "64.3", "[63.0, 65.7]"]),
        ("table3_arms", 1, ["5678", "71.6", "766", "0", "2248", "74.8", "[73.4, 76.2]"]),
        ("table3_arms", 2, ["6284", "79.3", "459", "913", "1642", "80.1", "[79.0, 81.3]"]),
        (GOLD, 0, ["1088", "73.4", "0", "0", "395", "74.6", "[71.4, 77.6]"]),
        (GOLD, 5, ["4989", "77.4", "376", "789", "1454", "77.7", "[76.4, 79.0]"]),
    ],
)
def test_the_published_rows_come_out_of_the_golden_files(golden_frames, name, row, printed):
    table = make(golden_frames, name, Settings())
    cells = dict(zip([c.name for c in table.columns], print_rows(table)[row], strict=True))
    names = ["kept", "kept_pct", "substituted", "rewritten", "dropped"]
    assert [cells[name] for name in (*names, "retention_pct", "retention")] == printed


def test_sources_come_from_the_records_and_are_noted(golden_frames):
    with_sources = make(golden_frames)
    assert with_sources.frame["retention_cluster_low"].notna().all()
    assert any(note.startswith("by source: the same") for note in with_sources.notes)
    without = make(golden_frames._replace(records=None))
    assert set(without.frame["retention_cluster_low"]) == {None}
    assert any(note.startswith("by source: —, for") for note in without.notes)
    others = [c for c in without.frame.columns if not c.startswith("retention_cluster")]
    pd.testing.assert_frame_equal(with_sources.frame[others], without.frame[others])


def test_a_source_a_record_named_alike_gives_the_records_own_interval(golden_frames):
    own = golden_frames.records.assign(source_id=golden_frames.records["record_id"])
    frame = make(golden_frames._replace(records=own)).frame
    assert frame["retention_cluster_low"].tolist() == pytest.approx(frame["retention_low"].tolist())


def test_a_record_that_the_records_lack_is_named(frames):
    short = frames._replace(records=frames.records.iloc[:1])
    with pytest.raises(StatisticsError, match="record r2 has arms but no row here"):
        make(short)


def test_without_gold_table_7_is_left_out_with_the_reason(frames):
    arms = frames.arms.assign(gold=frames.arms["gold"].where([False] * 6))
    assert left_out(Frames(arms=arms), GOLD) == "needs gold labels"
    assert left_out(Frames(labels=frames.labels), GOLD) == "needs arms"
    assert set(make(Frames(arms=arms)).frame["group"]) == {"all"}


def test_answers_without_gold_are_counted_and_an_empty_group_is_said(frames):
    arms = frames.arms.assign(gold=frames.arms["gold"].where(frames.arms["record_id"] == "r1"))
    table = make(Frames(arms=arms), GOLD)
    assert set(table.frame["group"]) == {"hallucinated"}
    assert "1 of 2 answers have no gold label and are left out" in table.notes
    assert "no answer is clean by gold" in table.notes


def test_an_arm_of_this_study_may_have_any_name_and_others_may_not(frames):
    arms = frames.arms.assign(arm=frames.arms["arm"].replace("generative", "layered"))
    with pytest.raises(StatisticsError, match="arm layered: unknown arm, expected one of removal"):
        make(Frames(arms=arms))
    named = Settings(n_resamples=50, conditions=("original", "layered"))
    found = make(Frames(arms=arms), settings=named).frame["arm"].tolist()
    assert found == ["removal", "extractive", "layered"]
    labels = frames.labels.assign(
        condition=frames.labels["condition"].replace("generative", "layered")
    )
    assert make(Frames(arms=arms, labels=labels)).frame["arm"].tolist() == found


def test_the_untouched_answers_are_no_arm(frames):
    arms = frames.arms.assign(arm=frames.arms["arm"].replace("generative", "original"))
    with pytest.raises(StatisticsError, match="arm original: unknown arm"):
        make(frames._replace(arms=arms))


def test_retention_is_not_capped_and_longer_answers_are_counted(frames):
    row = make(frames).frame.query("arm == 'generative'").iloc[0]
    assert row["retention_pct"] == pytest.approx(100 * 20 / 19)
    assert (row["longer"], row["empty"]) == (2, 0)


def test_empty_answers_are_counted(frames):
    arms = frames.arms.assign(repaired_chars=[0, 9, 19, 19, 20, 20])
    row = make(frames._replace(arms=arms)).frame.iloc[0]
    assert (row["arm"], row["empty"]) == ("removal", 1)


def test_an_arm_that_edits_nothing_has_no_removal_rate(frames):
    arms = frames.arms.assign(claims_kept=2, dropped=0, substituted=0, rewritten=0)
    row = make(frames._replace(arms=arms)).frame.iloc[0]
    assert (row["edited"], row["removed_per_edited"]) == (0, None)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"claims": 3}, AccountingError, "row 1, record r1, arm removal: claims are not kept"),
        ({"record_id": "r1"}, StatisticsError, "record_id r1, arm removal occurs more than once"),
        ({"gold": 3}, StatisticsError, "gold 3: expected 0 or 1"),
    ],
)
def test_arms_that_do_not_add_up_are_refused_by_name(frames, change, error, message):
    with pytest.raises(error, match=message):
        make(frames._replace(arms=frames.arms.assign(**change)))
