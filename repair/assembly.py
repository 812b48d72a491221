"""Put an answer together again from what became of its claims; pure and read-only.

An answer is claims with gaps between them. What stays is copied to the letter; where claims
go, the gaps around them are closed. A clause that loses the one before it loses its
coordinator and gains a capital; a sentence that loses its end gains a stop. Both are recorded
in the action.
"""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ragmend.errors import AccountingError
from ragmend.records import Action, ActionKind, Arm, Claim
from ragmend.repair.arms import Decision
from ragmend.repair.gaps import Gap, closing, gap_pieces, junction, opening, without_idle_marks
from ragmend.repair.sentence_form import capitalise, ends_with_stop, sentence_of

REPLACED: tuple[ActionKind, ...] = ("substitute", "rewrite")


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
    kinds = [action.kind for action in actions]
    survivors = [index for index, kind in enumerate(kinds) if kind != "drop"]
    if not survivors:
        return ""
    gaps = [without_idle_marks(gap, kinds) for gap in gap_pieces(answer, claims)]
    begins = _sentence_beginnings(claims)
    first, last = survivors[0], survivors[-1]
    pieces = [opening(gaps[: first + 1], begins[first])] if first else [_as_written(gaps[0])]
    for left, right in pairwise(survivors):
        is_replaced = actions[left].kind in REPLACED or actions[right].kind in REPLACED
        is_clause = begins[right] <= left
        pieces += [
            actions[left].text,
            junction(
                gaps[left + 1 : right + 1],
                None if is_clause else begins[right] - left - 1,
                is_new_sentence=is_clause and _is_separated(actions[left], actions[right]),
                is_replaced=is_replaced,
            ),
        ]
    is_at_end = last == len(claims) - 1
    pieces += [
        actions[last].text,
        _as_written(gaps[-1]) if is_at_end else closing(gaps[last + 1 :]),
    ]
    return "".join(pieces)


def _as_written(gap: Gap) -> str:
    return "".join(piece.text for piece in gap)


def _sentence_beginnings(claims: Sequence[Claim]) -> list[int]:
    """Return for each claim the index of the first claim of its sentence."""
    begins: list[int] = []
    for index, claim in enumerate(claims):
        is_clause = index > 0 and sentence_of(claims[index - 1]) == sentence_of(claim)
        begins.append(begins[-1] if is_clause else index)
    return begins


def _is_separated(left: Action, right: Action) -> bool:
    """Tell whether two clauses of one sentence became sentences of their own."""
    is_replaced = left.kind in REPLACED or right.kind in REPLACED
    return is_replaced or "add_stop" in left.edits or "strip_coordinator" in right.edits


def _check_spans(answer: str, claims: Sequence[Claim]) -> None:
    end = 0
    for claim in claims:
        if claim.start < end or answer[claim.start : claim.end] != claim.text:
            raise AccountingError(f"claim {claim.claim_id} is not an ordered span of its answer")
        end = claim.end


def _fit_sentence(sentence: Sequence[Part], *, arm: Arm) -> list[Action]:
    """Fit the clauses of one sentence to what became of each other."""
    anew = _begin_anew(sentence)
    had_stop = ends_with_stop(sentence[-1].claim.text)
    actions: list[Action] = []
    following: int | None = None  # the next survivor, seen from behind
    for n in reversed(range(len(sentence))):
        part, edits = sentence[n], list[str]()
        text = part.decision.text
        if part.decision.kind == "keep" and anew[n]:
            text, edits = _as_beginning(text, part.claim.coordinator)
        if part.decision.kind != "drop":
            is_changed = n < len(sentence) - 1 or part.decision.kind in REPLACED
            is_end = had_stop and is_changed if following is None else anew[following]
            if is_end and not ends_with_stop(text):
                text, edits = f"{text}.", [*edits, "add_stop"]
            following = n
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
    return actions[::-1]


def _begin_anew(sentence: Sequence[Part]) -> list[bool]:
    """Tell of each clause whether, if it stays, it can no longer continue the one before it."""
    anew = [False]
    has_survivor = sentence[0].decision.kind != "drop"
    for before, part in pairwise(sentence):
        is_replaced = before.decision.kind in REPLACED or part.decision.kind in REPLACED
        lost = before.decision.kind == "drop"
        hangs = part.claim.coordinator is not None or not has_survivor
        anew.append(is_replaced or (lost and hangs))
        has_survivor = has_survivor or part.decision.kind != "drop"
    return anew


def _as_beginning(text: str, coordinator: str | None) -> tuple[str, list[str]]:
    """Turn a clause into a sentence's beginning; say what was done."""
    edits = ["strip_coordinator"] if coordinator else []
    stripped = text[len(coordinator or "") :].lstrip()
    capital = capitalise(stripped)
    return capital, [*edits, "capitalise"] if capital != stripped else edits
