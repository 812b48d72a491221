"""Lists the sources that a stage had to shorten, for they did not fit a model's context."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.io import write_records
from ragmend.paths import shortened_path
from ragmend.records import Candidate, Judgement, Rewrite, Shortened, Verdict


class Listed(NamedTuple):
    """The file of the list, if there is one, and its count."""

    files: tuple[Path, ...]
    counts: dict[str, JsonValue]


def shortened_of(record: Verdict | Rewrite | Candidate | Judgement) -> Shortened | None:
    """Return what was left out for one answer of a model; None where nothing was."""
    if not record.left_out_fragments:
        return None
    if isinstance(record, Judgement):
        return Shortened(
            record_id=record.record_id,
            left_out_fragments=record.left_out_fragments,
            condition=record.condition,
            judge=record.judge,
        )
    return Shortened(
        record_id=record.record_id,
        left_out_fragments=record.left_out_fragments,
        claim_id=record.claim_id,
    )


def list_shortened(folder: Path, found: Iterable[Shortened | None]) -> Listed:
    """Write a stage's list, where there is something to list; else there is no file."""
    rows = [row for row in found if row is not None]
    path = shortened_path(folder)
    if not rows:
        path.unlink(missing_ok=True)
        return Listed((), {})
    write_records(path, rows)
    return Listed((path,), {"shortened_sources": len(rows)})
