"""The tables that analysis reads: their columns, what names a row, and what a cell may hold.

Columns and their order are those that `ragmend.analysis.inputs.frames.Frames` documents.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ragmend.errors import DataError
from ragmend.io import shorten
from ragmend.records import ActionKind, ClaimKind, DetectionVerdict

TableName = Literal["labels", "arms", "claims", "records", "selection", "runs"]
Cell = str | int | float | None
Blank = Literal["never", "declared", "allowed"]
TABLE_NAMES: tuple[TableName, ...] = get_args(TableName)
MAX_COUNT = 2**63 - 1  # what a 64-bit column holds

_FLAGS: dict[object, int] = {
    # True, 1.0 and numpy's own zeros and ones hash like 1 and 0.
    0: 0, 1: 1, "0": 0, "1": 1, "0.0": 0, "1.0": 1,
    "false": 0, "true": 1, "False": 0, "True": 1, "FALSE": 0, "TRUE": 1,
}  # fmt: skip
_COUNT = re.compile(r"\d{1,19}(\.0+)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Column(NamedTuple):
    """One column of ours."""

    name: str
    parse: Callable[[Any], Cell]
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


def read_text(value: object) -> str:
    """Return text; a whole number is text of its digits.

    Raises:
        DataError: Something else, or nothing.
    """
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"expected text or a whole number, found {shorten(value)}")


def read_flag(value: object) -> int:
    """Return 0 or 1.

    Raises:
        DataError: Something else than 0, 1, true or false.
    """
    try:
        return _FLAGS[value]
    except (KeyError, TypeError):
        raise DataError(f"expected 0 or 1, found {shorten(value)}") from None


def read_count(value: object) -> int:
    """Return a whole number from 0.

    Raises:
        DataError: Something else.
    """
    found = value
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    elif isinstance(found, str) and _COUNT.fullmatch(found):
        found = int(found.partition(".")[0])
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MAX_COUNT:
        return found
    raise DataError(f"expected a whole number from 0, found {shorten(value)}")


def read_number(value: object) -> float:
    """Return a finite number.

    Raises:
        DataError: Something else.
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = _as_float(value)
    else:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"expected a finite number, found {shorten(value)}")
    return number + 0.0  # no negative zero


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _number_up_to(high: float, *, what: str) -> Callable[[Any], float]:
    def read(value: object) -> float:
        number = read_number(value)
        if not 0 <= number <= high:
            raise DataError(f"expected {what}, found {shorten(value)}")
        return number

    return read


def _one_of(words: Sequence[str]) -> Callable[[Any], str]:
    def read(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise DataError(f"expected one of {', '.join(words)}, found {shorten(value)}")

    return read


_probability = _number_up_to(1, what="a probability from 0 to 1")
_percent = _number_up_to(100, what="percent from 0 to 100")
_action = _one_of(get_args(ActionKind))
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
            Column("p_support", _probability, blank="allowed"),
            Column("aligned", read_flag),
            Column("gold_unsupported", read_flag, blank="allowed"),
            Column("action_removal", _action, is_required=False),
            Column("action_extractive", _action, is_required=False),
            Column("rewrite_proposed", read_flag, is_required=False),
            Column("action_generative", _action, is_required=False),
            Column("kind", _one_of(get_args(ClaimKind)), is_required=False),
            Column("text", read_text, is_required=False),
            Column("split", _one_of(("development", "test")), is_required=False),
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
            Column("verdict", _one_of(get_args(DetectionVerdict)), is_required=False),
        ),
    ),
    "runs": Target(
        ("model", "seed"),
        (
            Column("model", read_text),
            Column("seed", read_text),
            Column("f1", _percent),
            Column("usable", read_flag),
            Column("population", read_flag, is_required=False),
            Column("empty_pct", _percent, is_required=False),
            Column("unparsed_pct", _percent, is_required=False),
        ),
    ),
}
