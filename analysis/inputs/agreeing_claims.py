"""Whether the arms' counts are those of the claims, and the claims' actions fit what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmend.analysis.inputs.arms import KEY as ARM_KEY
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.analysis.inputs.sayings import as_flag, as_text
from ragmend.analysis.inputs.splits import is_development
from ragmend.analysis.settings import Provenance
from ragmend.errors import AccountingError
from ragmend.records import ARMS

if TYPE_CHECKING:
    import pandas as pd

_KEY = ["record_id", "claim_id"]
_PREFIX = "action_"
_ACTION_OF = {"dropped": "drop", "substituted": "substitute", "rewritten": "rewrite"}


def check_actions(frames: Frames, provenance: Provenance) -> None:
    """Check that only eligible claims are touched, and only proposed rewrites accepted.

    Claims without a verdict, as headings are, may be anything.

    Raises:
        AccountingError: An arm did not keep a claim at or above the threshold, or accepted a
            rewrite that nobody proposed.
    """
    claims, name = frames.claims, provenance.name_of("claims")
    if claims is None or not set(_KEY) <= set(claims):
        return
    actions = {column: as_text(claims[column]) for column in claims if _is_action(column)}
    for column, action in actions.items():
        # An arm of one's own may have a threshold of its own.
        if "p_support" in claims and str(column).removeprefix(_PREFIX) in ARMS:
            is_supported = _p_support(claims) >= provenance.threshold
            wrong = is_supported & action.notna() & (action != "keep")
            message = (
                f"{column} is not keep, but P(support) is not below the threshold of "
                f"{provenance.threshold:g}; is this what it was repaired with?"
            )
            refuse_rows(claims, wrong, _KEY, name, message, AccountingError)
    if "rewrite_proposed" in claims and "action_generative" in actions:
        is_none = as_flag(claims["rewrite_proposed"]).eq(0).fillna(False).astype(bool)
        message = "action_generative is rewrite, but rewrite_proposed is 0"
        wrong = is_none & (actions["action_generative"] == "rewrite")
        refuse_rows(claims, wrong, _KEY, name, message, AccountingError)


def check_arm_counts(frames: Frames, provenance: Provenance) -> None:
    """Check record by record that the arms count the claims that there are.

    Claims of a development split are of other records.

    Args:
        frames: Its record ids as text.
        provenance: The names of the tables' files, and the threshold.

    Raises:
        AccountingError: Claims, eligible, dropped, substituted or rewritten claims are not as
            many in arms and claims.
    """
    arms, claims = frames.arms, frames.claims
    if arms is None or claims is None or not set(ARM_KEY) <= set(arms):
        return
    if claims.empty or "record_id" not in claims:
        return
    claims = claims[~is_development(claims)]
    n_of = _counter(claims, arms)
    names = as_text(arms["arm"])
    for arm in names.dropna().unique():
        for column, is_counted, what in _counted(claims, arm, provenance.threshold):
            if column in arms:
                there = f"{provenance.name_of('claims')} has {{:g}} {what}"
                found = n_of(is_counted).where(names == arm)
                _refuse_other_counts(arms, column, found, there, provenance.name_of("arms"))


def _counter(
    claims: pd.DataFrame, arms: pd.DataFrame
) -> Callable[[pd.Series[bool]], pd.Series[float]]:
    """Return what counts, for each row of the arms, which of its record's claims are such."""
    import pandas as pd

    codes, record_ids = pd.factorize(claims["record_id"])
    place = pd.Index(record_ids).get_indexer(arms["record_id"])

    def count(is_counted: pd.Series[bool]) -> pd.Series[float]:
        chosen = codes[is_counted.to_numpy(dtype=bool) & (codes >= 0)]
        # One more than there are, 0, stands for the records (-1) that have no claims.
        n_claims = np.bincount(chosen, minlength=len(record_ids) + 1)
        return pd.Series(n_claims[place], index=arms.index, dtype="float64")

    return count


def _counted(
    claims: pd.DataFrame, arm: str, threshold: float
) -> Iterator[tuple[str, pd.Series[bool], str]]:
    """Yield each count of the arms, which claims it counts, and how to say so."""
    yield "claims", claims["record_id"].notna(), "claims of this record"
    if "p_support" in claims:
        what = f"claims of this record with P(support) below the threshold of {threshold:g}"
        yield "eligible", _p_support(claims) < threshold, what
    column = f"{_PREFIX}{arm}"
    if column in claims:
        actions = as_text(claims[column])
        if actions.notna().any():
            for count, action in _ACTION_OF.items():
                yield count, actions == action, f"claims of this record with {column} {action}"


def _refuse_other_counts(
    arms: pd.DataFrame, column: str, found: pd.Series[float], there: str, name: str
) -> None:
    """Refuse the first row whose count is not the number of such claims; NaN: not to compare."""
    import pandas as pd

    given = pd.to_numeric(arms[column], errors="coerce").astype("float64")
    wrong = given.notna() & found.notna() & (given != found)
    if wrong.any():
        message = f"{column} is {given[wrong].iloc[0]:g}, but {there.format(found[wrong].iloc[0])}"
        refuse_rows(arms, wrong, ARM_KEY, name, message, AccountingError)


def _is_action(column: object) -> bool:
    return str(column).startswith(_PREFIX)


def _p_support(claims: pd.DataFrame) -> pd.Series[Any]:
    """Return P(support) as numbers, NaN where there is none."""
    import pandas as pd

    return pd.to_numeric(claims["p_support"], errors="coerce").astype("float64")
