"""Anyone's tables as they come from a file, column by column made what an analysis expects.

Values may be text (CSV) or typed (Parquet, JSONL); blank and missing are the same. Nothing is
guessed: a value that its column does not allow is refused with table, row and key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ragmend.analysis.inputs.frames import require_columns
from ragmend.analysis.inputs.labels import KEY as LABEL_KEY
from ragmend.analysis.inputs.named_spans import SPAN_COLUMNS
from ragmend.analysis.inputs.places import is_blank, read_column, refuse_rows
from ragmend.records import ActionKind, ClaimKind, DetectionVerdict
from ragmend.values import (
    Reader,
    read_count,
    read_flag,
    read_number,
    read_one_of,
    read_percent,
    read_printed_percent,
    read_probability,
    read_text,
)

if TYPE_CHECKING:
    import pandas as pd

FileFrame = Literal["labels", "claims", "arms", "records", "selection", "runs", "published"]


class Field(NamedTuple):
    """One column of a table."""

    read: Reader
    """Reads one value, or raises DataError."""
    is_required: bool = True
    may_be_blank: bool = False


class Layout(NamedTuple):
    """The columns of one table, and those that name a row; further columns stay as they are."""

    key: tuple[str, ...]
    fields: Mapping[str, Field]


_DTYPES: dict[Reader, Literal["Int64", "float64"]] = {
    read_flag: "Int64", read_count: "Int64",
    read_number: "float64", read_percent: "float64", read_probability: "float64",
}  # fmt: skip
_TEXT, _FLAG, _COUNT = Field(read_text), Field(read_flag), Field(read_count)
_GOLD = Field(read_flag, may_be_blank=True)
_OPTIONAL = Field(read_text, is_required=False, may_be_blank=True)
_SCORE = Field(read_printed_percent)
_SHARE = Field(read_percent, is_required=False, may_be_blank=True)
_ACTION = _OPTIONAL._replace(read=read_one_of(get_args(ActionKind)))

LAYOUTS: dict[FileFrame, Layout] = {
    # That a label is missing may be a whole record's affair, so the label cube decides on it.
    "labels": Layout(
        tuple(LABEL_KEY),
        {
            **dict.fromkeys(LABEL_KEY, _TEXT),
            "label": _GOLD,
            **dict.fromkeys(("gold", "empty"), _GOLD._replace(is_required=False)),
            **dict.fromkeys(("task", "source_id"), _OPTIONAL),
            **dict.fromkeys(SPAN_COLUMNS, _OPTIONAL._replace(read=read_count)),
        },
    ),
    "claims": Layout(
        ("record_id", "claim_id"),
        {
            "record_id": _TEXT,
            "claim_id": _TEXT,
            "task": _TEXT,
            "record_gold": _GOLD,
            "p_support": Field(read_probability, may_be_blank=True),
            "aligned": _FLAG,
            "gold_unsupported": _GOLD,
            "rewrite_proposed": Field(read_flag, is_required=False),
            "kind": _OPTIONAL._replace(read=read_one_of(get_args(ClaimKind))),
            "split": _OPTIONAL._replace(read=read_one_of(("development", "test"))),
        },
    ),
    "arms": Layout(
        ("record_id", "arm"),
        {
            "record_id": _TEXT,
            "task": _TEXT,
            "gold": _GOLD,
            "arm": _TEXT,
            **dict.fromkeys(
                ("claims", "eligible", "claims_kept", "dropped", "substituted", "rewritten",
                 "original_chars", "repaired_chars"),
                _COUNT,
            ),
        },
    ),
    "records": Layout(
        ("record_id",),
        {
            "record_id": _TEXT,
            "source_id": _TEXT,
            "generator": _OPTIONAL,
            "task": _TEXT,
            "gold": _GOLD,
        },
    ),
    "selection": Layout(
        ("response_id",),
        {
            "response_id": _TEXT,
            "gold": _GOLD,
            "flagged": _FLAG,
            "record_id": Field(read_text, may_be_blank=True),
            "task": _OPTIONAL,
            "verdict": _OPTIONAL._replace(read=read_one_of(get_args(DetectionVerdict))),
        },
    ),
    "runs": Layout(
        ("model", "seed"),
        {
            "model": _TEXT,
            "seed": _TEXT,
            # Whether a run may lack its score depends on its other columns: `read_runs` decides.
            "f1": _SCORE._replace(is_required=False, may_be_blank=True),
            **dict.fromkeys(("tp", "fp", "fn"), _OPTIONAL._replace(read=read_count)),
            "usable": _FLAG._replace(may_be_blank=True),
            "population": Field(read_flag, is_required=False),
            "empty_pct": _SHARE,
            "unparsed_pct": _SHARE,
            "f1_read": _SHARE,
            **dict.fromkeys(("health", "reason", "unscored"), _OPTIONAL),
        },
    ),
    "published": Layout(
        ("table", "group", "method", "model"),
        {
            **dict.fromkeys(("table", "group", "method"), _TEXT),
            "model": Field(read_text, may_be_blank=True),
            **dict.fromkeys(("precision", "recall", "f1"), _SCORE._replace(may_be_blank=True)),
            "note": _OPTIONAL,
        },
    ),
}  # fmt: skip


def tidy_frame(raw: pd.DataFrame, frame: FileFrame, *, name: str) -> pd.DataFrame:
    """Return a table with its known columns checked and typed.

    Text stays text, missing as None; flags and counts become nullable integers, numbers and
    probabilities floats with NaN where missing.

    Args:
        raw: The table as read.
        frame: Which table it is.
        name: Its name in messages, a file.

    Raises:
        StatisticsError: A column is missing; a value is missing, or is not what its column
            holds; a key occurs twice.
    """
    layout = _layout_of(frame, raw)
    required = [column for column, field in layout.fields.items() if field.is_required]
    require_columns(raw, required, table=name)
    raw = raw.reset_index(drop=True)
    typed = {
        column: _read(raw, column, field, layout.key, name)
        for column, field in layout.fields.items()
        if column in raw
    }
    found = raw.assign(**typed)
    if layout.key and frame != "labels":
        key = list(layout.key)
        refuse_rows(found, found.duplicated(key), key, name, "occurs more than once")
    return found


def _layout_of(frame: FileFrame, raw: pd.DataFrame) -> Layout:
    """Return the table's layout, with what it may say beyond it: a record's source, actions."""
    layout = LAYOUTS[frame]
    further = {"source_id": _OPTIONAL}
    if frame == "claims":
        arms = [name for name in map(str, raw.columns) if name.startswith("action_")]
        further |= dict.fromkeys(arms, _ACTION)
    return layout._replace(fields={**further, **layout.fields})


def _read(
    raw: pd.DataFrame, column: str, field: Field, key: Sequence[str], name: str
) -> pd.Series[Any]:
    if not field.may_be_blank:
        refuse_rows(raw, is_blank(raw[column]), key, name, f"{column} is missing")
    read = read_column(raw, column, field.read, key, name)
    dtype = _DTYPES.get(field.read)
    return read if dtype is None else read.astype(dtype)
