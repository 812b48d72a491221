"""Candidates for unsupported claims: proposed, gated, then verified again (pass 2).

One extractive candidate a claim, its best fragment; one rewrite at most. An edit is
accepted when the gate passes it and P(support) reaches the same threshold as pass 1.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), sections 3.3 and 3.4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ragmend.errors import AnswerFaultError
from ragmend.llm.labels import Support
from ragmend.records import Candidate, CandidateKind, Claim, Evidence, Gate, Rewrite, Source
from ragmend.repair.extracting.extracts import extracts, is_about_the_answer, squeezed
from ragmend.repair.gate import check_gate
from ragmend.repair.verification import Verifier
from ragmend.text.reading import SourceReading, read_source

_UNVERIFIED = {
    "p_support": None,
    "candidate_mass": None,
    "p_interval": None,
    "left_out_fragments": 0,
}


class Acceptance(NamedTuple):
    """Who verifies edits, and by which rule they are accepted."""

    verifier: Verifier
    threshold: float
    verify_edit: Literal["claim", "in_context"]


class Proposal(NamedTuple):
    """A text for a claim, before it is verified."""

    claim: Claim
    kind: CandidateKind
    text: str
    evidence_ids: tuple[str, ...]
    gate: Gate


def says_something_of_its_source(claim: Claim) -> bool:
    """Tell whether a sentence of the source can say what a claim should have said.

    It says nothing in the place of a heading, a lead-in, a question, or of what the answer says
    of its passages or of itself.
    """
    return claim.kind == "statement" and not is_about_the_answer(claim.text)


async def propose_candidates(
    source: Source,
    answer: str,
    claims: Sequence[Claim],
    *,
    evidence: Sequence[Evidence],
    eligible: frozenset[str],
    rewrites: Sequence[Rewrite],
    acceptance: Acceptance,
) -> list[Candidate]:
    """Propose, gate and verify edits of one answer's unsupported claims.

    Args:
        source: What the answer must be supported by.
        answer: The original text.
        claims: All its claims, in order.
        evidence: Their evidence rows.
        eligible: Ids of the claims with P(support) below the threshold.
        rewrites: What the rewriter made of them; one without text proposes nothing.
        acceptance: The verifier and the rule of acceptance.

    Returns:
        Candidates in order of the claims; a claim without evidence or without a rewrite has
        fewer than two.

    Raises:
        AnswerFaultError: A verdict could not be had, or is not known well enough to decide.
    """
    wanted = [claim for claim in claims if claim.claim_id in eligible]
    if not wanted:
        return []
    reading = read_source(source)
    ranked: dict[str, list[Evidence]] = {}
    for row in sorted(evidence, key=lambda row: row.rank):
        ranked.setdefault(row.claim_id, []).append(row)
    proposals = [
        *_extracts(reading, answer, wanted, ranked),
        *_rewrites(wanted, ranked, {each.claim_id: each for each in rewrites}, reading),
    ]
    order = {claim.claim_id: number for number, claim in enumerate(wanted)}
    proposals.sort(key=lambda proposal: order[proposal.claim.claim_id])
    passed = [proposal for proposal in proposals if proposal.gate.passed]
    texts = [_verified_text(each, claims, acceptance.verify_edit) for each in passed]
    supports = await acceptance.verifier.score_texts(source, answer, texts) if texts else []
    scored = {_key(each): support for each, support in zip(passed, supports, strict=True)}
    candidates = (_as_candidate(each, scored, acceptance.threshold) for each in proposals)
    return list(_each_extract_once(candidates, reading))


def _extracts(
    reading: SourceReading,
    answer: str,
    wanted: Sequence[Claim],
    ranked: dict[str, list[Evidence]],
) -> Iterator[Proposal]:
    replaceable = [claim for claim in wanted if says_something_of_its_source(claim)]
    for found in extracts(reading, answer, replaceable, ranked):
        gate = Gate(passed=not found.reasons, reasons=found.reasons)
        text, ids = found.text, (found.fragment.fragment_id,)
        yield Proposal(found.claim, "extract", text, ids, gate)


def _rewrites(
    wanted: Sequence[Claim],
    ranked: dict[str, list[Evidence]],
    rewrites: Mapping[str, Rewrite],
    reading: SourceReading,
) -> Iterator[Proposal]:
    for claim in wanted:
        rewrite = rewrites.get(claim.claim_id)
        text = None if rewrite is None else rewrite.text
        if text is not None and squeezed(text) != squeezed(claim.text):
            ids = tuple(row.fragment_id for row in ranked.get(claim.claim_id, []))
            yield Proposal(claim, "rewrite", text, ids, check_gate(text, reading))


def _key(proposal: Proposal) -> tuple[str, CandidateKind]:
    return proposal.claim.claim_id, proposal.kind


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
                refusal = {"gate": gate, "accepted": False, **_UNVERIFIED}
                yield candidate.model_copy(update=refusal)
                continue
            substituted.update(parts)
        yield candidate


def _as_candidate(
    proposal: Proposal, scored: Mapping[tuple[str, CandidateKind], Support], threshold: float
) -> Candidate:
    support = scored.get(_key(proposal))
    if support is not None and not support.decides(threshold):
        raise AnswerFaultError(
            f"the edited text's P(support) is known to lie between {support.interval} only",
            status="undecided",
            claim_id=proposal.claim.claim_id,
        )
    return Candidate(
        record_id=proposal.claim.record_id,
        claim_id=proposal.claim.claim_id,
        kind=proposal.kind,
        text=proposal.text,
        evidence_ids=proposal.evidence_ids,
        gate=proposal.gate,
        p_support=None if support is None else support.p,
        candidate_mass=None if support is None else support.mass,
        p_interval=None if support is None else support.interval,
        left_out_fragments=0 if support is None else support.left_out_fragments,
        accepted=support is not None and support.p >= threshold,
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
