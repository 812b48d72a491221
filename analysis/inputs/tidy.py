"""Anyone's tables as they come from a file, column by column made what an analysis expects.

Values may be text (CSV) or typed (Parquet, JSONL); blank and missing are the same. Nothing is
guessed: a value that its column does not allow is refused with table, row and key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragmend.analysis.inputs.frames import require_columns
from ragmend.analysis.inputs.labels import KEY as LABEL_KEY
from ragmend.analysis.inputs.labels import READINGS
from ragmend.analysis.inputs.places import is_blank, refuse_rows

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "flag", "count", "number", "probability"]
FileFrame = Literal["labels", "claims", "arms", "records", "selection", "runs", "published"]


class Field(NamedTuple):
    """One column of a table."""

    kind: Kind
    is_required: bool = True
    may_be_blank: bool = False


class Layout(NamedTuple):
    """The columns of one table, and those that name a row; further columns stay as they are."""

    key: tuple[str, ...]
    fields: Mapping[str, Field]


_TEXT, _FLAG, _COUNT = Field("text"), Field("flag"), Field("count")
_GOLD = Field("flag", may_be_blank=True)
_OPTIONAL = Field("text", is_required=False, may_be_blank=True)

LAYOUTS: dict[FileFrame, Layout] = {
    # The label cube reads labels itself, for a missing one may be a whole record's affair.
    "labels": Layout(tuple(LABEL_KEY), {}),
    "claims": Layout(
        ("record_id", "claim_id"),
        {
            "record_id": _TEXT,
            "claim_id": _TEXT,
            "task": _TEXT,
            "record_gold": _GOLD,
            "p_support": Field("probability", may_be_blank=True),
            "aligned": _FLAG,
            "gold_unsupported": _GOLD,
            "rewrite_proposed": Field("flag", is_required=False),
            "action_removal": _OPTIONAL,
            "action_extractive": _OPTIONAL,
            "action_generative": _OPTIONAL,
            "kind": _OPTIONAL,
            "split": _OPTIONAL,
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
            "record_id": Field("text", may_be_blank=True),
            "task": _OPTIONAL,
            "verdict": _OPTIONAL,
        },
    ),
    "runs": Layout(
        ("model", "seed"),
        {
            "model": _TEXT,
            "seed": _TEXT,
            "f1": Field("text"),  # the decimal as printed: 74.825 has no exact float
            "usable": _FLAG,
            "population": Field("flag", is_required=False),
            "empty_pct": Field("number", is_required=False, may_be_blank=True),
            "unparsed_pct": Field("number", is_required=False, may_be_blank=True),
        },
    ),
    "published": Layout(
        (),
        {
            **dict.fromkeys(("table", "group", "method"), _TEXT),
            "model": Field("text", may_be_blank=True),
            **dict.fromkeys(("precision", "recall", "f1"), Field("text", may_be_blank=True)),
            "note": _OPTIONAL,
        },
    ),
}  # fmt: skip


def tidy_frame(raw: pd.DataFrame, frame: FileFrame, *, name: str) -> pd.DataFrame:
    """Return a table with its known columns checked and typed.

    Text stays text, missing as NA; flags and counts become nullable integers, numbers and
    probabilities floats with NaN where missing.

    Args:
        raw: The table as read.
        frame: Which table it is.
        name: Its name in messages, a file.

    Raises:
        StatisticsError: A column is missing; a value is missing, or is not what its column
            holds; a key occurs twice.
    """
    layout = LAYOUTS[frame]
    required = [column for column, field in layout.fields.items() if field.is_required]
    require_columns(raw, required or layout.key, table=name)
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


def _read(
    raw: pd.DataFrame, column: str, field: Field, key: Sequence[str], name: str
) -> pd.Series[Any]:
    blank = is_blank(raw[column])
    if not field.may_be_blank:
        refuse_rows(raw, blank, key, name, f"{column} is missing")
    readers = {"text": _texts, "flag": _flags, "count": _counts}
    if field.kind in readers:
        read, expected = readers[field.kind](raw[column])
    else:
        read, expected = _numbers(raw[column], is_probability=field.kind == "probability")
    wrong = ~blank & read.isna()
    if wrong.any():
        value = raw[column][wrong].iloc[0]
        refuse_rows(raw, wrong, key, name, f"{column} is {value!r}, expected {expected}")
    return read.mask(blank)


def _texts(values: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    return values.astype(str).astype(object), "text"


def _flags(values: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    return values.map(READINGS).astype("Int64"), "0 or 1"


def _counts(values: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    numbers, _ = _numbers(values, is_probability=False)
    whole = (numbers >= 0) & (numbers == numbers.round())
    return numbers.where(whole).astype("Int64"), "a whole number, 0 or more"


def _numbers(values: pd.Series[Any], *, is_probability: bool) -> tuple[pd.Series[Any], str]:
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    finite = numbers.abs() < float("inf")
    if is_probability:
        return numbers.where(finite & numbers.between(0, 1)), "a number from 0 to 1"
    return numbers.where(finite), "a finite number"
