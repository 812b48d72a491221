"""What a development split can do for the verifier: calibrate it, and choose its thresholds.

Nothing is fitted or chosen on the claims that it is then measured on.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.statistics.calibration import (
    LEAST_P,
    N_BINS,
    Method,
    calibrate,
    calibration_error,
)
from ragmend.analysis.statistics.operating_points import best_f1_threshold, budget_threshold
from ragmend.analysis.study import Study
from ragmend.analysis.tables.verifier_claims import (
    VerifierClaims,
    by_task,
    gold_claims,
    has_both_kinds,
    verifier_claims,
)
from ragmend.analysis.tables.verifier_rows import threshold_row
from ragmend.analysis.tables.verifier_tables import STRICT_NOTE

if TYPE_CHECKING:
    import pandas as pd

BUDGETS = (Fraction(5, 100), Fraction(10, 100), Fraction(20, 100))
"""Shares of clean answers that may be edited."""
_METHODS: dict[str, Method | None] = {
    "as given": None,
    "Platt": "platt",
    "isotonic": "isotonic",
}

_CALIBRATION_COLUMNS = (
    Column("task", "task", "text"),
    Column("method", "P(support)", "text"),
    Column("claims", "claims", "count"),
    Column("brier", "Brier", "decimal", 4),
    Column("log_loss", "log loss", "decimal", 4),
    Column("ece", "ECE", "decimal", 4),
    Column("flagged", "flagged", "count"),
    Column("precision", "precision", "decimal", 3),
    Column("recall", "recall", "decimal", 3),
    Column("f1", "F1", "decimal", 3),
    Column("clean_edited_pct", "% of clean answers edited", "decimal", 1),
)

_POINT_COLUMNS = (
    Column("task", "task", "text"),
    Column("rule", "threshold chosen for", "text"),
    Column("threshold", "threshold", "decimal", 4),
    Column("dev_f1", "development: F1", "decimal", 3),
    Column("dev_clean_edited_pct", "development: % of clean answers edited", "decimal", 1),
    Column("precision", "precision", "decimal", 3),
    Column("recall", "recall", "decimal", 3),
    Column("f1", "F1", "decimal", 3),
    Column("clean_edited_pct", "% of clean answers edited", "decimal", 1),
)


class CalibrationRow(NamedTuple):
    """How one task's P(support), mapped or not, fits gold, and what the threshold then flags."""

    task: str
    method: str
    claims: int
    brier: float | None
    log_loss: float | None
    ece: float | None
    flagged: int
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None
    clean_edited_pct: Fraction | None


class PointRow(NamedTuple):
    """A threshold chosen on development claims of one task, there and on the other claims."""

    task: str
    rule: str
    threshold: float | None
    dev_f1: Fraction | None
    dev_clean_edited_pct: Fraction | None
    precision: Fraction | None
    recall: Fraction | None
    f1: Fraction | None
    clean_edited_pct: Fraction | None


def without_development(study: Study) -> str | None:
    """Say that there is nothing to fit on, or nothing to measure on; None where there is."""
    claims = verifier_claims(study)
    if not has_both_kinds(claims.development):
        return "needs claims of a development split, of both kinds by gold"
    if not has_both_kinds(claims.evaluated):
        return "needs claims outside the development split, of both kinds by gold"
    return None


def calibration_table(study: Study) -> Table:
    """Map P(support) by what development claims turned out to be, and measure it on the rest.

    Args:
        study: Its claims, with a split.
    """
    claims = verifier_claims(study)
    threshold = study.provenance.threshold
    mapped = {name: _mapped(claims, method) for name, method in _METHODS.items()}
    rows = [
        _calibration_row(task, name, mapped[name].loc[part.index], threshold)
        for task, part in by_task(claims.evaluated)
        for name in mapped
    ]
    notes = notes_for(
        study.provenance,
        _split_note(claims),
        "maps are fitted on all tasks together: Platt on the log-odds of P(support), isotonic on "
        "P(support); errors: aligned claims with gold, the event being support",
        f"ECE: {N_BINS} bins of equal width; log loss: P within [{LEAST_P:g}, 1 − {LEAST_P:g}]",
        f"flagged to F1, edited: at (mapped) P(support) < {threshold:g}",
    )
    title = "Verifier calibrated on the development split, measured on the rest"
    return Table("verifier_calibration", title, table_frame(rows), _CALIBRATION_COLUMNS, notes)


