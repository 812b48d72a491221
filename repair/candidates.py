"""Candidates for unsupported claims: proposed, gated, then verified again (pass 2).

One extractive candidate a claim, its best fragment; one rewrite at most. An edit is
accepted when the gate passes it and P(support) reaches the same threshold as pass 1.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), sections 3.3 and 3.4.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ragmend.records import Candidate, CandidateKind, Claim, Evidence, Gate, Source
from ragmend.repair.extracting.extracts import extracts, is_about_the_answer, squeezed
from ragmend.repair.gate import check_gate
from ragmend.repair.verification import Rewriter, Verifier
from ragmend.text.reading import SourceReading, read_source


class Roles(NamedTuple):
    """Who proposes and verifies edits, and by which rule they are accepted."""

    verifier: Verifier
    rewriter: Rewriter
    threshold: float
    verify_edit: Literal["claim", "in_context"]


class Proposal(NamedTuple):
    """A text for a claim, before it is verified."""

    claim: Claim
    kind: CandidateKind
    text: str
    evidence_ids: tuple[str, ...]
    gate: Gate


def propose_candidates(
    source: Source,
    answer: str,
    claims: Sequence[Claim],
    *,
    evidence: Sequence[Evidence],
    eligible: frozenset[str],
    roles: Roles,
) -> list[Candidate]:
    """Propose, gate and verify edits of one answer's unsupported statements.

    Headings, lead-ins, questions and what the answer says of its passages or itself get no
    candidate: a sentence of the source says nothing in their place.

    Args:
        source: What the answer must be supported by.
        answer: The original text.
        claims: All its claims, in order.
        evidence: Their evidence rows.
        eligible: Ids of the claims with P(support) below the threshold.
        roles: The verifier and rewriter, and the rule of acceptance.

    Returns:
        Candidates in order of the claims; a claim without evidence or without a rewrite has
        fewer than two.

    Raises:
        AnswerFaultError: A rewrite or a verdict could not be had.
    """
    wanted = [
        claim
        for claim in claims
        if claim.claim_id in eligible
        and claim.kind == "statement"
        and not is_about_the_answer(claim.text)
    ]
    if not wanted:
        return []
    reading = read_source(source)
    ranked: dict[str, list[Evidence]] = {}
    for row in sorted(evidence, key=lambda row: row.rank):
        ranked.setdefault(row.claim_id, []).append(row)
    extracts = _extracts(reading, answer, wanted, ranked)
    rewrites = _rewrites(source, wanted, ranked, roles.rewriter, reading)
    order = {claim.claim_id: number for number, claim in enumerate(wanted)}
    proposals = sorted([*extracts, *rewrites], key=lambda p: order[p.claim.claim_id])
    return _accept(proposals, source, claims, roles, reading)


def _extracts(
    reading: SourceReading,
    answer: str,
    wanted: Sequence[Claim],
    ranked: dict[str, list[Evidence]],
) -> Iterator[Proposal]:
    for found in extracts(reading, answer, wanted, ranked):
        gate = Gate(passed=not found.reasons, reasons=found.reasons)
        text, ids = found.text, (found.fragment.fragment_id,)
        yield Proposal(found.claim, "extract", text, ids, gate)


def _rewrites(
    source: Source,
    wanted: Sequence[Claim],
    ranked: dict[str, list[Evidence]],
    rewriter: Rewriter,
    reading: SourceReading,
) -> Iterator[Proposal]:
    for claim in wanted:
        rows = ranked.get(claim.claim_id, [])
        text = rewriter.rewrite(source, claim, rows)
        if text is not None and squeezed(text) != squeezed(claim.text):
            ids = tuple(row.fragment_id for row in rows)
            yield Proposal(claim, "rewrite", text, ids, check_gate(text, reading))


def _accept(
    proposals: Sequence[Proposal],
    source: Source,
    claims: Sequence[Claim],
    roles: Roles,
    reading: SourceReading,
) -> list[Candidate]:
    passed = [proposal for proposal in proposals if proposal.gate.passed]
    texts = [_verified_text(proposal, claims, roles.verify_edit) for proposal in passed]
    scores = roles.verifier.score_texts(source, texts) if texts else []
    scored = {
        (proposal.claim.claim_id, proposal.kind): score
        for proposal, score in zip(passed, scores, strict=True)
    }
    candidates = (_as_candidate(proposal, scored, roles.threshold) for proposal in proposals)
    return list(_each_extract_once(candidates, reading))


def _each_extract_once(
    candidates: Iterable[Candidate], reading: SourceReading
) -> Iterator[Candidate]:
    """Refuse an extract of which an earlier claim's accepted extract has said a part already."""
    substituted: set[int] = set()
    for candidate in candidates:
        if candidate.kind == "extract" and candidate.accepted:
            position = reading.position_of[candidate.evidence_ids[0]]
            parts = reading.parts_of(reading.fragments[position])
            if not substituted.isdisjoint(parts):
                gate = Gate(passed=False, reasons=("already_substituted",))
                refusal = {"gate": gate, "p_support": None, "accepted": False}
                yield candidate.model_copy(update=refusal)
                continue
            substituted.update(parts)
        yield candidate


def _as_candidate(
    proposal: Proposal, scored: dict[tuple[str, CandidateKind], float], threshold: float
) -> Candidate:
    p_support = scored.get((proposal.claim.claim_id, proposal.kind))
    return Candidate(
        record_id=proposal.claim.record_id,
        claim_id=proposal.claim.claim_id,
        kind=proposal.kind,
        text=proposal.text,
        evidence_ids=proposal.evidence_ids,
        gate=proposal.gate,
        p_support=p_support,
        accepted=p_support is not None and p_support >= threshold,
    )


def _verified_text(
    proposal: Proposal, claims: Sequence[Claim], verify_edit: Literal["claim", "in_context"]
) -> str:
    """Return what pass 2 scores: the edit alone, or between the claims around it."""
    if verify_edit == "claim":
        return proposal.text
    at = next(n for n, claim in enumerate(claims) if claim.claim_id == proposal.claim.claim_id)
    before = [claims[at - 1].text] if at > 0 else []
    after = [claims[at + 1].text] if at + 1 < len(claims) else []
    return " ".join([*before, proposal.text, *after])
