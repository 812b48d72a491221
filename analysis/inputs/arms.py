"""The arms frame: checked once, then arrays of records × arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragmend.analysis.inputs.frames import Frames, needed
from ragmend.analysis.inputs.places import is_blank, refuse_rows
from ragmend.errors import AccountingError, StatisticsError
from ragmend.records import ARMS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

KEY = ["record_id", "arm"]
ARM_COUNTS = ("claims", "eligible", "claims_kept", "dropped", "substituted", "rewritten")
_CHARS = ("original_chars", "repaired_chars")
_UNKNOWN = -1


class ArmCube(NamedTuple):
    """What every arm did to every record; records sorted by id, whatever order they came in."""

    record_ids: tuple[str, ...]
    arms: tuple[str, ...]
    counts_RA: Mapping[str, NDArray[np.int64]]  # noqa: N815
    """Each of `ARM_COUNTS`, by its name."""
    ratio_RA: NDArray[np.float64]  # noqa: N815
    """Characters of the repaired answer over those of the original; above 1 where it grew."""
    gold_R: NDArray[np.int64]  # noqa: N815
    """1 where the untouched answer is hallucinated by gold, 0 where not, -1 where unknown."""
    tasks_R: tuple[str, ...] | None  # noqa: N815
    """Task of each record; None where the frame does not say."""
    sources_R: tuple[str, ...] | None  # noqa: N815
    """Source of each record; None where there is no records frame that says."""


def arm_order(found: Iterable[str]) -> list[str]:
    """Return the arms that occur: the paper's in its order, then others by name."""
    present = set(found)
    return [arm for arm in ARMS if arm in present] + sorted(present - set(ARMS))


def arm_cube(frames: Frames, *, known: Sequence[str], name: str = "arms") -> ArmCube:
    """Check the arms frame and arrange it by record and arm.

    Args:
        frames: Its arms: `KEY`, gold (0, 1 or NA), `ARM_COUNTS`, where claims_kept counts every
            claim that was not dropped, original_chars, repaired_chars and perhaps task; and its
            records, if there: record_id and perhaps source_id.
        known: Names that an arm may have, in the cube's order.
        name: The frame's name in messages.

    Raises:
        StatisticsError: A column is missing, a (record, arm) occurs twice or not at all, an arm
            is unknown, a count is none, an original answer is empty, a record has two golds or
            tasks, or is not among the records.
        AccountingError: A row's claims are not kept + dropped, more were replaced than kept or
            are eligible than there are, or a record's original differs between arms.
    """
    frame = _with_known_keys(frames, known, name)
    frame = _with_counts(frame, name)
    _check_sums(frame, name)
    arms = [arm for arm in known if arm in set(frame["arm"])]
    ids = sorted(frame["record_id"].unique())
    _refuse_missing_cells(frame, ids, arms, name)
    tables = {column: _by_arm(frame, column, ids, arms) for column in (*ARM_COUNTS, *_CHARS)}
    gold = frame["gold"].astype("Int64").fillna(_UNKNOWN).astype("int64")
    return ArmCube(
        tuple(ids),
        tuple(arms),
        counts_RA={count: tables[count] for count in ARM_COUNTS},
        ratio_RA=tables["repaired_chars"] / tables["original_chars"],
        gold_R=_one_a_record(frame.assign(gold=gold), "gold", name).loc[ids].to_numpy(np.int64),
        tasks_R=_tasks(frame, ids, name),
        sources_R=_sources(frames, ids),
    )


def _with_known_keys(frames: Frames, known: Sequence[str], name: str) -> pd.DataFrame:
    """Return the frame with keys as text, so that records sort alike however ids were read."""
    frame = needed(frames, "arms", [*KEY, "gold", *ARM_COUNTS, *_CHARS], key=KEY)
    frame = frame.reset_index(drop=True)
    absent = frame[KEY].apply(is_blank).any(axis=1)
    refuse_rows(frame, absent, KEY, name, "a part of the key is missing")
    frame = frame.astype(dict.fromkeys(KEY, str))
    message = f"unknown arm, expected one of {', '.join(known)}"
    refuse_rows(frame, ~frame["arm"].isin(known), KEY, name, message)
    return frame


