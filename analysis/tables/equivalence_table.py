"""What a contrast does and does not show: equivalence within a margin, and what was detectable."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ragmend.analysis.printing.notes import INDEPENDENT, notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import Family, Settings
from ragmend.analysis.statistics.equivalence import (
    Verdict,
    detectable_difference,
    paired_equivalence,
    records_needed,
    verdict,
)
from ragmend.analysis.statistics.paired import PairedContrast
from ragmend.analysis.study import Study

_COLUMNS = (
    Column("judge", "judge", "text"),
    Column("contrast", "contrast", "text"),
    Column("family", "family", "text"),
    Column("n", "n", "count"),
    Column("diff_pp", "B − A, points", "decimal", 2),
    Column("ci90", "90 % interval", "interval", 2),
    Column("p_difference", "p, difference", "p_value"),
    Column("p_tost", "p, equivalence", "p_value"),
    Column("verdict", "shown", "text"),
    Column("mde_pp", "detectable, points", "decimal", 2),
    Column("n_needed", "records needed", "count"),
)


class EquivalenceRow(NamedTuple):
    """One judge's contrast against the margin; differences in percentage points."""

    judge: str
    contrast: str
    family: Family
    n: int
    diff_pp: Fraction
    ci90_low: float
    ci90_high: float
    margin_pp: float
    p_difference: float
    """Holm-adjusted for a primary contrast, unadjusted for an exploratory one."""
    p_tost: float
    mde_pp: float | None
    n_needed: int | None
    verdict: Verdict


def equivalence_table(study: Study) -> Table:
    """Tabulate which contrasts are different, which equivalent, and which undecided.

    Args:
        study: Its labels.

    Source: Liu, Hsueh, Hsieh and Chen 2002, Statistics in Medicine 21(2), 231-245; Connor 1987,
        Biometrics 43(1), 207-211.
    """
    rows = [_row(contrast, study.settings) for contrast in study.contrasts]
    title = f"Different, equivalent within ± {study.settings.margin_pp:g} points, or undecided"
    return Table("equivalence", title, table_frame(rows), _COLUMNS, _notes(study, rows))


def _notes(study: Study, rows: list[EquivalenceRow]) -> tuple[str, ...]:
    margin, power = study.settings.margin_pp, study.settings.power
    return notes_for(
        study.provenance,
        "different: the p of the difference (Holm within the judge for primary contrasts, "
        f"unadjusted for exploratory ones) is below .05; equivalent: the difference is shown to "
        f"lie within ± {margin:g} points, p of two one-sided score tests below .05, which is "
        "where the 90 % interval (Tango) lies within the margin; undecided: neither is shown, "
        "which says nothing in favour of equal rates",
        "p of equivalence is not adjusted for the number of contrasts",
        f"detectable: the difference that McNemar's test at 5 % finds with {100 * power:g} % "
        "power, given this share of changed answers; records needed: to find the observed "
        "difference with that power; both by Connor's formula, a little low for the exact test",
        "detectable —: too few answers changed for any difference to be found"
        if any(row.mde_pp is None for row in rows)
        else None,
        "records needed —: the observed difference is 0"
        if any(row.n_needed is None for row in rows)
        else None,
        INDEPENDENT,
        judged=True,
    )


def _row(contrast: PairedContrast, settings: Settings) -> EquivalenceRow:
    b, c, n = contrast.b, contrast.c, contrast.n
    test = paired_equivalence(b, c, n, margin_pp=settings.margin_pp)
    return EquivalenceRow(
        judge=contrast.judge,
        contrast=contrast.contrast,
        family=contrast.family,
        n=n,
        diff_pp=contrast.diff_pp,
        ci90_low=test.interval.low,
        ci90_high=test.interval.high,
        margin_pp=settings.margin_pp,
        p_difference=contrast.p_decisive,
        p_tost=test.p,
        mde_pp=detectable_difference(b + c, n, power=settings.power),
        n_needed=records_needed(b, c, n, power=settings.power),
        verdict=verdict(contrast.p_decisive, test.p),
    )
