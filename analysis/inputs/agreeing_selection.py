"""Whether the evaluated split's flags agree with themselves and with the records repaired."""

from __future__ import annotations

from typing import get_args

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.analysis.inputs.sayings import as_flag, as_text
from ragmend.analysis.settings import Provenance
from ragmend.records import DetectionVerdict

_KEY = ["response_id"]
_FLAGGED_VERDICT: DetectionVerdict = "hallucinated"


def check_verdicts(frames: Frames, provenance: Provenance) -> None:
    """Check each row of the selection: what is flagged is a record, once, and was so judged.

    Raises:
        StatisticsError: A flagged response has no record id or another one has; a record id
            occurs twice; a verdict is unknown, or does not go with its flag.
    """
    selection, name = frames.selection, provenance.name_of("selection")
    if selection is None or not {*_KEY, "flagged"} <= set(selection):
        return
    is_flagged = as_flag(selection["flagged"]).eq(1).fillna(False).astype(bool)
    if "record_id" in selection:
        ids = selection["record_id"]
        wrong = is_flagged & ids.isna()
        refuse_rows(selection, wrong, _KEY, name, "flagged, but without record_id")
        wrong = ids.notna() & ids.duplicated()
        refuse_rows(selection, wrong, _KEY, name, "its record_id occurs more than once")
    if "verdict" in selection:
        known = get_args(DetectionVerdict)
        verdicts = as_text(selection["verdict"])
        message = f"unknown verdict, expected one of {', '.join(known)}"
        refuse_rows(selection, verdicts.notna() & ~verdicts.isin(known), _KEY, name, message)
        wrong = verdicts.notna() & (is_flagged != (verdicts == _FLAGGED_VERDICT))
        message = f"flagged must go with the verdict {_FLAGGED_VERDICT!r}, and only with it"
        refuse_rows(selection, wrong, _KEY, name, message)


def check_flags(frames: Frames, population: str, provenance: Provenance) -> None:
    """Check that every record that was repaired had been flagged; more may have been.

    Args:
        frames: Its record ids as text.
        population: The name of the table that says what was repaired.
        provenance: The names of the tables' files.

    Raises:
        StatisticsError: A record was not flagged.
    """
    selection, records = frames.selection, frames._asdict()[population]
    if selection is None or selection.empty or "record_id" not in selection:
        return
    flagged = selection["record_id"]
    if "flagged" in selection:
        flagged = flagged[as_flag(selection["flagged"]).eq(1).fillna(False).astype(bool)]
    wrong = records["record_id"].notna() & ~records["record_id"].isin(flagged)
    message = f"no flagged response of {provenance.name_of('selection')} has this record_id"
    refuse_rows(records, wrong, ["record_id"], provenance.name_of(population), message)
