"""Where what stands for the claims goes: the gaps between survivors, indents, numbers."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ragmend.records import Action, Claim
from ragmend.repair.assembling.gaps import (
    Gap,
    closing,
    gap_pieces,
    junction,
    opening,
    without_idle_marks,
)
from ragmend.repair.assembling.numbering import NumberedList, new_numbers, numbered_lists
from ragmend.repair.assembling.outline import Outline, new_indents, read_outline
from ragmend.repair.assembling.sentence_form import is_replaced, sentence_of


class Layout(NamedTuple):
    """How an answer is built, before anything is done to it."""

    claims: Sequence[Claim]
    gaps: Sequence[Gap]
    lists: Sequence[NumberedList]
    outline: Outline


class Stretch(NamedTuple):
    """A claim for which something stands, by index, and what stands before it."""

    before: Gap
    claim: int


class Laid(NamedTuple):
    """A repaired answer in pieces: what stands for the claims, and what stands behind them."""

    stretches: list[Stretch]
    after: Gap


def read_layout(answer: str, claims: Sequence[Claim]) -> Layout:
    """Read how an answer is built from its claims."""
    gaps = gap_pieces(answer, claims)
    lists = numbered_lists(answer, claims, gaps)
    return Layout(claims, gaps, lists, read_outline(claims, gaps, lists))


def lay_out(layout: Layout, actions: Sequence[Action]) -> Laid:
    """Close the gaps around what is gone; numbers stand as in the answer."""
    is_there = [action.text != "" for action in actions]
    is_kept = [action.text != "" and not is_replaced(action) for action in actions]
    survivors = [index for index, there in enumerate(is_there) if there]
    if not survivors:
        return Laid([], ())
    gaps = [without_idle_marks(gap, is_there, is_kept) for gap in layout.gaps]
    begins = _sentence_beginnings(layout.claims)
    indents = new_indents(layout.outline, is_there)
    first, last = survivors[0], survivors[-1]
    before = gaps[0]
    if first:
        before = opening(gaps[: first + 1], begins[first], indent=indents.get(first))
    stretches = [Stretch(before, first)]
    for left, right in pairwise(survivors):
        is_clause = begins[right] <= left
        before = junction(
            gaps[left + 1 : right + 1],
            None if is_clause else begins[right] - left - 1,
            is_new_sentence=is_clause and _is_separated(actions[left], actions[right]),
            is_replaced=is_replaced(actions[left]) or is_replaced(actions[right]),
            indent=indents.get(right),
        )
        stretches.append(Stretch(before, right))
    is_at_end = last == len(layout.claims) - 1
    return Laid(stretches, gaps[-1] if is_at_end else closing(gaps[last + 1 :]))


def count_anew(layout: Layout, laid: Laid, actions: Sequence[Action]) -> dict[int, str]:
    """Return the new number of each list marker that changes, by its offset in the answer."""
    visible = {piece.at for stretch in laid.stretches for piece in stretch.before}
    for one in layout.lists:
        for marker in one.markers:
            action = actions[marker.claim] if marker.is_inside else None
            if action is not None and action.text and not is_replaced(action):
                visible.add(marker.at)
    kept = (action.text for action in actions if not is_replaced(action))
    return new_numbers(layout.lists, frozenset(visible), kept)


def _sentence_beginnings(claims: Sequence[Claim]) -> list[int]:
    """Return for each claim the index of the first claim of its sentence."""
    begins: list[int] = []
    for index, claim in enumerate(claims):
        is_clause = index > 0 and sentence_of(claims[index - 1]) == sentence_of(claim)
        begins.append(begins[-1] if is_clause else index)
    return begins


def _is_separated(left: Action, right: Action) -> bool:
    """Tell whether two clauses of one sentence became sentences of their own."""
    return (
        is_replaced(left)
        or is_replaced(right)
        or "add_stop" in left.edits
        or "strip_coordinator" in right.edits
    )
