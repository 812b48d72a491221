"""The verifier against gold: what each threshold flags (Table 2), and each task's claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.printing.notes import few_sources_note, notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.settings import Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.verifier_claims import (
    VerifierClaims,
    by_task,
    gold_claims,
    has_both_kinds,
    verifier_claims,
)
from ragmend.analysis.tables.verifier_rows import (
    THRESHOLD_COLUMNS,
    THRESHOLDS,
    TaskRow,
    task_row,
    threshold_row,
)
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd

PAPER_NOTE = (
    "paper: arXiv 2608.29307, Table 2, a language model on the answers that its own detector "
    "flagged"
)
STRICT_NOTE = "flagged, below: P(support) < threshold, strictly"

_TASK_COLUMNS = (
    Column("task", "task", "text"),
    Column("sources", "sources", "count"),
    Column("answers", "answers", "count"),
    Column("claims", "claims", "count"),
    Column("aligned", "aligned", "count"),
    Column("unaligned", "unaligned", "count"),
    Column("gold_positive", "gold-unsupported", "count"),
    Column("eligible", "eligible", "count"),
    Column("eligible_pct", "eligible %", "decimal", 1),
    Column("eligible_unaligned", "eligible, unaligned", "count"),
    Column("median_p", "median P(support)", "decimal", 3),
    Column("auc", "AUC of 1 − P(support)", "decimal", 3),
    Column("auc", "DeLong interval", "interval", 3),
    Column("auc_cluster", "interval, by source", "interval", 3),
)


def without_gold_claims(study: Study) -> str | None:
    """Say that gold does not know claims of both kinds; None where it does."""
    if has_both_kinds(verifier_claims(study).evaluated):
        return None
    return "needs aligned claims that gold calls unsupported, and others that it does not"


def threshold_table(study: Study) -> Table:
    """Return what repairing below each of the paper's seven thresholds touches.

    Args:
        study: Its claims.

    Source: arXiv 2608.29307, section 6 and Table 2.
    """
    claims = verifier_claims(study)
    rows = [threshold_row(claims.evaluated, threshold) for threshold in THRESHOLDS]
    notes = notes_for(
        study.provenance,
        f"{STRICT_NOTE}; flagged to F1: aligned claims with gold, positive = gold-unsupported "
        "(the claim's span overlaps a gold span); the other columns: all verified claims",
        "clean answers: not hallucinated by gold; edited: at least one claim below",
        PAPER_NOTE,
        *left_out_notes(claims),
    )
    title = "Table 2: verifier against gold, by threshold"
    return Table("table2_verifier", title, table_frame(rows), THRESHOLD_COLUMNS, notes)


def verifier_by_task_table(study: Study) -> Table:
    """Return each task's claims, the share below the threshold, and how well they are ordered.

    Args:
        study: Its claims; and its records, if there, for the source of each answer.

    Source: arXiv 2608.29307, sections 6 and 7.4, Table 6.
    """
    claims = verifier_claims(study)
    threshold = study.provenance.threshold
    sources = _sources(study, claims.evaluated)
    rows = [
        task_row(task, part, sources=sources, threshold=threshold, settings=study.settings)
        for task, part in by_task(claims.evaluated)
    ]
    notes = notes_for(
        study.provenance,
        f"eligible: P(support) < {threshold:g}, strictly; median: over all verified claims",
        "AUC: aligned claims with gold; positive = gold-unsupported",
        delong_note(study.settings),
        _source_note(sources, study.settings),
        few_sources_note(_fewest_sources(rows)),
        _undefined_note(rows),
        *left_out_notes(claims),
    )
    title = "Verifier by task: eligible claims, and claims ordered by 1 − P(support)"
    return Table("verifier_by_task", title, table_frame(rows), _TASK_COLUMNS, notes)


def left_out_notes(claims: VerifierClaims) -> tuple[str, ...]:
    """Say which claims are not counted here."""
    evaluated = claims.evaluated
    n_aligned = int((evaluated["aligned"] == 1).sum())
    unknown = n_aligned - len(gold_claims(evaluated))
    n_development = len(claims.development)
    counts = (
        (claims.n_unverified, "claims were not verified (headings, questions) and are left out"),
        (unknown, f"of {n_aligned} aligned claims have no gold and are left out of what needs it"),
        (n_development, "claims of the development split are left out"),
    )
    return tuple(f"{count} {what}" for count, what in counts if count)


def delong_note(settings: Settings) -> str:
    """Say what DeLong's interval assumes."""
    return (
        f"DeLong interval: {100 * settings.confidence:g} %, claims taken as independent; of few "
        "claims of a kind it is too narrow"
    )


def sources_note(settings: Settings) -> str:
    """Say how the interval over sources came about."""
    return (
        f"interval over sources: {100 * settings.confidence:g} % percentile bootstrap of whole "
        f"sources, {settings.n_resamples} resamples, seed {settings.seed}; of few sources it is "
        "too narrow"
    )


def _source_note(sources: pd.Series[str] | None, settings: Settings) -> str:
    if sources is None:
        return "sources: not in this input, so there is no interval over them"
    return sources_note(settings)


def _fewest_sources(rows: list[TaskRow]) -> int:
    """Return the fewest sources behind an interval over them; 0 where there is none."""
    return min((row.sources for row in rows if row.sources and row.sources > 1), default=0)


def _undefined_note(rows: list[TaskRow]) -> str | None:
    tasks = [row.task for row in rows if row.auc is None]
    if not tasks:
        return None
    return f"AUC of {', '.join(tasks)}: undefined without claims of both kinds by gold"


def _sources(study: Study, claims: pd.DataFrame) -> pd.Series[str] | None:
    """Return the source of each claim; None where no record has one."""
    records = study.frames.records
    if records is None or "source_id" not in records or records["source_id"].isna().all():
        return None
    records = needed(study.frames, "records", ["record_id", "source_id"], key=["record_id"])
    of_record = records.astype({"record_id": str}).set_index("record_id")["source_id"]
    found = claims["record_id"].astype(str).map(of_record)
    if found.isna().any():
        record_id = claims["record_id"][found.isna()].iloc[0]
        name = study.provenance.name_of("records")
        raise StatisticsError(f"{name}: record {record_id} has claims but no source here")
    return found.astype(str)
