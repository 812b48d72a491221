"""Well-formedness by condition, and what assembly did to fit claims in."""

import pytest

from ragmend.analysis import Provenance, Settings, build_frames, table_files
from ragmend.analysis.printing.table import print_rows
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES

PRONOUN = "a pronoun without its noun (not counted above)"


def make(name, frames):
    return TABLES[name].make(Study(frames, Settings(), Provenance()))


@pytest.fixture
def marked(run, emptied):
    """The tiny run: r1 has findings in two conditions, and assembly dropped a kept claim."""
    findings = {
        ("r1", "original"): ("stray_mark: ;",),
        ("r1", "removal"): ("open_bracket", "no_capital: a", "no_capital: b"),
        ("r2", "removal"): ("no_capital: x", "orphaned_pronoun"),
    }
    answers = [
        answer.model_copy(
            update={"findings": findings.get((answer.record_id, answer.condition), ())}
        )
        for answer in run.answers
    ]
    edits = {
        ("r1", "c0", "removal"): ("drop_without_content",),
        ("r2", "c0", "removal"): ("capitalise", "add_stop"),
    }
    actions = [
        action.model_copy(
            update={"edits": edits.get((action.record_id, action.claim_id, action.arm), ())}
        )
        for action in run.actions
    ]
    run = emptied(run._replace(answers=answers, actions=actions), "r1", "removal")
    return build_frames(run, threshold=0.5)


def test_findings_are_counted_by_condition_and_kind(marked):
    assert print_rows(make("wellformedness", marked)) == [
        ["original", "answers with any finding", "1", "2", "50.0"],
        ["original", "stray mark", "1", "2", "50.0"],
        ["original", PRONOUN, "0", "2", "0.0"],
        ["original", "empty answers", "0", "2", "0.0"],
        ["removal", "answers with any finding", "2", "2", "100.0"],
        ["removal", "no capital", "2", "2", "100.0"],
        ["removal", "open bracket", "1", "2", "50.0"],
        ["removal", PRONOUN, "1", "2", "50.0"],
        ["removal", "empty answers", "1", "2", "50.0"],
        ["removal", "claims without content", "1", "4", "25.0"],
        ["extractive", "answers with any finding", "0", "2", "0.0"],
        ["extractive", PRONOUN, "0", "2", "0.0"],
        ["extractive", "empty answers", "0", "2", "0.0"],
        ["extractive", "claims without content", "0", "4", "0.0"],
        ["generative", "answers with any finding", "0", "2", "0.0"],
        ["generative", PRONOUN, "0", "2", "0.0"],
        ["generative", "empty answers", "0", "2", "0.0"],
        ["generative", "claims without content", "0", "4", "0.0"],
    ]


def test_without_actions_the_claims_without_content_are_left_out(marked):
    table = make("wellformedness", marked._replace(actions=None))
    assert "claims_without_content" not in set(table.frame["quantity"])
    assert "claims without content: not in this input" in table.notes


def test_every_edit_of_assembly_is_counted_by_arm(marked):
    table = make("assembly_edits", marked)
    assert print_rows(table) == [
        ["removal", "any edit", "2", "4", "50.0"],
        ["removal", "add_stop", "1", "4", "25.0"],
        ["removal", "capitalise", "1", "4", "25.0"],
        ["removal", "drop_without_content", "1", "4", "25.0"],
        ["extractive", "any edit", "0", "4", "0.0"],
        ["generative", "any edit", "0", "4", "0.0"],
    ]


@pytest.mark.parametrize("name", ["wellformedness", "assembly_edits"])
def test_each_table_renders_in_every_form(marked, name):
    files = table_files({name: make(name, marked)})
    assert sorted(files) == [f"tables/{name}.{form}" for form in ("csv", "md", "tex")]
    assert all(b"removal" in content for content in files.values())
