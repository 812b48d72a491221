"""A table of examples: of each task the least supported claim, and what each arm made of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragmend.analysis.inputs.arms import arm_order
from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.places import describe_row, refuse_rows
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Cell, Column, Table
from ragmend.analysis.study import Study
from ragmend.analysis.tables.claim_tables import CLAIM_KEY, eligible_claims
from ragmend.errors import StatisticsError
from ragmend.records import TASKS

if TYPE_CHECKING:
    import pandas as pd

DROPPED = "(dropped)"
_COLUMNS = (
    Column("task", "task", "text"),
    Column("record_id", "record", "text"),
    Column("claim_id", "claim", "text"),
    Column("p_support", "P(support)", "decimal", 3),
    Column("text", "text", "text"),
)


def examples_table(study: Study) -> Table:
    """Show, of each task, the eligible claim with the lowest P(support), as each arm left it.

    Among equals the first by record id, then claim id, is shown. In the CSV all texts are
    verbatim, and `<arm>_action` names what the arm decided.

    Args:
        study: Its claims: record_id, claim_id, task, p_support (NA where not verified), text;
            and its actions: record_id, claim_id, arm, kind, text.

    Raises:
        StatisticsError: A column is missing, a claim or action occurs twice, a claim has no
            task or no text, or a claim that is shown lacks the action of an arm.
        AccountingError: Removal does not drop exactly the eligible claims.

    Source: arXiv 2608.29307, Table 4.
    """
    claims = _with_text(study, "claims", CLAIM_KEY, ["task", "p_support"])
    actions = _with_text(study, "actions", [*CLAIM_KEY, "arm"], ["kind"])
    shown = _least_supported(eligible_claims(claims, study.provenance))
    arms = arm_order(actions["arm"])
    rows = [_row(claim, arms, actions) for claim in shown.to_dict("records")]
    without = sorted(set(claims["task"]) - set(shown["task"]))
    notes = notes_for(
        study.provenance,
        "of each task the claim with the lowest P(support) among those below the threshold of "
        f"{study.provenance.threshold:g}: an extreme, not a typical one",
        f"{DROPPED}: no text of the claim stands in the answer",
        f"no claim is eligible in {', '.join(without)}" if without else None,
    )
    columns = (*_COLUMNS, *(Column(f"{arm}_text", arm, "text") for arm in arms))
    title = "Table 4: the least supported claim of each task, and what each arm made of it"
    return Table("table4_examples", title, _frame(rows), columns, notes)


def without_examples(study: Study) -> str | None:
    """Say that no claim is eligible; None where one is."""
    claims = needed(study.frames, "claims", ["p_support"])
    is_eligible = claims["p_support"] < study.provenance.threshold
    return None if is_eligible.any() else "no claim is eligible"


def _with_text(study: Study, name: str, key: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return a frame with its keys as text, once every row has a text, and a task if it has any."""
    frame = needed(study.frames, name, [*key, *columns, "text"], key=key).reset_index(drop=True)
    place = study.provenance.name_of(name)
    for column in sorted({"task", "text"} & {*columns, "text"}):
        refuse_rows(frame, frame[column].isna(), key, place, f"{column} is missing")
    return frame.astype(dict.fromkeys(key, str))


def _least_supported(eligible: pd.DataFrame) -> pd.DataFrame:
    """Return one claim a task, the known tasks first, then by name."""
    first = eligible.sort_values(["p_support", *CLAIM_KEY]).drop_duplicates("task")
    place: dict[str, int] = {task: i for i, task in enumerate(TASKS)}
    in_order = sorted(first["task"], key=lambda task: (place.get(task, len(place)), task))
    return first.set_index("task", drop=False).loc[in_order]


def _row(
    claim: Mapping[Hashable, Any], arms: Sequence[str], actions: pd.DataFrame
) -> dict[str, Cell]:
    row: dict[str, Cell] = {column.name: claim[column.name] for column in _COLUMNS}
    key = {column: claim[column] for column in CLAIM_KEY}
    own = actions[(actions[CLAIM_KEY] == list(key.values())).all(axis=1)].set_index("arm")
    for arm in arms:
        if arm not in own.index:
            raise StatisticsError(f"actions: {describe_row({**key, 'arm': arm})}: no such row")
        kind, text = str(own["kind"][arm]), str(own["text"][arm])
        row[f"{arm}_action"] = kind
        # A dropped heading over content keeps its text, which then is what stands.
        row[f"{arm}_text"] = text or DROPPED
    return row


def _frame(rows: Sequence[dict[str, Cell]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, dtype=object)
