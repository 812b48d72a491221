"""The tidy pandas frames that every table is made from, and what a table asks of them.

A run's records become frames in `from_records`, anyone's files in the command line; gold columns
are NA where nobody annotated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

DROPPED_WITHOUT_CONTENT = "drop_without_content"
"""Assembly's edit of a kept claim that had nothing left to say: its text is gone."""
KEPT_AS_HEAD = "keep_head"
"""Assembly's edit of a dropped claim that heads content: its text stays."""
GOLD_COLUMNS = ("gold", "record_gold", "gold_unsupported")


class Frames(NamedTuple):
    """The tidy inputs of an analysis; None: not given, and its tables are left out."""

    labels: pd.DataFrame | None = None
    """record_id, judge, condition, label; perhaps source_id, task, gold, empty, n_spans (strings
    that the judge named as unsupported), n_located (those of them that stand in the answer)."""
    arms: pd.DataFrame | None = None
    """record_id, task, gold, arm, claims, eligible, claims_kept (not dropped), dropped,
    substituted, rewritten, original_chars, repaired_chars."""
    claims: pd.DataFrame | None = None
    """record_id, claim_id, task, record_gold, p_support (NA: not verified), aligned,
    gold_unsupported, action_removal, action_extractive, rewrite_proposed, action_generative;
    perhaps kind, text (both always of a run), split (development or test)."""
    records: pd.DataFrame | None = None
    """record_id, source_id, generator, task, gold; the population."""
    selection: pd.DataFrame | None = None
    """response_id, gold, flagged, record_id (NA: not flagged); perhaps task, verdict."""
    runs: pd.DataFrame | None = None
    """model, seed, f1 (percent) or tp, fp, fn, usable (0/1); perhaps population (0/1: its flags are
    the population), empty_pct and unparsed_pct (shares of its answers), f1_read (percent, over
    those that could be read), health (the verdict on its training), reason (the verdict in words),
    unscored (why it has no score: then it is named, and counted nowhere)."""
    candidates: pd.DataFrame | None = None
    """record_id, claim_id, kind, gate_passed, gate_reasons (tuple), p_support, accepted."""
    verdicts: pd.DataFrame | None = None
    """record_id, claim_id, task, p_support, p_low and p_high (NA: known exactly), candidate_mass
    (NA: no language model's), form_probs (dict or None), left_out_fragments."""
    rewrites: pd.DataFrame | None = None
    """record_id, claim_id, has_text (0: the rewriter said that nothing is supported); one row for
    each claim that it was asked about."""
    detectors: pd.DataFrame | None = None
    """run_id, level, protocol, group, n_responses, tp, fp, fn, tn."""
    development: pd.DataFrame | None = None
    """run_id, model, seed, health, epoch, level, n_responses, tp, fp, fn, tn, n_empty, n_unparsed,
    threshold (None: the detector has none), chosen: how trained detectors did on development."""
    answers: pd.DataFrame | None = None
    """record_id, condition, findings (tuple), empty."""
    actions: pd.DataFrame | None = None
    """record_id, claim_id, arm, kind, edits (tuple), text."""
    published: pd.DataFrame | None = None
    """table, group, method, model, precision, recall, f1, note: scores as a paper prints them,
    in percent."""

    def has(self, need: str) -> bool:
        """Tell whether a frame (`claims`) or a column of it (`claims.kind`) is there, with rows."""
        name, _, column = need.partition(".")
        frame: pd.DataFrame | None = self._asdict()[name]
        return frame is not None and not frame.empty and (not column or column in frame)


def needed(
    frames: Frames, name: str, columns: Sequence[str], *, key: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the frame of that name, once it is known to be fit for a table.

    Args:
        frames: The given frames.
        name: The frame's name in `Frames`.
        columns: Columns that must be there; those of gold and flags must be 0, 1 or NA.
        key: Columns that together name a row and must not repeat.

    Raises:
        StatisticsError: The frame or a column is missing, a key repeats, or a value of gold
            or flagged is not 0 or 1.
    """
    frame: pd.DataFrame | None = frames._asdict()[name]
    if frame is None:
        raise StatisticsError(f"this table needs the {name} frame, which was not given")
    require_columns(frame, columns, table=name)
    if key and frame.duplicated(list(key)).any():
        row = frame[frame.duplicated(list(key))].iloc[0]
        raise StatisticsError(f"{name}: {_describe_row(row, key)} occurs more than once")
    for column in sorted({*GOLD_COLUMNS, "flagged", "aligned", "usable"} & set(columns)):
        wrong = frame[frame[column].notna() & ~frame[column].isin([0, 1])]
        if len(wrong):
            at = _describe_row(wrong.iloc[0], [*key, column])
            raise StatisticsError(f"{name}: {at}: expected 0 or 1")
    return frame


def require_columns(frame: pd.DataFrame, columns: Sequence[str], *, table: str) -> None:
    """Raise StatisticsError unless the frame has rows and all the columns."""
    missing = [column for column in columns if column not in frame]
    if missing:
        raise StatisticsError(
            f"the {table} table lacks the column(s) {', '.join(missing)}; "
            f"it has {', '.join(map(str, frame.columns))}"
        )
    if frame.empty:
        raise StatisticsError(f"the {table} table has no rows")


def _describe_row(row: pd.Series[Any], columns: Sequence[str]) -> str:
    return ", ".join(f"{column} {row[column]}" for column in columns)
