"""How sure a language model's verdicts are: mass on Yes and No, distance from the threshold."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.settings import Provenance
from ragmend.analysis.statistics.label_forms import near_threshold, support_of_forms
from ragmend.analysis.study import Study
from ragmend.analysis.tables.verifier_claims import by_task
from ragmend.errors import AccountingError

if TYPE_CHECKING:
    import pandas as pd

HIGH_MASS = 0.9
_ROUNDING = 1e-9
_KEY = ["record_id", "claim_id"]

_COLUMNS = (
    Column("task", "task", "text"),
    Column("claims", "claims", "count"),
    Column("min_mass", "least mass", "decimal", 3),
    Column("median_mass", "median mass", "decimal", 3),
    Column("low_mass", f"mass below {HIGH_MASS:g}", "count"),
    Column("low_mass_pct", "% of claims", "decimal", 1),
    Column("unstable", "unstable", "count"),
    Column("unstable_pct", "% unstable", "decimal", 1),
    Column("intervals", "known as intervals", "count"),
    Column("answers", "answers", "count"),
    Column("shortened", "source shortened", "count"),
    Column("scored_both", "scored both ways", "count"),
    Column("below_two_token", "below, two-token", "count"),
    Column("below_all_forms", "below, all-forms", "count"),
    Column("changed", "change sides", "count"),
    Column("changed_pct", "% of those", "decimal", 1),
)


class CertaintyRow(NamedTuple):
    """The verdicts of one task, or `pooled`."""

    task: str
    claims: int
    min_mass: float | None
    median_mass: float | None
    low_mass: int
    low_mass_pct: Fraction | None
    unstable: int
    unstable_pct: Fraction | None
    intervals: int
    answers: int
    shortened: int
    scored_both: int
    """Claims of which P(support) is known under both ways of scoring."""
    below_two_token: int
    below_all_forms: int
    changed: int
    """Claims below the threshold under one way of scoring alone."""
    changed_pct: Fraction | None


def without_candidate_mass(study: Study) -> str | None:
    """Say that the verifier is no language model, which has no such mass; None where it is one."""
    verdicts = needed(study.frames, "verdicts", ["candidate_mass"])
    if verdicts["candidate_mass"].notna().any():
        return None
    return "needs a language model's verdicts: this verifier's P(support) is not read from words"


def verifier_certainty_table(study: Study) -> Table:
    """Count what of the verdicts rests on little mass, on a near threshold or on the scoring.

    Args:
        study: Its verdicts.

    Raises:
        AccountingError: A P(support) is what neither way of scoring makes of its forms.
    """
    columns = [
        *_KEY, "task", "p_support", "p_low", "p_high", "candidate_mass", "form_probs",
        "left_out_fragments",
    ]  # fmt: skip
    verdicts = _scored(needed(study.frames, "verdicts", columns, key=_KEY))
    provenance = study.provenance
    rows = [_row(task, part, provenance) for task, part in by_task(verdicts)]
    notes = notes_for(
        provenance,
        "mass: P(Yes) + P(No), of the words that the verifier's scoring counts; what is missing "
        "from 1 went to other words",
        f"unstable: within {provenance.unstable_within:g} of the threshold of "
        f"{provenance.threshold:g}; may be decided otherwise when run again on a GPU, whose "
        "batches change the last digits of a probability",
        "known as intervals: the server told its most probable words only; their nearer end is "
        "held against the threshold, and they cannot be scored the other way"
        if rows[-1].intervals
        else None,
        "shortened: fragments of the source were left out, for it did not fit the context",
        "two-token: “Yes” and “No” alone; all-forms: with small and capital letters and a leading "
        "space too; below: P(support) below the threshold; change sides: below under one of the "
        "two alone (the least mass that a verdict needs is not asked of the other)",
    )
    title = "Verifier: mass on Yes and No, unstable decisions, and the other way of scoring"
    return Table("verifier_certainty", title, table_frame(rows), _COLUMNS, notes)


def _scored(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts with P(support) under both ways of scoring, NaN where unknown."""
    import pandas as pd

    # Of an interval the forms are not all known.
    forms_C = [
        forms if forms is not None and pd.isna(low) else {}
        for forms, low in zip(verdicts["form_probs"], verdicts["p_low"], strict=True)
    ]
    scored = verdicts.assign(
        two_token=pd.Series(
            [support_of_forms(forms, "two-token") for forms in forms_C], verdicts.index, "float64"
        ),
        all_forms=pd.Series(
            [support_of_forms(forms, "all-forms") for forms in forms_C], verdicts.index, "float64"
        ),
    )
    ways = scored[["two_token", "all_forms"]]
    is_one = ways.sub(scored["p_support"], axis=0).abs().le(_ROUNDING).any(axis=1)
    wrong = scored[ways.notna().any(axis=1) & ~is_one]
    if len(wrong):
        row = wrong.iloc[0]
        raise AccountingError(
            f"verdicts: record {row['record_id']}, claim {row['claim_id']}: P(support) is "
            f"{row['p_support']:.6g}, but its words give {row['two_token']:.6g} (two-token) or "
            f"{row['all_forms']:.6g} (all-forms)"
        )
    return scored


def _row(task: str, part: pd.DataFrame, provenance: Provenance) -> CertaintyRow:
    n, threshold = len(part), provenance.threshold
    mass = part["candidate_mass"].dropna()
    is_unstable = near_threshold(
        part["p_low"].fillna(part["p_support"]),
        part["p_high"].fillna(part["p_support"]),
        threshold=threshold,
        within=provenance.unstable_within,
    )
    unstable, low_mass = int(is_unstable.sum()), int((mass < HIGH_MASS).sum())
    both = part[part["two_token"].notna() & part["all_forms"].notna()]
    is_below_two, is_below_all = both["two_token"] < threshold, both["all_forms"] < threshold
    changed = int((is_below_two != is_below_all).sum())
    return CertaintyRow(
        task=task,
        claims=n,
        min_mass=float(mass.min()) if len(mass) else None,
        median_mass=float(mass.median()) if len(mass) else None,
        low_mass=low_mass,
        low_mass_pct=percent(low_mass, len(mass)),
        unstable=unstable,
        unstable_pct=percent(unstable, n),
        intervals=int(part["p_low"].notna().sum()),
        answers=part["record_id"].nunique(),
        shortened=part[part["left_out_fragments"] > 0]["record_id"].nunique(),
        scored_both=len(both),
        below_two_token=int(is_below_two.sum()),
        below_all_forms=int(is_below_all.sum()),
        changed=changed,
        changed_pct=percent(changed, len(both)),
    )
