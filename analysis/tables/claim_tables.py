"""Tables of claims and their candidates: kinds, what was accepted, what the gate refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ragmend.analysis.inputs.frames import needed
from ragmend.analysis.inputs.splits import evaluated_claims
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import Column, Table, percent, table_frame
from ragmend.analysis.settings import Provenance
from ragmend.analysis.study import Study
from ragmend.errors import AccountingError
from ragmend.records import ActionKind, Arm, CandidateKind

if TYPE_CHECKING:
    import pandas as pd

CLAIM_KEY = ["record_id", "claim_id"]


_ACCEPTANCE_COLUMNS = (
    Column("candidate", "candidate", "text"),
    Column("arm", "arm", "text"),
    Column("eligible", "eligible claims", "count"),
    Column("asked", "rewriter asked", "count"),
    Column("nothing_supported", "nothing supported", "count"),
    Column("unchanged", "unchanged", "count"),
    Column("proposed", "proposed", "count"),
    Column("passed_gate", "passed the gate", "count"),
    Column("accepted", "accepted", "count"),
    Column("of_eligible_pct", "% of eligible", "decimal", 1),
    Column("of_proposed_pct", "% of proposed", "decimal", 1),
    Column("paper_eligible", "paper: eligible", "count"),
    Column("paper_proposed", "paper: proposed", "count"),
    Column("paper_accepted", "paper: accepted", "count"),
    Column("paper_of_eligible_pct", "paper: % of eligible", "decimal", 1),
    Column("paper_of_proposed_pct", "paper: % of proposed", "decimal", 1),
)

_KIND_COLUMNS = (
    Column("kind", "kind of claim", "text"),
    Column("claims", "claims", "count"),
    Column("verified", "verified", "count"),
    Column("eligible", "eligible", "count"),
    Column("eligible_pct", "% eligible", "decimal", 1),
)

_GATE_COLUMNS = (
    Column("kind", "candidate", "text"),
    Column("reason", "reason", "text"),
    Column("refused", "refused", "count"),
    Column("proposed", "of proposed", "count"),
    Column("refused_pct", "%", "decimal", 1),
)


class Route(NamedTuple):
    """One way for a candidate into an answer, and the paper's counts of it."""

    label: str
    kind: CandidateKind
    arm: Arm
    action: ActionKind
    is_fallback: bool
    paper_eligible: int | None
    paper_proposed: int | None
    paper_accepted: int


# Source: arXiv 2608.29307, Table 3 and section 6.
ROUTES = (
    Route("extract", "extract", "extractive", "substitute", False, 3014, None, 766),
    Route("rewrite", "rewrite", "generative", "rewrite", False, 3014, 1686, 913),
    Route(
        "extract where no rewrite was accepted", "extract", "generative", "substitute", True,
        None, None, 459,
    ),
)  # fmt: skip


class AcceptanceRow(NamedTuple):
    """How many eligible claims got a candidate, and how many candidates reached the answer."""

    candidate: str
    arm: str
    eligible: int
    asked: int | None
    """Claims that the rewriter was asked about; None of extracts, and where not recorded."""
    nothing_supported: int | None
    """Those of which it said that the source supports nothing."""
    unchanged: int | None
    """Those that it gave back as they were, so that nothing is proposed."""
    proposed: int | None
    passed_gate: int | None
    accepted: int
    of_eligible_pct: Fraction | None
    of_proposed_pct: Fraction | None
    paper_eligible: int | None
    paper_proposed: int | None
    paper_accepted: int
    paper_of_eligible_pct: Fraction | None
    paper_of_proposed_pct: Fraction | None


class KindRow(NamedTuple):
    """One kind of claim."""

    kind: str
    claims: int
    verified: int
    eligible: int
    eligible_pct: Fraction | None


class GateRow(NamedTuple):
    """How many candidates of one kind the gate refused for one reason."""

    kind: str
    reason: str
    refused: int
    proposed: int
    refused_pct: Fraction | None


