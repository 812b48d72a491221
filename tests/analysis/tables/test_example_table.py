"""Table 4: the least supported claim of each task, as each arm left it."""

import csv
import io

import pytest

from ragmend.analysis import Provenance, Settings, build_frames, table_csv, table_markdown
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, reason_to_leave_out
from ragmend.errors import StatisticsError

RECIPE = TABLES["table4_examples"]


@pytest.fixture
def frames(run):
    return build_frames(run, threshold=0.5)


def study(frames, threshold=0.5):
    return Study(frames, Settings(), Provenance(threshold=threshold))


def make(frames):
    return RECIPE.make(study(frames))


def test_a_claim_is_shown_beside_what_each_arm_made_of_it(frames):
    table = make(frames)
    assert print_rows(table) == [
        ["QA", "r1", "c1", "0.250", "Pigs fly.", "(dropped)", "Pigs run.", "Pigs walk."]
    ]
    assert table.frame.loc[0, "generative_action"] == "rewrite"


def test_the_least_supported_claim_is_shown_and_ties_go_by_record_then_claim(frames):
    claims = frames.claims.assign(p_support=[0.5, 0.25, 0.5, 0.2])
    assert make(frames._replace(claims=claims)).frame["record_id"].tolist() == ["r2"]
    backwards = frames._replace(claims=frames.claims.iloc[::-1])
    assert make(backwards).frame["record_id"].tolist() == ["r1"]


def test_there_is_one_example_a_task_known_tasks_first(frames):
    claims = frames.claims.assign(task=["other", "other", "Summary", "Summary"])
    assert make(frames._replace(claims=claims)).frame["task"].tolist() == ["Summary", "other"]


def test_a_task_without_an_eligible_claim_is_named(frames):
    claims = frames.claims.assign(
        task=["QA", "QA", "Summary", "Summary"],
        p_support=[0.5, 0.25, 0.5, 0.9],
        action_removal=["keep", "drop", "keep", "keep"],
    )
    table = make(frames._replace(claims=claims))
    assert table.frame["task"].tolist() == ["QA"]
    assert "no claim is eligible in Summary" in table.notes


def test_texts_are_verbatim_in_the_csv_and_on_one_line_where_printed(frames):
    text = 'Pigs\n\tfly | *high*, "so".'
    claims = frames.claims.assign(text=text)
    table = make(frames._replace(claims=claims))
    (row,) = csv.DictReader(io.StringIO(table_csv(table).decode(), newline=""))
    assert row["text"] == text
    assert "Pigs fly \\| \\*high\\*" in table_markdown(table)


def test_a_dropped_heading_that_stays_shows_its_text(frames):
    actions = frames.actions.copy()
    actions.loc[(actions["claim_id"] == "c1") & (actions["arm"] == "removal"), "text"] = "Pigs:"
    row = make(frames._replace(actions=actions)).frame.iloc[0]
    assert (row["removal_action"], row["removal_text"]) == ("drop", "Pigs:")


def test_inputs_without_texts_leave_the_table_out_with_the_reason(frames, golden_frames):
    assert reason_to_leave_out(study(golden_frames), RECIPE) == (
        "needs claims.text and actions.text"
    )
    assert reason_to_leave_out(study(frames, threshold=0.1), RECIPE) == "no claim is eligible"
    assert reason_to_leave_out(study(frames), RECIPE) is None


def test_an_example_without_an_action_is_refused_by_name(frames):
    is_lost = (frames.actions["claim_id"] == "c1") & (frames.actions["arm"] == "extractive")
    with pytest.raises(StatisticsError, match="record r1, claim c1, arm extractive: no such row"):
        make(frames._replace(actions=frames.actions[~is_lost]))


@pytest.mark.parametrize(("name", "column"), [("claims", "text"), ("claims", "task"),
                                              ("actions", "text")])  # fmt: skip
def test_a_missing_text_or_task_is_refused_by_row(frames, name, column):
    frame = getattr(frames, name).astype({column: object})
    frame.loc[1, column] = None
    with pytest.raises(StatisticsError, match=rf"{name}: row 2.*{column} is missing"):
        make(frames._replace(**{name: frame}))
