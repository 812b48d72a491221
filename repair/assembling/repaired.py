"""One record through every arm, with the accounting that each arm and condition must keep."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ragmend.errors import AccountingError
from ragmend.records import (
    ARMS,
    CONDITIONS,
    Action,
    Claim,
    RepairedAnswer,
    Response,
)
from ragmend.repair.arms import Recorded, check_nesting, decide
from ragmend.repair.assembling.assembly import assemble, reconstruct
from ragmend.repair.wellformed.findings import well_formedness_findings


class RepairedRecord(NamedTuple):
    """Every arm's actions and every condition's answer of one record."""

    actions: tuple[Action, ...]
    answers: tuple[RepairedAnswer, ...]
    n_lookups: int


def repair_record(
    response: Response,
    claims: Sequence[Claim],
    recorded: Recorded,
    *,
    threshold: float,
    verify: Literal["all", "statements"],
) -> RepairedRecord:
    """Repair one answer in every arm; the original is a condition too.

    Raises:
        LookupMissError: A verdict that is needed was not recorded.
        AccountingError: An arm drops what a stricter one keeps.
    """
    decisions = {
        arm: [decide(claim, arm, recorded, threshold=threshold, verify=verify) for claim in claims]
        for arm in ARMS
    }
    check_nesting(decisions)
    n_claims, n_chars = len(claims), len(response.text)
    actions: list[Action] = []
    answers = [
        RepairedAnswer(
            record_id=response.record_id,
            condition="original",
            text=response.text,
            n_claims=n_claims,
            n_kept=n_claims,
            original_chars=n_chars,
            repaired_chars=n_chars,
            findings=well_formedness_findings(response.text),
        )
    ]
    for arm in ARMS:
        assembled = assemble(response.text, claims, decisions[arm], arm=arm)
        actions += assembled.actions
        answers.append(
            RepairedAnswer(
                record_id=response.record_id,
                condition=arm,
                text=assembled.text,
                n_claims=n_claims,
                n_kept=sum(action.kind == "keep" for action in assembled.actions),
                original_chars=n_chars,
                repaired_chars=len(assembled.text),
                findings=well_formedness_findings(assembled.text, original=response.text),
            )
        )
    n_lookups = sum(decision.n_lookups for of_arm in decisions.values() for decision in of_arm)
    return RepairedRecord(tuple(actions), tuple(answers), n_lookups)


def check_reconstruction(
    responses: Sequence[Response],
    claims: Mapping[str, Sequence[Claim]],
    actions: Sequence[Action],
    answers: Sequence[RepairedAnswer],
) -> None:
    """Check that the saved actions alone give every emitted text, and that none is missing.

    Raises:
        AccountingError: A text differs, or an answer is missing or doubled.
    """
    by_key: dict[tuple[str, str], list[Action]] = {}
    for action in actions:
        by_key.setdefault((action.record_id, action.arm), []).append(action)
    texts = {response.record_id: response.text for response in responses}
    expected = [(record_id, condition) for record_id in texts for condition in CONDITIONS]
    if sorted(expected) != sorted((a.record_id, a.condition) for a in answers):
        raise AccountingError(f"{len(expected)} answers expected, {len(answers)} made")
    for answer in answers:
        original = texts[answer.record_id]
        own = by_key.get((answer.record_id, answer.condition), [])
        text = original
        if answer.condition != "original":
            text = reconstruct(original, claims.get(answer.record_id, ()), own)
        if text != answer.text:
            raise AccountingError(
                f"record {answer.record_id}, {answer.condition}: the saved actions do not give "
                "the text that was written"
            )