def acceptance_table(study: Study) -> Table:
    """Count candidates from eligible claim to answer, beside the paper's counts.

    Args:
        study: Its claims: record_id, claim_id, p_support, rewrite_proposed and the arms'
            action columns; and its candidates, if there: record_id, claim_id, kind,
            gate_passed, accepted; and its rewrites: record_id, claim_id, has_text. What these
            alone know is undefined without them.

    Raises:
        AccountingError: Accepted candidates and actions disagree, removal does not drop exactly
            the eligible claims, or more is proposed than the rewriter gave.

    Source: of the paper's counts, arXiv 2608.29307, Table 3 and section 6.
    """
    columns = [*CLAIM_KEY, "p_support", "rewrite_proposed"]
    claims = evaluated_claims(needed(study.frames, "claims", columns, key=CLAIM_KEY))
    candidates, rewrites = study.frames.candidates, study.frames.rewrites
    eligible = eligible_claims(claims, study.provenance)
    rows = [
        _acceptance_row(route, eligible, candidates, rewrites)
        for route in ROUTES
        if f"action_{route.arm}" in claims
    ]
    notes = notes_for(
        study.provenance,
        "accepted: passed the gate, was verified as supported, and stands in the arm's answer",
        "a source fragment has only words of its source, so that the lexical verifier accepts "
        "nearly every one: acceptance by it says little"
        if study.provenance.embedded_verifier
        else None,
        "nothing supported: the rewriter said that the source supports nothing of the claim; "
        "unchanged: it gave the claim back as it was"
        if rewrites is not None
        else "what the rewriter said of each claim: not in this input",
        "paper: counts of arXiv 2608.29307 on its own population, for comparison only",
        None if candidates is not None else "no candidate records in this input: — where needed",
    )
    title = "Acceptance: from eligible claim to replaced claim"
    return Table("acceptance", title, table_frame(rows), _ACCEPTANCE_COLUMNS, notes)


def claims_by_kind_table(study: Study) -> Table:
    """Count claims, verified claims and eligible claims of each kind.

    Args:
        study: Its claims: record_id, claim_id, kind, p_support (NA where not verified).
    """
    columns = [*CLAIM_KEY, "kind", "p_support"]
    claims = evaluated_claims(needed(study.frames, "claims", columns, key=CLAIM_KEY))
    parts = [(str(kind), part) for kind, part in claims.groupby("kind", sort=True)]
    rows = [_kind_row(kind, part, study.provenance) for kind, part in [*parts, ("all", claims)]]
    rule = f"eligible: P(support) below the threshold of {study.provenance.threshold:g}"
    notes = notes_for(study.provenance, rule)
    return Table("claims_by_kind", "Claims by kind", table_frame(rows), _KIND_COLUMNS, notes)


def gate_reasons_table(study: Study) -> Table:
    """Count why the gate refused candidates, by kind of candidate.

    Args:
        study: Its candidates: kind, gate_passed, gate_reasons (a tuple).
    """
    candidates = needed(study.frames, "candidates", ["kind", "gate_passed", "gate_reasons"])
    parts = candidates.groupby("kind", sort=True)
    rows = [row for kind, part in parts for row in _gate_rows(str(kind), part)]
    notes = notes_for(study.provenance, "one candidate may be refused for several reasons")
    return Table(
        "gate_reasons", "Why the gate refused candidates", table_frame(rows), _GATE_COLUMNS, notes
    )


def eligible_claims(claims: pd.DataFrame, provenance: Provenance) -> pd.DataFrame:
    """Return the claims with P(support) strictly below the threshold.

    Raises:
        AccountingError: The removal arm does not drop exactly these claims.
    """
    is_eligible = claims["p_support"] < provenance.threshold
    if "action_removal" in claims:
        differs = claims[is_eligible != (claims["action_removal"] == "drop")]
        if len(differs):
            record_id, claim_id = differs.iloc[0][CLAIM_KEY]
            raise AccountingError(
                f"claims: record {record_id}, claim {claim_id}: removal drops exactly the claims "
                f"with P(support) < {provenance.threshold:g}, but not here; "
                "is this the run's threshold?"
            )
    return claims[is_eligible]


