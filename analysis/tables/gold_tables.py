"""What the repair did, held against human annotation: what it mended, missed and spoilt."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.study import Study
from ragmend.analysis.tables.gold_groups import GoldGroup, gold_groups, outcome_notes
from ragmend.analysis.tables.gold_outcomes import (
    CLAIM_GOLDS,
    POOLED,
    ClaimGold,
    GoldOutcomes,
    gold_outcomes,
)
from ragmend.records import ARMS

_CLAIM_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("task", "task", "text"),
    Column("gold", "by gold", "text"),
    Column("claims", "claims", "count"),
    Column("removed", "removed", "count"),
    Column("changed", "changed", "count"),
    Column("kept", "kept", "count"),
    Column("removed_pct", "removed %", "decimal", 1),
    Column("removed", "interval", "interval", 1),
    Column("changed_pct", "changed %", "decimal", 1),
    Column("kept_pct", "kept %", "decimal", 1),
    Column("edited_pct", "removed or changed %", "decimal", 1),
    Column("edited", "interval", "interval", 1),
    Column("of_edited_pct", "% of edited claims", "decimal", 1),
    Column("paper_edited_pct", "paper: removed or changed %", "decimal", 1),
    Column("paper_of_edited_pct", "paper: % of edited", "decimal", 1),
)

_ANSWER_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("task", "task", "text"),
    Column("answers", "answers", "count"),
    Column("clean", "clean", "count"),
    Column("clean_edited", "edited", "count"),
    Column("clean_edited_pct", "% of clean", "decimal", 1),
    Column("clean_edited", "interval", "interval", 1),
    Column("paper_clean_edited_pct", "paper: % of clean", "decimal", 1),
    Column("hallucinated", "hallucinated", "count"),
    Column("hallucinated_edited", "edited", "count"),
    Column("hallucinated_edited_pct", "% of hallucinated", "decimal", 1),
    Column("paper_hallucinated_edited_pct", "paper: % of hallucinated", "decimal", 1),
    Column("cleared", "cleared", "count"),
    Column("cleared_pct", "cleared, % of hallucinated", "decimal", 1),
    Column("cleared", "interval", "interval", 1),
)

# Source: arXiv 2608.29307, Table 2 at the threshold of .50: its claims that are aligned with
# gold, those under the threshold (never kept in any arm, all dropped in removal), by gold.
_PAPER_CLAIMS = {"unsupported": 1206, "supported": 6921 - 1206}
_PAPER_EDITED = {"unsupported": 1035, "supported": 1549}
# Source: ibid., Table 7, the same in each arm.
_PAPER_CLEAN_EDITED_PCT = Fraction(835, 10)
_PAPER_HALLUCINATED_EDITED_PCT = Fraction(981, 10)


class ClaimGoldRow(NamedTuple):
    """One arm on the claims of one task that gold calls alike; percentages are 0 to 100."""

    arm: str
    task: str
    gold: ClaimGold
    claims: int
    removed: int
    changed: int
    kept: int
    removed_pct: Fraction | None
    removed_low: float | None
    removed_high: float | None
    changed_pct: Fraction | None
    kept_pct: Fraction | None
    edited: int
    edited_pct: Fraction | None
    edited_low: float | None
    edited_high: float | None
    of_edited_pct: Fraction | None
    """Their share of all removed or changed claims whose gold is known."""
    paper_claims: int | None
    paper_removed_pct: Fraction | None
    paper_edited_pct: Fraction | None
    paper_of_edited_pct: Fraction | None


class AnswerGoldRow(NamedTuple):
    """One arm on the answers of one task; percentages are 0 to 100."""

    arm: str
    task: str
    answers: int
    clean: int
    clean_edited: int
    clean_edited_pct: Fraction | None
    clean_edited_low: float | None
    clean_edited_high: float | None
    paper_clean_edited_pct: Fraction | None
    hallucinated: int
    hallucinated_edited: int
    hallucinated_edited_pct: Fraction | None
    paper_hallucinated_edited_pct: Fraction | None
    cleared: int
    """Hallucinated answers with an unsupported claim of which none was kept."""
    cleared_pct: Fraction | None
    cleared_low: float | None
    cleared_high: float | None


class _PaperClaims(NamedTuple):
    claims: int | None
    removed_pct: Fraction | None
    edited_pct: Fraction | None
    of_edited_pct: Fraction | None


def claims_against_gold_table(study: Study) -> Table:
    """Count what each arm did to the claims that gold calls unsupported, and to the others.

    Args:
        study: Its claims, and its records if there; see `gold_outcomes`.

    Raises:
        StatisticsError, AccountingError: As `gold_outcomes`.
    """
    outcomes = gold_outcomes(study.frames)
    shares = [(f"{gold}_{fate}", gold) for gold in CLAIM_GOLDS for fate in ("removed", "edited")]
    groups = gold_groups(outcomes, shares, study.settings)
    rows = [row for group in groups for row in _claim_rows(group)]
    notes = notes_for(
        study.provenance,
        "unsupported by gold: the claim shares at least one character with an annotated span; "
        "removed: no text left; changed: substituted or rewritten; kept: still standing as it was",
        "removed supported claims are what the repair costs; no annotator saw the texts that "
        "stand for changed claims, so that changed does not say mended",
        _unknown_note(outcomes),
        *outcome_notes(outcomes, study.settings),
        "paper: arXiv 2608.29307, Table 2, on its own answers: of 7,926 claims 3,014 are below "
        ".50; of the 6,921 aligned with gold 1,206 are unsupported; — where it does not say",
    )
    title = "What the repair did to claims, against gold"
    return Table("repair_against_gold", title, table_frame(rows), _CLAIM_COLUMNS, notes)


def answers_against_gold_table(study: Study) -> Table:
    """Count the clean answers that each arm edited, and the hallucinated ones that it cleared.

    Args:
        study: Its claims, and its records if there; see `gold_outcomes`.

    Raises:
        StatisticsError, AccountingError: As `gold_outcomes`.
    """
    outcomes = gold_outcomes(study.frames)
    shares = [("clean_edited", "clean"), ("cleared", "hallucinated")]
    rows = [_answer_row(group) for group in gold_groups(outcomes, shares, study.settings)]
    notes = notes_for(
        study.provenance,
        "clean, hallucinated: without and with an annotated span; edited: at least one claim "
        "was not kept",
        "cleared: the answer had claims that gold calls unsupported and none of them was "
        "kept; what stands for the changed ones was seen by no annotator",
        *outcome_notes(outcomes, study.settings),
        "paper: arXiv 2608.29307, Table 7, on its own answers; — where it does not say",
    )
    title = "What the repair did to answers, against gold"
    return Table("answers_against_gold", title, table_frame(rows), _ANSWER_COLUMNS, notes)


def _claim_rows(group: GoldGroup) -> Iterator[ClaimGoldRow]:
    n_edited = group.count("unsupported_edited") + group.count("supported_edited")
    for gold in CLAIM_GOLDS:
        claims = group.count(gold)
        if gold == "unknown" and not claims:
            continue
        removed, changed, kept, edited = (
            group.count(f"{gold}_{fate}") for fate in ("removed", "changed", "kept", "edited")
        )
        paper = _paper_claims(group, gold)
        yield ClaimGoldRow(
            arm=group.arm,
            task=group.task,
            gold=gold,
            claims=claims,
            removed=removed,
            changed=changed,
            kept=kept,
            removed_pct=percent(removed, claims),
            removed_low=group.ends[f"{gold}_removed"].low,
            removed_high=group.ends[f"{gold}_removed"].high,
            changed_pct=percent(changed, claims),
            kept_pct=percent(kept, claims),
            edited=edited,
            edited_pct=percent(edited, claims),
            edited_low=group.ends[f"{gold}_edited"].low,
            edited_high=group.ends[f"{gold}_edited"].high,
            of_edited_pct=None if gold == "unknown" else percent(edited, n_edited),
            paper_claims=paper.claims,
            paper_removed_pct=paper.removed_pct,
            paper_edited_pct=paper.edited_pct,
            paper_of_edited_pct=paper.of_edited_pct,
        )


def _answer_row(group: GoldGroup) -> AnswerGoldRow:
    clean, clean_edited = group.count("clean"), group.count("clean_edited")
    hallucinated, cleared = group.count("hallucinated"), group.count("cleared")
    hallucinated_edited = group.count("hallucinated_edited")
    is_in_paper = _is_in_paper(group)
    return AnswerGoldRow(
        arm=group.arm,
        task=group.task,
        answers=clean + hallucinated,
        clean=clean,
        clean_edited=clean_edited,
        clean_edited_pct=percent(clean_edited, clean),
        clean_edited_low=group.ends["clean_edited"].low,
        clean_edited_high=group.ends["clean_edited"].high,
        paper_clean_edited_pct=_PAPER_CLEAN_EDITED_PCT if is_in_paper else None,
        hallucinated=hallucinated,
        hallucinated_edited=hallucinated_edited,
        hallucinated_edited_pct=percent(hallucinated_edited, hallucinated),
        paper_hallucinated_edited_pct=_PAPER_HALLUCINATED_EDITED_PCT if is_in_paper else None,
        cleared=cleared,
        cleared_pct=percent(cleared, hallucinated),
        cleared_low=group.ends["cleared"].low,
        cleared_high=group.ends["cleared"].high,
    )


def _paper_claims(group: GoldGroup, gold: ClaimGold) -> _PaperClaims:
    """Return the paper's figures; by gold it gives no more than eligible claims, pooled."""
    if not _is_in_paper(group) or gold == "unknown":
        return _PaperClaims(None, None, None, None)
    claims, edited = _PAPER_CLAIMS[gold], _PAPER_EDITED[gold]
    edited_pct = percent(edited, claims)
    return _PaperClaims(
        claims=claims,
        # Removal drops what is eligible; how the other arms divide it by gold is not published.
        removed_pct=edited_pct if group.arm == "removal" else None,
        edited_pct=edited_pct,
        of_edited_pct=percent(edited, sum(_PAPER_EDITED.values())),
    )


def _is_in_paper(group: GoldGroup) -> bool:
    return group.arm in ARMS and group.task == POOLED


def _unknown_note(outcomes: GoldOutcomes) -> str | None:
    n_unknown = int(next(iter(outcomes.by_arm.values()))["unknown"].sum())
    if not n_unknown:
        return None
    return (
        f"unknown by gold: {n_unknown} claims whose place in the answer is not known; in no share "
        "of the others"
    )
