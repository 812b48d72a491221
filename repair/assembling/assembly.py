"""Put an answer together again from what became of its claims; pure and read-only.

An answer is claims with gaps between them. What stays is copied to the letter; where claims
go, what hung on them is mended, in this order, and each mending is named in the action:

1. a heading or lead-in with nothing left under it goes; one that the arm drops while something
   stands under it stays, for without it that would mean something else (`assembling.outline`);
2. a clause that loses the one before it loses its coordinator and gains a capital; a sentence
   that loses its end gains a stop (`assembling.fitting`);
3. a sentence that loses the one before it loses its connective (`assembling.connectives`);
4. the gaps around what went are closed (`assembling.gaps`);
5. a numbered list is counted anew (`assembling.numbering`).

The kind of an action is always what the arm decided: a supported heading that goes with its
content is a `keep` of which nothing stands, an unsupported one that stays a `drop` of which all
stands.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragmend.errors import AccountingError
from ragmend.records import Action, Arm, Claim
from ragmend.repair.arms import Decision
from ragmend.repair.assembling.fitting import Part, fit_sentences, fit_to_neighbours
from ragmend.repair.assembling.gaps import gap_text
from ragmend.repair.assembling.layout import Laid, Layout, count_anew, lay_out, read_layout
from ragmend.repair.assembling.numbering import leading_number
from ragmend.repair.assembling.outline import Outline, heads_over_content, heads_without_content


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
    parts = [Part(claim, d.kind, d.text) for claim, d in zip(claims, decisions, strict=True)]
    if all(part.kind == "keep" for part in parts):
        return Assembled(answer, tuple(_as_action(part, arm) for part in parts))
    layout = read_layout(answer, claims)
    parts = fit_sentences(_with_heads_settled(parts, layout.outline))
    parts = fit_to_neighbours(parts, layout.outline.lines)
    uncounted = [_as_action(part, arm) for part in parts]
    laid = lay_out(layout, uncounted)
    numbers = count_anew(layout, laid, uncounted)
    actions = _counted(layout, laid, numbers, uncounted)
    return Assembled(_text_of(laid, numbers, actions), actions)


def reconstruct(answer: str, claims: Sequence[Claim], actions: Sequence[Action]) -> str:
    """Rebuild a repaired text from recorded actions alone.

    Raises:
        AccountingError: The actions are not about these claims, in this order.
    """
    if [claim.claim_id for claim in claims] != [action.claim_id for action in actions]:
        raise AccountingError("the actions are not about the claims of this answer")
    if all(action.kind == "keep" and action.text for action in actions):
        return answer
    layout = read_layout(answer, claims)
    laid = lay_out(layout, actions)
    return _text_of(laid, count_anew(layout, laid, actions), actions)


def _check_spans(answer: str, claims: Sequence[Claim]) -> None:
    end = 0
    for claim in claims:
        if claim.start < end or answer[claim.start : claim.end] != claim.text:
            raise AccountingError(f"claim {claim.claim_id} is not an ordered span of its answer")
        end = claim.end


def _with_heads_settled(parts: Sequence[Part], outline: Outline) -> list[Part]:
    """Take out the headings over nothing; put back those that went but have content."""
    is_there = [part.text != "" for part in parts]
    empty = heads_without_content(outline, is_there)
    left = list(parts)
    for n in sorted(empty):
        if is_there[n]:
            left[n] = left[n]._replace(text="", edits=("drop_without_content",))
    for n in sorted(heads_over_content(outline, is_there)):
        if not is_there[n]:
            left[n] = left[n]._replace(text=left[n].claim.text, edits=("keep_head",))
    return left


def _as_action(part: Part, arm: Arm) -> Action:
    return Action(
        record_id=part.claim.record_id,
        claim_id=part.claim.claim_id,
        arm=arm,
        kind=part.kind,
        text=part.text,
        edits=part.edits,
    )


def _counted(
    layout: Layout, laid: Laid, numbers: Mapping[int, str], actions: Sequence[Action]
) -> tuple[Action, ...]:
    """Name the claims whose list numbers change, and change those inside their texts."""
    counted = list(actions)
    if not numbers:
        return tuple(counted)
    for before, index in laid.stretches:
        if any(piece.at in numbers for piece in before):
            counted[index] = _renumbered(counted[index], counted[index].text)
    for marker in (marker for one in layout.lists for marker in one.markers):
        if marker.is_inside and marker.at in numbers:
            text = _with_number(counted[marker.claim].text, numbers[marker.at])
            counted[marker.claim] = _renumbered(counted[marker.claim], text)
    return tuple(counted)


def _with_number(text: str, number: str) -> str:
    own = leading_number(text)
    return text if own is None else text[: own.start] + number + text[own.end :]


def _renumbered(action: Action, text: str) -> Action:
    edits = action.edits if "renumber" in action.edits else (*action.edits, "renumber")
    return action.model_copy(update={"text": text, "edits": edits})


def _text_of(laid: Laid, numbers: Mapping[int, str], actions: Sequence[Action]) -> str:
    """Write out a repaired answer; only recorded numbers change."""
    pieces: list[str] = []
    for before, index in laid.stretches:
        is_counted = numbers and "renumber" in actions[index].edits
        pieces += [
            numbers.get(piece.at, piece.text) if is_counted else piece.text for piece in before
        ]
        pieces.append(actions[index].text)
    return "".join([*pieces, gap_text(laid.after)])