def _with_counts(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the frame with its counts as integers."""
    import pandas as pd

    for column in (*ARM_COUNTS, *_CHARS):
        values = pd.to_numeric(frame[column], errors="coerce").astype("float64")
        wrong = ~values.between(0, np.inf, inclusive="left") | (values % 1 != 0)
        if wrong.any():
            value = frame[column][wrong].iloc[0]
            message = f"{column} {value!r} is not a count (0, 1, 2, …)"
            refuse_rows(frame, wrong, KEY, name, message)
        frame = frame.assign(**{column: values.astype("int64")})
    return frame


def _check_sums(frame: pd.DataFrame, name: str) -> None:
    refuse_rows(frame, frame["original_chars"] == 0, KEY, name, "the original answer is empty")
    replaced = frame["substituted"] + frame["rewritten"]
    sums = {
        "claims are not kept + dropped": frame["claims"] != frame["claims_kept"] + frame["dropped"],
        "more claims replaced than kept": replaced > frame["claims_kept"],
        "more claims eligible than there are": frame["eligible"] > frame["claims"],
    }
    for message, wrong in sums.items():
        refuse_rows(frame, wrong, KEY, name, message, AccountingError)
    for column in ("claims", "eligible", "original_chars"):
        _one_a_record(frame, column, name, AccountingError)


def _refuse_missing_cells(
    frame: pd.DataFrame, record_ids: Sequence[str], arms: Sequence[str], name: str
) -> None:
    found = set(zip(frame["record_id"], frame["arm"], strict=True))
    for record_id in record_ids:
        for arm in arms:
            if (record_id, arm) not in found:
                raise StatisticsError(f"{name}: record {record_id}, arm {arm}: no such row")


def _by_arm(
    frame: pd.DataFrame, column: str, record_ids: Sequence[str], arms: Sequence[str]
) -> NDArray[np.int64]:
    wide = frame.pivot_table(index="record_id", columns="arm", values=column, aggfunc="sum")
    return wide.loc[list(record_ids), list(arms)].to_numpy(dtype=np.int64)


def _tasks(frame: pd.DataFrame, ids: Sequence[str], name: str) -> tuple[str, ...] | None:
    if "task" not in frame or is_blank(frame["task"]).all():
        return None
    message = "task is missing here, though not everywhere"
    refuse_rows(frame, is_blank(frame["task"]), KEY, name, message)
    return tuple(_one_a_record(frame.astype({"task": str}), "task", name).loc[list(ids)])


def _sources(frames: Frames, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Return each record's source, from the records frame."""
    records = frames.records
    if records is None or "source_id" not in records or is_blank(records["source_id"]).all():
        return None
    key = ["record_id"]
    records = needed(frames, "records", ["record_id", "source_id"], key=key)
    message = "source_id is missing here, though not everywhere"
    refuse_rows(records, is_blank(records["source_id"]), key, "records", message)
    source_of = records.assign(record_id=records["record_id"].astype(str)).set_index("record_id")
    for record_id in ids:
        if record_id not in source_of.index:
            raise StatisticsError(f"records: record {record_id} has arms but no row here")
    return tuple(source_of["source_id"].astype(str).loc[list(ids)])


def _one_a_record(
    frame: pd.DataFrame, column: str, name: str, error: type[Exception] = StatisticsError
) -> pd.Series[Any]:
    """Return the column by record id, once it is known to be the same in all arms."""
    first = frame.drop_duplicates("record_id").set_index("record_id")[column]
    differs = frame[column] != frame["record_id"].map(first)
    refuse_rows(frame, differs, KEY, name, f"{column} is not that of the record's first arm", error)
    return first