def _acceptance_row(
    route: Route,
    eligible: pd.DataFrame,
    candidates: pd.DataFrame | None,
    rewrites: pd.DataFrame | None,
) -> AcceptanceRow:
    if route.is_fallback:
        eligible = eligible[eligible["action_generative"] != "rewrite"]
    accepted = int((eligible[f"action_{route.arm}"] == route.action).sum())
    proposed, passed_gate = _candidate_counts(route, eligible, candidates, accepted)
    said = _rewriter_counts(eligible, rewrites, proposed) if route.kind == "rewrite" else _UNTOLD
    return AcceptanceRow(
        candidate=route.label,
        arm=route.arm,
        eligible=len(eligible),
        asked=said.asked,
        nothing_supported=said.nothing_supported,
        unchanged=said.unchanged,
        proposed=proposed,
        passed_gate=passed_gate,
        accepted=accepted,
        of_eligible_pct=percent(accepted, len(eligible)),
        of_proposed_pct=None if proposed is None else percent(accepted, proposed),
        paper_eligible=route.paper_eligible,
        paper_proposed=route.paper_proposed,
        paper_accepted=route.paper_accepted,
        paper_of_eligible_pct=percent(route.paper_accepted, route.paper_eligible or 0),
        paper_of_proposed_pct=percent(route.paper_accepted, route.paper_proposed or 0),
    )


def _candidate_counts(
    route: Route, eligible: pd.DataFrame, candidates: pd.DataFrame | None, accepted: int
) -> tuple[int | None, int | None]:
    """Return how many candidates were proposed and passed the gate, where that is known."""
    if candidates is None:
        is_known = route.kind == "rewrite"
        return (int(eligible["rewrite_proposed"].sum()) if is_known else None), None
    of_kind = candidates[candidates["kind"] == route.kind]
    found = of_kind.merge(eligible[CLAIM_KEY], on=CLAIM_KEY, validate="one_to_one")
    if int(found["accepted"].sum()) != accepted:
        raise AccountingError(
            f"{int(found['accepted'].sum())} accepted {route.kind} candidates, but {accepted} "
            f"{route.action} actions in the {route.arm} arm"
        )
    return len(found), int(found["gate_passed"].sum())


class _Said(NamedTuple):
    """What the rewriter said, in claims; None where not recorded."""

    asked: int | None
    nothing_supported: int | None
    unchanged: int | None


_UNTOLD = _Said(None, None, None)


def _rewriter_counts(
    eligible: pd.DataFrame, rewrites: pd.DataFrame | None, proposed: int | None
) -> _Said:
    if rewrites is None:
        return _UNTOLD
    found = rewrites.merge(eligible[CLAIM_KEY], on=CLAIM_KEY, validate="one_to_one")
    with_text = int(found["has_text"].sum())
    if proposed is not None and proposed > with_text:
        raise AccountingError(
            f"{proposed} rewrites are proposed, but the rewriter gave a text for {with_text} claims"
        )
    unchanged = None if proposed is None else with_text - proposed
    return _Said(len(found), len(found) - with_text, unchanged)


def _kind_row(kind: str, part: pd.DataFrame, provenance: Provenance) -> KindRow:
    eligible = len(eligible_claims(part, provenance))
    verified = int(part["p_support"].notna().sum())
    return KindRow(kind, len(part), verified, eligible, percent(eligible, len(part)))


def _gate_rows(kind: str, part: pd.DataFrame) -> Iterator[GateRow]:
    refused = int((~part["gate_passed"].astype(bool)).sum())
    yield GateRow(kind, "any reason", refused, len(part), percent(refused, len(part)))
    # "unsupported_number: 15" counts as an unsupported number.
    codes = [{reason.partition(":")[0] for reason in reasons} for reasons in part["gate_reasons"]]
    counts = Counter(code for found in codes for code in sorted(found))
    for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield GateRow(kind, reason, count, len(part), percent(count, len(part)))
