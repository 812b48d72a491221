"""Tables of form: what is not well formed in the answers, and how assembly fitted claims in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.inputs.arms import arm_order
from ragmend.analysis.inputs.frames import DROPPED_WITHOUT_CONTENT, needed
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.study import Study
from ragmend.records import DANGLING

if TYPE_CHECKING:
    import pandas as pd

_FORM_COLUMNS = (
    Column("condition", "condition", "text"),
    Column("label", "quantity", "text"),
    Column("value", "count", "count"),
    Column("of", "of", "count"),
    Column("pct", "%", "decimal", 1),
)
_EDIT_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("edit", "edit", "text"),
    Column("claims", "claims", "count"),
    Column("of", "of", "count"),
    Column("claims_pct", "%", "decimal", 1),
)


class FormRow(NamedTuple):
    """One quantity of one condition: a count of answers or claims, and its share."""

    condition: str
    quantity: str
    label: str
    value: int
    of: int
    pct: Fraction | None


class EditRow(NamedTuple):
    """How many claims of one arm assembly edited in one way."""

    arm: str
    edit: str
    claims: int
    of: int
    claims_pct: Fraction | None


def wellformedness_table(study: Study) -> Table:
    """Count the answers of each condition that are not well formed, by kind of finding.

    Args:
        study: Its answers: record_id, condition, findings (a tuple), empty (0/1); and its
            actions, if there: arm, edits (a tuple).
    """
    key = ["record_id", "condition"]
    answers = needed(study.frames, "answers", [*key, "findings", "empty"], key=key)
    rows = [
        row
        for condition in _condition_order(answers["condition"])
        for row in _form_rows(
            condition, answers[answers["condition"] == condition], study.frames.actions
        )
    ]
    notes = notes_for(
        study.provenance,
        "findings: the original's own; in the other conditions those that its original does not "
        "have; an answer counts once a kind",
        "a pronoun without its noun: a kept sentence begins with one, and the sentence that it "
        "followed is gone; well formed, but perhaps no longer clear",
        "claims without content: kept, but taken out by assembly, since all they headed was gone"
        if study.frames.actions is not None
        else "claims without content: not in this input",
    )
    title = "Form: answers that are not well formed"
    return Table("wellformedness", title, table_frame(rows), _FORM_COLUMNS, notes)


def assembly_edits_table(study: Study) -> Table:
    """Count how assembly edited claims so that they fit into the repaired answer.

    Args:
        study: Its actions: record_id, claim_id, arm, edits (a tuple).
    """
    key = ["record_id", "claim_id", "arm"]
    actions = needed(study.frames, "actions", [*key, "edits"], key=key)
    rows = [
        row
        for arm in arm_order(actions["arm"])
        for row in _edit_rows(arm, actions.loc[actions["arm"] == arm, "edits"])
    ]
    notes = notes_for(study.provenance, "one claim may be edited in several ways")
    title = "Assembly: how claims were fitted in"
    return Table("assembly_edits", title, table_frame(rows), _EDIT_COLUMNS, notes)


def _form_rows(
    condition: str, answers: pd.DataFrame, actions: pd.DataFrame | None
) -> Iterator[FormRow]:
    n = len(answers)
    kinds_A = [_kinds(findings) for findings in answers["findings"]]
    n_found = sum(bool(set(kinds) - {DANGLING}) for kinds in kinds_A)
    yield _form_row(condition, "any_finding", "answers with any finding", n_found, n)
    counts = Counter(kind for kinds in kinds_A for kind in kinds)
    n_dangling = counts.pop(DANGLING, 0)
    for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield _form_row(condition, kind, kind.replace("_", " "), count, n)
    label = "a pronoun without its noun (not counted above)"
    yield _form_row(condition, DANGLING, label, n_dangling, n)
    yield _form_row(condition, "empty", "empty answers", int(answers["empty"].sum()), n)
    if actions is not None and condition != "original":
        edits_C: pd.Series[Any] = actions.loc[actions["arm"] == condition, "edits"]
        gone = int(edits_C.map(lambda edits: DROPPED_WITHOUT_CONTENT in edits).sum())
        label = "claims without content"
        yield _form_row(condition, "claims_without_content", label, gone, len(edits_C))


def _form_row(condition: str, quantity: str, label: str, count: int, of: int) -> FormRow:
    return FormRow(condition, quantity, label, count, of, percent(count, of))


def _edit_rows(arm: str, edits_C: pd.Series[Any]) -> Iterator[EditRow]:
    n, edited = len(edits_C), int(edits_C.map(bool).sum())
    yield EditRow(arm, "any edit", edited, n, percent(edited, n))
    counts = Counter(edit for edits in edits_C for edit in sorted(set(edits)))
    for edit, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield EditRow(arm, edit, count, n, percent(count, n))


def _kinds(findings: Iterable[str]) -> list[str]:
    """Return each kind of finding once: "doubled_word: the" is a doubled word."""
    return sorted({finding.partition(":")[0] for finding in findings})


def _condition_order(found: Iterable[str]) -> list[str]:
    present = set(found)
    arms = arm_order(present - {"original"})
    return ["original", *arms] if "original" in present else arms
