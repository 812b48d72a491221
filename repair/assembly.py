"""Put an answer together again from what became of its claims; pure and read-only.

An answer is claims with gaps between them. What stays is copied to the letter; where a claim
goes, its line goes when nothing else stands on it, and the gap around it is closed. A clause
that loses the one before it loses its coordinator and gains a capital; a sentence that loses
its end gains a stop. Both are recorded in the action.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ragmend.errors import AccountingError
from ragmend.records import Action, ActionKind, Arm, Claim
from ragmend.repair.arms import Decision
from ragmend.repair.gaps import AnswerLine, answer_lines, join_line

REPLACED: tuple[ActionKind, ...] = ("substitute", "rewrite")
TERMINAL = ".!?…。！？؟۔"  # a sentence's stop, also behind closing quotes and brackets
CLOSERS = "\"'”’»)]*_`"


class Part(NamedTuple):
    """One claim and what happens to it."""

    claim: Claim
    decision: Decision


class Assembled(NamedTuple):
    """A repaired text and the actions that made it, one a claim."""

    text: str
    actions: tuple[Action, ...]


def assemble(
    answer: str, claims: Sequence[Claim], decisions: Sequence[Decision], *, arm: Arm
) -> Assembled:
    """Build the repaired text of one answer.

    Args:
        answer: The original text.
        claims: Its claims in order; exact spans of it.
        decisions: What happens to each claim.
        arm: The arm that decided; stands in the actions.

    Raises:
        AccountingError: Claims that are not exact, ordered spans of the answer, or not as
            many decisions as claims.
    """
    _check_spans(answer, claims)
    if len(claims) != len(decisions):
        raise AccountingError(f"{len(claims)} claims but {len(decisions)} decisions")
    parts = [Part(claim, decision) for claim, decision in zip(claims, decisions, strict=True)]
    actions = tuple(
        action
        for _, sentence in groupby(parts, key=lambda part: sentence_of(part.claim))
        for action in _fit_sentence(list(sentence), arm=arm)
    )
    return Assembled(reconstruct(answer, claims, actions), actions)


def reconstruct(answer: str, claims: Sequence[Claim], actions: Sequence[Action]) -> str:
    """Rebuild a repaired text from recorded actions alone.

    Raises:
        AccountingError: The actions are not about these claims, in this order.
    """
    if [claim.claim_id for claim in claims] != [action.claim_id for action in actions]:
        raise AccountingError("the actions are not about the claims of this answer")
    if all(action.kind == "keep" for action in actions):
        return answer
    lines = [(line, join_line(line, claims, actions)) for line in answer_lines(answer, claims)]
    return _join_lines(lines, answer)


def _check_spans(answer: str, claims: Sequence[Claim]) -> None:
    end = 0
    for claim in claims:
        if claim.start < end or answer[claim.start : claim.end] != claim.text:
            raise AccountingError(f"claim {claim.claim_id} is not an ordered span of its answer")
        end = claim.end


def sentence_of(claim: Claim) -> str:
    """Return what the clauses of one sentence share: the claim id without its clause."""
    return claim.claim_id.rpartition("-c")[0]


def capitalise(text: str) -> str:
    """Make the first letter a capital; behind leading quotes and markup too."""
    for position, character in enumerate(text):
        if character.isalnum():
            return text[:position] + character.upper() + text[position + 1 :]
    return text


def ends_with_stop(text: str) -> bool:
    """Tell whether a text ends as a sentence does."""
    return text.rstrip().rstrip(CLOSERS)[-1:] in tuple(TERMINAL + ":")


def _fit_sentence(sentence: Sequence[Part], *, arm: Arm) -> list[Action]:
    """Fit the clauses of one sentence to what became of each other."""
    survivors = [n for n, part in enumerate(sentence) if part.decision.kind != "drop"]
    had_stop = ends_with_stop(sentence[-1].claim.text)
    actions = []
    for n, part in enumerate(sentence):
        text, edits = part.decision.text, list[str]()
        if part.decision.kind == "keep" and _begins_anew(n, sentence):
            text, edits = _as_beginning(text, part.claim.coordinator)
        if n in survivors:
            following = next((m for m in survivors if m > n), None)
            if following is None:
                is_end = had_stop and (n < len(sentence) - 1 or part.decision.kind in REPLACED)
            else:
                is_end = _begins_anew(following, sentence)
            if is_end and not ends_with_stop(text):
                text, edits = f"{text}.", [*edits, "add_stop"]
        actions.append(
            Action(
                record_id=part.claim.record_id,
                claim_id=part.claim.claim_id,
                arm=arm,
                kind=part.decision.kind,
                text=text,
                edits=tuple(edits),
            )
        )
    return actions


def _begins_anew(n: int, sentence: Sequence[Part]) -> bool:
    """Tell whether a surviving clause can no longer continue the one before it."""
    if n == 0:
        return False
    before = sentence[n - 1].decision.kind
    if before in REPLACED or sentence[n].decision.kind in REPLACED:
        return True
    if before == "keep":
        return False
    has_survivor_before = any(part.decision.kind != "drop" for part in sentence[:n])
    return sentence[n].claim.coordinator is not None or not has_survivor_before


def _as_beginning(text: str, coordinator: str | None) -> tuple[str, list[str]]:
    """Turn a clause into a sentence's beginning; say what was done."""
    edits = ["strip_coordinator"] if coordinator else []
    stripped = text[len(coordinator or "") :].lstrip()
    capital = capitalise(stripped)
    return capital, [*edits, "capitalise"] if capital != stripped else edits


def _join_lines(lines: Sequence[tuple[AnswerLine, str | None]], answer: str) -> str:
    """Join the lines that are left; a removed line takes its line end with it."""
    kept: list[str] = []
    n_removed_since = 0
    for line, text in lines:
        if text is None:
            n_removed_since += 1
            continue
        is_blank = not line.claims and not text.strip()
        previous_blank = not kept or not kept[-1].strip()
        # A removed paragraph leaves one of the two blank lines around it.
        if is_blank and n_removed_since and previous_blank:
            continue
        if not is_blank:
            n_removed_since = 0
        kept.append(text + line.ending)
    if all(not text.strip() for text in kept):
        return ""
    joined = "".join(kept)
    return _trim_like(joined, answer)


def _trim_like(text: str, answer: str) -> str:
    """Begin and end with as much white space as the original does."""
    lead = answer[: len(answer) - len(answer.lstrip())]
    tail = answer[len(answer.rstrip()) :]
    return f"{lead}{text.strip()}{tail}"