def operating_points_table(study: Study) -> Table:
    """Choose thresholds on development claims and say what they do on the rest.

    Args:
        study: Its claims, with a split.
    """
    claims = verifier_claims(study)
    development = dict(by_task(claims.development))
    rows = [
        _point_row(task, rule, threshold, development[task], part)
        for task, part in by_task(claims.evaluated)
        if task in development
        for rule, threshold in _choices(development[task], study.provenance.threshold)
    ]
    missing = sorted({task for task, _ in by_task(claims.evaluated)} - set(development))
    notes = notes_for(
        study.provenance,
        _split_note(claims),
        f"{STRICT_NOTE}; pooled: one threshold for all tasks",
        "budget: the highest threshold that edits at most so many of the development split's "
        "clean answers (not hallucinated by gold); on others it may edit more; 0 flags nothing",
        f"without development claims: {', '.join(missing)}" if missing else None,
        "threshold —: the task's development claims do not allow the choice"
        if any(row.threshold is None for row in rows)
        else None,
    )
    title = "Verifier thresholds chosen on the development split, and what they do on the rest"
    return Table("verifier_operating_points", title, table_frame(rows), _POINT_COLUMNS, notes)


def _mapped(claims: VerifierClaims, method: Method | None) -> pd.DataFrame:
    """Return the evaluated claims with P(support) as one method maps it."""
    if method is None:
        return claims.evaluated
    fitted_on = gold_claims(claims.development)
    p = calibrate(
        fitted_on["p_support"],
        1 - fitted_on["gold_unsupported"],
        claims.evaluated["p_support"],
        method=method,
    )
    return claims.evaluated.assign(p_support=p)


def _calibration_row(
    task: str, method: str, claims: pd.DataFrame, threshold: float
) -> CalibrationRow:
    gold = gold_claims(claims)
    error = (
        None if gold.empty else calibration_error(gold["p_support"], 1 - gold["gold_unsupported"])
    )
    at = threshold_row(claims, threshold)
    return CalibrationRow(
        task=task,
        method=method,
        claims=len(gold),
        brier=None if error is None else error.brier,
        log_loss=None if error is None else error.log_loss,
        ece=None if error is None else error.ece,
        flagged=at.flagged,
        precision=at.precision,
        recall=at.recall,
        f1=at.f1,
        clean_edited_pct=at.clean_edited_pct,
    )


def _choices(development: pd.DataFrame, threshold: float) -> Iterator[tuple[str, float | None]]:
    gold = gold_claims(development)
    clean = development[development["record_gold"] == 0]
    least_p = clean.groupby("record_id")["p_support"].min()
    yield "none: as configured", threshold
    yield "best F1", best_f1_threshold(gold["gold_unsupported"], gold["p_support"])
    for budget in BUDGETS:
        yield f"budget: {float(100 * budget):g} %", budget_threshold(least_p, budget)


def _point_row(
    task: str,
    rule: str,
    threshold: float | None,
    development: pd.DataFrame,
    rest: pd.DataFrame,
) -> PointRow:
    if threshold is None:
        return PointRow(task, rule, *[None] * 7)
    there, here = threshold_row(development, threshold), threshold_row(rest, threshold)
    return PointRow(
        task=task,
        rule=rule,
        threshold=threshold,
        dev_f1=there.f1,
        dev_clean_edited_pct=there.clean_edited_pct,
        precision=here.precision,
        recall=here.recall,
        f1=here.f1,
        clean_edited_pct=here.clean_edited_pct,
    )


def _split_note(claims: VerifierClaims) -> str:
    return (
        f"fitted or chosen on {len(claims.development)} claims of the development split alone; "
        f"measured on the other {len(claims.evaluated)}"
    )
