"""What each arm does with each claim, from recorded verdicts and candidates only.

The arms are nested: a claim that the generative arm drops is dropped by the extractive arm,
and one that the extractive arm drops is dropped by removal.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.3.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from ragmend.errors import AccountingError, LookupMissError
from ragmend.llm.labels import Support
from ragmend.records import (
    ARMS,
    ActionKind,
    Arm,
    Candidate,
    CandidateKind,
    Claim,
    ClaimKind,
    Verdict,
)

# What an arm tries for an unsupported claim, in order; dropping it is what is left.
ARM_POLICIES: dict[Arm, tuple[CandidateKind, ...]] = {
    "removal": (),
    "extractive": ("extract",),
    "generative": ("rewrite", "extract"),
}
ACTION_OF: dict[CandidateKind, ActionKind] = {"extract": "substitute", "rewrite": "rewrite"}


class Decision(NamedTuple):
    """What happens to one claim, and the text that stands for it ("" when dropped).

    `n_lookups` counts the recorded answers that were asked for to decide it.
    """

    kind: ActionKind
    text: str
    n_lookups: int = 0


class Recorded(NamedTuple):
    """The recorded answers about one record's claims, and how they were looked up."""

    verdicts: Mapping[str, Verdict]
    candidates: Mapping[tuple[str, CandidateKind], Candidate]


def is_verified(kind: ClaimKind, verify: Literal["all", "statements"]) -> bool:
    """Tell whether claims of this kind get a verdict; the others are kept as they are."""
    return verify == "all" or kind == "statement"


def is_eligible(verdict: Verdict, threshold: float) -> bool:
    """Tell whether a claim is to be repaired: P(support) < threshold, strictly."""
    return verdict.p_support < threshold


def decides(verdict: Verdict, threshold: float) -> bool:
    """Tell whether a verdict puts its claim on one side of a threshold; see `Support.decides`."""
    return Support(verdict.p_support, interval=verdict.p_interval).decides(threshold)


def record_answers(verdicts: Iterable[Verdict], candidates: Iterable[Candidate]) -> Recorded:
    """Index recorded answers by claim.

    Raises:
        AccountingError: Two answers to the same question.
    """
    by_claim: dict[str, Verdict] = {}
    for verdict in verdicts:
        if verdict.claim_id in by_claim:
            raise AccountingError(f"claim {verdict.claim_id}: two verdicts")
        by_claim[verdict.claim_id] = verdict
    by_kind: dict[tuple[str, CandidateKind], Candidate] = {}
    for candidate in candidates:
        key = (candidate.claim_id, candidate.kind)
        if key in by_kind:
            raise AccountingError(f"claim {candidate.claim_id}: two {candidate.kind} candidates")
        by_kind[key] = candidate
    return Recorded(by_claim, by_kind)


def missing_verdicts(
    claims: Iterable[Claim], recorded: Recorded, verify: Literal["all", "statements"]
) -> list[str]:
    """Return the ids of the claims that should have a verdict and have none."""
    return [
        claim.claim_id
        for claim in claims
        if is_verified(claim.kind, verify) and claim.claim_id not in recorded.verdicts
    ]


def decide(
    claim: Claim,
    arm: Arm,
    recorded: Recorded,
    *,
    threshold: float,
    verify: Literal["all", "statements"],
) -> Decision:
    """Decide one claim in one arm.

    Raises:
        LookupMissError: The claim should have a verdict and has none.
    """
    if not is_verified(claim.kind, verify):
        return Decision("keep", claim.text)
    verdict = recorded.verdicts.get(claim.claim_id)
    if verdict is None:
        raise LookupMissError(f"claim {claim.claim_id}: no recorded verdict; run `verify` again")
    if not decides(verdict, threshold):
        raise LookupMissError(
            f"claim {claim.claim_id}: P(support) is known to lie between {verdict.p_interval} "
            f"only, which does not decide it at {threshold:g}; run `verify` again"
        )
    if not is_eligible(verdict, threshold):
        return Decision("keep", claim.text, n_lookups=1)
    for n_asked, kind in enumerate(ARM_POLICIES[arm], 1):
        candidate = recorded.candidates.get((claim.claim_id, kind))
        if candidate is not None and candidate.accepted:
            return Decision(ACTION_OF[kind], candidate.text, n_lookups=1 + n_asked)
    return Decision("drop", "", n_lookups=1 + len(ARM_POLICIES[arm]))


def check_nesting(decisions: Mapping[Arm, Sequence[Decision]]) -> None:
    """Check that each arm drops only what the arm before it drops.

    Raises:
        AccountingError: A claim is dropped by a milder arm and kept by a stricter one.
    """
    for stricter, milder in pairwise(ARMS):
        pairs = zip(decisions[stricter], decisions[milder], strict=True)
        for number, (strict_one, mild_one) in enumerate(pairs):
            if mild_one.kind == "drop" and strict_one.kind != "drop":
                raise AccountingError(f"claim {number}: {milder} drops it, {stricter} does not")
