"""Tables of different files that must not contradict each other, before anything is computed.

Each table may be right by itself and yet speak of other records, other golds or other repairs
than the next; numbers from both would then stand side by side as if of one study. A value that
is blank contradicts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragmend.analysis.inputs.agreeing_claims import check_actions, check_arm_counts
from ragmend.analysis.inputs.agreeing_selection import check_flags, check_verdicts
from ragmend.analysis.inputs.arms import KEY as ARM_KEY
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.labels import KEY
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.analysis.inputs.record_facts import refuse_tasks_named_as_totals, refuse_two_facts
from ragmend.analysis.inputs.sayings import as_flag, as_text, refuse_two_values, sayings
from ragmend.analysis.inputs.splits import is_development
from ragmend.analysis.settings import Incomplete, Provenance

if TYPE_CHECKING:
    import pandas as pd

_POPULATIONS = ("records", "labels", "arms")
"""Tables of the whole population; the first that is given says what it is."""
_ANSWER = ["record_id", "condition"]
_OF_RECORDS = (*_POPULATIONS, "claims", "selection")


def refuse_contradictions(
    frames: Frames, provenance: Provenance, *, incomplete: Incomplete = "refuse"
) -> None:
    """Raise unless the tables agree on the records, what is known of them and what was done.

    A table or column that is not given, or not fit for its own table, is left to those that
    need it.

    Args:
        frames: All that is given.
        provenance: The names of the tables' files, and the threshold.
        incomplete: Whether records may lack all their labels, and are then left out.

    Raises:
        StatisticsError: A record has two sources, tasks or golds; a task is called as a total
            is; tables are of other records; an answer is both empty and not; a flag contradicts
            its verdict or record id.
        AccountingError: An arm's counts are not those of its claims, or a claim's action
            contradicts its P(support) or that nothing was proposed.
    """
    frames = _with_text_ids(frames)
    refuse_tasks_named_as_totals(frames, provenance)
    check_verdicts(frames, provenance)
    refuse_two_facts(frames, provenance)
    _check_population(frames, provenance, incomplete)
    check_actions(frames, provenance)
    check_arm_counts(frames, provenance)
    _check_empty_answers(frames, provenance)


def _with_text_ids(frames: Frames) -> Frames:
    """Return the tables with record ids as text, so that they compare however they were read."""
    given = {
        name: frame.reset_index(drop=True)
        for name, frame in frames._asdict().items()
        if name in _OF_RECORDS and frame is not None
    }
    return frames._replace(
        **{
            name: frame.assign(record_id=as_text(frame["record_id"]))
            if "record_id" in frame
            else frame
            for name, frame in given.items()
        }
    )


def _check_population(frames: Frames, provenance: Provenance, incomplete: Incomplete) -> None:
    given = frames._asdict()
    whole = [name for name in _POPULATIONS if _has_records(given[name])]
    if not whole:
        return
    first, *others = whole
    for name in others:
        _refuse_others(frames, name, first, provenance)
        if name != "labels" or not _may_lack_labels(frames, incomplete):
            _refuse_others(frames, first, name, provenance)
    if _has_records(frames.claims):
        _refuse_others(frames, "claims", first, provenance)
    check_flags(frames, first, provenance)


def _may_lack_labels(frames: Frames, incomplete: Incomplete) -> bool:
    """Tell whether records without any label are left out, or the records only looked up in."""
    is_looked_up = not any(map(_has_records, (frames.arms, frames.claims, frames.selection)))
    return incomplete == "drop" or is_looked_up


def _refuse_others(frames: Frames, name: str, within: str, provenance: Provenance) -> None:
    """Refuse records of one table that another does not have."""
    frame, known = (frames._asdict()[each] for each in (name, within))
    is_other = frame["record_id"].notna() & ~frame["record_id"].isin(known["record_id"].unique())
    if name == "claims":
        is_other &= ~is_development(frame)
    message = f"this record is not in {provenance.name_of(within)}"
    if within == "labels":
        message += "; --incomplete drop leaves out what has no label"
    refuse_rows(frame, is_other, ["record_id"], provenance.name_of(name), message)


def _check_empty_answers(frames: Frames, provenance: Provenance) -> None:
    """Check that all judges call those answers empty of which the arms left no character."""
    labels, arms = frames.labels, frames.arms
    if labels is None or not {*KEY, "label"} <= set(labels):
        return
    said = []
    if arms is not None and {*ARM_KEY, "repaired_chars", "claims_kept"} <= set(arms):
        is_empty = as_text(arms["repaired_chars"]) == "0"
        answers = arms[["record_id"]].assign(condition=as_text(arms["arm"]))
        # Of an answer without a claim no more than blanks may be left, which a judge calls empty.
        is_told = is_empty | (as_text(arms["claims_kept"]) != "0")
        told = is_empty.astype("Int64").where(is_told)
        said.append(sayings(answers, _ANSWER, told, provenance.name_of("arms")))
        _refuse_labelled(labels, answers[is_empty], provenance)
    if "empty" in labels:
        cells = labels[[*_ANSWER, "empty"]].drop_duplicates()
        cells = cells.assign(condition=as_text(cells["condition"]))
        is_empty = as_flag(cells["empty"])
        said.append(sayings(cells, _ANSWER, is_empty, provenance.name_of("labels")))
    refuse_two_values(said, _ANSWER, "empty (of arms: repaired_chars = 0)")


def _refuse_labelled(labels: pd.DataFrame, emptied: pd.DataFrame, provenance: Provenance) -> None:
    """Refuse a label of 1 for an answer that an arm emptied."""
    import pandas as pd

    of_them = labels[labels["record_id"].isin(emptied["record_id"])]
    of_them = of_them.assign(condition=as_text(of_them["condition"]))
    of_them = of_them[as_flag(of_them["label"]).eq(1).fillna(False).astype(bool)]
    is_wrong = pd.MultiIndex.from_frame(of_them[_ANSWER]).isin(
        pd.MultiIndex.from_frame(emptied[_ANSWER])
    )
    wrong = pd.Series(labels.index.isin(of_them.index[is_wrong]), index=labels.index)
    message = f"labelled 1, but {provenance.name_of('arms')} has repaired_chars 0"
    refuse_rows(labels, wrong, KEY, provenance.name_of("labels"), message)


def _has_records(frame: pd.DataFrame | None) -> bool:
    return frame is not None and not frame.empty and "record_id" in frame
