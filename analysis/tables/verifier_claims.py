"""The claims on which a verifier is measured: checked, and told apart by split."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.places import refuse_rows
from ragmend.analysis.inputs.splits import DEVELOPMENT
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

_SPLITS = (DEVELOPMENT, "test")
_KEY = ["record_id", "claim_id"]
_COLUMNS = [*_KEY, "task", "record_gold", "p_support", "aligned", "gold_unsupported"]
_FLAGS = ["record_gold", "aligned", "gold_unsupported"]


class VerifierClaims(NamedTuple):
    """Verified claims, P(support) in [0, 1], gold as 0.0, 1.0 or NaN; in the order given."""

    evaluated: pd.DataFrame
    """All but those of the development split."""
    development: pd.DataFrame
    n_unverified: int
    """Evaluated claims that the verifier did not read: headings and the like."""


def verifier_claims(study: Study) -> VerifierClaims:
    """Check the claims and return those that were verified.

    Args:
        study: Its claims; where they have a `kind`, statements must have been verified, and
            where they have a `split`, it is development or test.

    Raises:
        StatisticsError: A P(support) is missing or outside [0, 1]; a task or `aligned` is
            missing; a split is unknown; an answer is in both splits; no claim is left to evaluate.
    """
    claims = needed(study.frames, "claims", _COLUMNS, key=_KEY).reset_index(drop=True)
    name = study.provenance.name_of("claims")
    claims = _with_numbers(claims, name)
    _check_probabilities(claims, name)
    for column in ("task", "aligned"):
        refuse_rows(claims, claims[column].isna(), _KEY, name, f"{column} is missing")
    is_development = _is_development(claims, name)
    is_verified = claims["p_support"].notna()
    evaluated = claims[is_verified & ~is_development]
    if evaluated.empty:
        raise StatisticsError(f"{name}: no verified claim outside the development split")
    return VerifierClaims(
        evaluated=evaluated,
        development=claims[is_verified & is_development],
        n_unverified=int((~is_verified & ~is_development).sum()),
    )


def gold_claims(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the aligned claims of which gold says whether they are supported."""
    return claims[(claims["aligned"] == 1) & claims["gold_unsupported"].notna()]


def has_both_kinds(claims: pd.DataFrame) -> bool:
    """Tell whether gold knows both unsupported and supported claims among these."""
    return bool(gold_claims(claims)["gold_unsupported"].nunique() == 2)


def by_task(claims: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return each task's claims, by name, and last all of them as `pooled`."""
    return [*((str(task), part) for task, part in claims.groupby("task")), ("pooled", claims)]


def _with_numbers(claims: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the claims with flags and P(support) as floats, NaN where missing."""
    import pandas as pd

    numbers = {}
    for column in ("p_support", *_FLAGS):
        read = pd.to_numeric(claims[column], errors="coerce").astype("Float64")
        wrong = read.isna() & claims[column].notna()
        refuse_rows(claims, wrong, _KEY, name, f"{column} is not a number")
        numbers[column] = read.to_numpy(dtype=np.float64, na_value=np.nan)
    return claims.assign(**numbers)


def _check_probabilities(claims: pd.DataFrame, name: str) -> None:
    p = claims["p_support"]
    refuse_rows(claims, p.notna() & ~p.between(0, 1), _KEY, name, "p_support lies outside [0, 1]")
    if "kind" in claims:
        unread = p.isna() & (claims["kind"] == "statement")
        refuse_rows(claims, unread, _KEY, name, "p_support of this statement is missing")


def _is_development(claims: pd.DataFrame, name: str) -> pd.Series[bool]:
    import pandas as pd

    if "split" not in claims:
        return pd.Series(False, index=claims.index)
    message = f"unknown split, expected {' or '.join(_SPLITS)}"
    refuse_rows(claims, ~claims["split"].isin(_SPLITS), _KEY, name, message)
    splits = claims.groupby("record_id")["split"].transform("nunique")
    refuse_rows(claims, splits > 1, _KEY, name, "this answer's claims are in both splits")
    return claims["split"] == DEVELOPMENT
