"""The table of the papers' sentences, each with what the data at hand say of it."""

from __future__ import annotations

from typing import NamedTuple

from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, table_frame
from ragmend.analysis.published.claim import Claim
from ragmend.analysis.published.consistency_claims import CONSISTENCY_CLAIMS
from ragmend.analysis.published.judged_claims import JUDGED_CLAIMS
from ragmend.analysis.published.measured_claims import MEASURED_CLAIMS
from ragmend.analysis.published.score_claims import SCORE_CLAIMS
from ragmend.analysis.study import Study

CLAIMS: tuple[Claim, ...] = (
    *MEASURED_CLAIMS, *JUDGED_CLAIMS, *SCORE_CLAIMS, *CONSISTENCY_CLAIMS,
)  # fmt: skip
NOT_TESTABLE = "not testable here"

_COLUMNS = (
    Column("source", "paper", "text"),
    Column("where", "where", "text"),
    Column("claim", "claim", "text"),
    Column("holds", "holds", "text"),
    Column("evidence", "evidence", "text"),
)
_ANSWERS = {True: "yes", False: "no", None: NOT_TESTABLE}


class ClaimRow(NamedTuple):
    """A sentence of a paper, and whether it holds on the data at hand."""

    source: str
    where: str
    claim: str
    holds: str
    evidence: str


def claims_of_the_text_table(study: Study) -> Table:
    """Evaluate the papers' sentences on the data at hand.

    Args:
        study: Its labels, arms, records, runs and published scores, each if there.

    Raises:
        StatisticsError: An input is not what its own table needs.

    Source: arXiv 2608.29307; the paper on text-to-SQL grounding (TeQHallu).
    """
    notes = notes_for(
        study.provenance,
        "every sentence is evaluated by code on the inputs of this analysis: on another run's "
        "data it says whether the sentence would hold there, not whether it holds in the paper",
        "claim: in short paraphrase; not testable here: the evidence says what is needed",
        "printed scores: what may have been rounded to them is allowed for by interval arithmetic",
        judged=True,
    )
    title = "Claims of the papers' texts, on the data of this analysis"
    rows = [_row(claim, study) for claim in CLAIMS]
    return Table("claims_of_the_text", title, table_frame(rows), _COLUMNS, notes)


def without_testable_claims(study: Study) -> str | None:
    """Say that no sentence can be evaluated; None where one can."""
    if any(claim.evaluate(study).holds is not None for claim in CLAIMS):
        return None
    return "needs labels, arms, runs or published scores that a sentence of the papers is about"


def _row(claim: Claim, study: Study) -> ClaimRow:
    found = claim.evaluate(study)
    return ClaimRow(
        claim.source, claim.where, claim.sentence, _ANSWERS[found.holds], found.evidence
    )
