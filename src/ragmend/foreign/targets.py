"""The tables that analysis reads: their columns, what names a row, and what a cell may hold.

Columns and their order are those that `ragmend.analysis.inputs.frames.Frames` documents.
"""

from typing import Literal, NamedTuple, get_args

from ragmend.records import ActionKind, ClaimKind, DetectionVerdict
from ragmend.values import (
    Reader,
    read_count,
    read_flag,
    read_one_of,
    read_percent,
    read_probability,
    read_text,
)

TableName = Literal["labels", "arms", "claims", "records", "selection", "runs"]
Blank = Literal["never", "declared", "allowed"]
TABLE_NAMES: tuple[TableName, ...] = get_args(TableName)


class Column(NamedTuple):
    """One column of ours."""

    name: str
    parse: Reader
    """Turns a foreign value into a cell, or raises DataError: what was expected, what came."""
    is_required: bool = True
    blank: Blank = "never"
    """Whether a cell may be blank: always when nothing came, only when the map declares the
    value as missing, or never."""


class Target(NamedTuple):
    """One table of ours."""

    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return self.columns[self.names.index(name)]


_action = read_one_of(get_args(ActionKind))
_RECORD = Column("record_id", read_text)
_TASK = Column("task", read_text)
_GOLD = Column("gold", read_flag, blank="allowed")

TARGETS: dict[TableName, Target] = {
    "labels": Target(
        ("record_id", "judge", "condition"),
        (
            _RECORD,
            Column("source_id", read_text, is_required=False, blank="allowed"),
            _TASK._replace(is_required=False),
            _GOLD._replace(is_required=False),
            Column("judge", read_text),
            Column("condition", read_text),
            Column("label", read_flag, blank="declared"),
            Column("empty", read_flag, is_required=False),
            Column("n_spans", read_count, is_required=False, blank="allowed"),
            Column("n_located", read_count, is_required=False, blank="allowed"),
        ),
    ),
    "arms": Target(
        ("record_id", "arm"),
        (
            _RECORD,
            _TASK,
            _GOLD,
            Column("arm", read_text),
            Column("claims", read_count),
            Column("eligible", read_count),
            Column("claims_kept", read_count),
            Column("dropped", read_count),
            Column("substituted", read_count),
            Column("rewritten", read_count),
            Column("original_chars", read_count),
            Column("repaired_chars", read_count),
        ),
    ),
    "claims": Target(
        ("record_id", "claim_id"),
        (
            _RECORD,
            Column("claim_id", read_text),
            _TASK,
            Column("record_gold", read_flag, blank="allowed"),
            Column("p_support", read_probability, blank="allowed"),
            Column("aligned", read_flag),
            Column("gold_unsupported", read_flag, blank="allowed"),
            Column("action_removal", _action, is_required=False),
            Column("action_extractive", _action, is_required=False),
            Column("rewrite_proposed", read_flag, is_required=False),
            Column("action_generative", _action, is_required=False),
            Column("kind", read_one_of(get_args(ClaimKind)), is_required=False),
            Column("text", read_text, is_required=False),
            Column("split", read_one_of(("development", "test")), is_required=False),
        ),
    ),
    "records": Target(
        ("record_id",),
        (
            _RECORD,
            Column("source_id", read_text),
            Column("generator", read_text, is_required=False),
            _TASK,
            _GOLD,
        ),
    ),
    "selection": Target(
        ("response_id",),
        (
            Column("response_id", read_text),
            _GOLD,
            Column("flagged", read_flag),
            Column("record_id", read_text, blank="allowed"),
            _TASK._replace(is_required=False),
            Column("verdict", read_one_of(get_args(DetectionVerdict)), is_required=False),
        ),
    ),
    "runs": Target(
        ("model", "seed"),
        (
            Column("model", read_text),
            Column("seed", read_text),
            Column("f1", read_percent),
            Column("usable", read_flag),
            Column("population", read_flag, is_required=False),
            Column("empty_pct", read_percent, is_required=False),
            Column("unparsed_pct", read_percent, is_required=False),
            Column("f1_read", read_percent, is_required=False, blank="allowed"),
            Column("tp", read_count, is_required=False, blank="allowed"),
            Column("fp", read_count, is_required=False, blank="allowed"),
            Column("fn", read_count, is_required=False, blank="allowed"),
            Column("health", read_text, is_required=False, blank="allowed"),
            Column("reason", read_text, is_required=False, blank="allowed"),
            Column("unscored", read_text, is_required=False, blank="allowed"),
        ),
    ),
}
