"""What is one for each record (source, task, gold), whichever table says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragmend.analysis.inputs.frames import Frames, needed, require_columns
from ragmend.analysis.inputs.labels import KEY
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.analysis.inputs.sayings import as_flag, as_text, refuse_two_values, sayings
from ragmend.analysis.settings import Provenance
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

FACTS = ("source_id", "task", "gold")
_TELLERS = ("records", "labels", "arms", "claims", "selection")
_OWN_NAMES = {("claims", "gold"): "record_gold"}
_TOTALS = ("all", "pooled")
"""What rows over all tasks are called in one table or another."""


def refuse_two_facts(frames: Frames, provenance: Provenance) -> None:
    """Raise unless every table that tells a record's source, task or gold tells the same.

    Args:
        frames: Its record ids as text.
        provenance: The names of the tables' files.

    Raises:
        StatisticsError: A record has two of what it has one of.
    """
    told = {name: _told_facts(frames, name) for name in _TELLERS}
    for fact in FACTS:
        said = [
            sayings(facts, ["record_id"], _comparable(facts[fact], fact), provenance.name_of(name))
            for name, facts in told.items()
            if fact in facts
        ]
        refuse_two_values(said, ["record_id"], fact)


def refuse_tasks_named_as_totals(frames: Frames, provenance: Provenance) -> None:
    """Raise StatisticsError where a task is called as the rows over all tasks are."""
    for name in _TELLERS:
        frame = frames._asdict()[name]
        if frame is None or "task" not in frame:
            continue
        key = [column for column in ("response_id", "record_id") if column in frame]
        for total in _TOTALS:
            message = f"a task cannot be called {total!r}: so are the rows over all tasks"
            refuse_rows(frame, frame["task"] == total, key, provenance.name_of(name), message)


def labels_with_facts(frames: Frames, provenance: Provenance) -> pd.DataFrame:
    """Return the labels, with the sources, tasks and golds that only the records know.

    Raises:
        StatisticsError: A labelled record is not among the records, or has another source,
            task or gold there.
    """
    labels = needed(frames, "labels", [*KEY, "label"])
    if frames.records is None:
        return labels
    name = provenance.name_of("records")
    require_columns(frames.records, ["record_id"], table=name)
    records = needed(frames, "records", ["record_id"], key=["record_id"])
    of_record = records.assign(record_id=records["record_id"].astype(str)).set_index("record_id")
    ids = labels["record_id"].astype(str)
    unknown = labels[labels["record_id"].notna() & ~ids.isin(of_record.index)]
    if len(unknown):
        raise StatisticsError(
            f"{name}: record {unknown['record_id'].iloc[0]} has labels but no row here"
        )
    known = {fact: ids.map(of_record[fact]) for fact in FACTS if fact in of_record}
    return labels.assign(
        **{fact: _filled(labels, fact, values, provenance) for fact, values in known.items()}
    )


def _told_facts(frames: Frames, name: str) -> pd.DataFrame:
    """Return the facts that a table tells of each record, what it says twice once."""
    import pandas as pd

    frame: pd.DataFrame | None = frames._asdict()[name]
    if frame is None or "record_id" not in frame:
        return pd.DataFrame()
    columns = {_OWN_NAMES.get((name, fact), fact): fact for fact in FACTS}
    found = frame[["record_id", *(column for column in columns if column in frame)]]
    return found.drop_duplicates().rename(columns=columns)


def _filled(
    labels: pd.DataFrame, fact: str, known: pd.Series[Any], provenance: Provenance
) -> pd.Series[Any]:
    """Return one fact of the labels, from the records where it is blank."""
    if fact not in labels:
        return known
    own, others = _comparable(labels[fact], fact), _comparable(known, fact)
    differs = ((own != others) & own.notna() & others.notna()).fillna(False).astype(bool)
    message = f"{fact} is not that of {provenance.name_of('records')}"
    refuse_rows(labels, differs, KEY, provenance.name_of("labels"), message)
    blank = as_text(labels[fact]).isna()
    return labels[fact].astype(object).mask(blank, known) if blank.any() else labels[fact]


def _comparable(column: pd.Series[Any], fact: str) -> pd.Series[Any]:
    return as_flag(column) if fact == "gold" else as_text(column)
