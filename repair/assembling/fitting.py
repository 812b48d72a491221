"""Fit what stands for the claims of an answer to what became of the claims around it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ragmend.records import ActionKind, Claim
from ragmend.repair.assembling.connectives import (
    Bond,
    names_other_side,
    without_connective,
    without_one_side,
)
from ragmend.repair.assembling.outline import Line
from ragmend.repair.assembling.sentence_form import (
    capitalise,
    ends_with_stop,
    is_replaced,
    sentence_of,
)
from ragmend.text.words import words


class Part(NamedTuple):
    """One claim, what its arm decided, and the text that stands for it; "" is nothing."""

    claim: Claim
    kind: ActionKind
    text: str
    edits: tuple[str, ...] = ()


class _Earlier(NamedTuple):
    """A sentence that makes a statement: its paragraph, and whether it says what it said."""

    paragraph: int
    is_own: bool


def fit_sentences(parts: Iterable[Part]) -> list[Part]:
    """Mend sentences of which clauses are gone or replaced."""
    return [part for sentence in _sentences(parts) for part in _fit_sentence(sentence)]


def fit_to_neighbours(parts: Sequence[Part], lines: Sequence[Line]) -> list[Part]:
    """Strip connectives from the sentences that have lost what they hang on.

    Args:
        parts: Parts with mended sentences.
        lines: Where each claim stands.
    """
    fitted: list[Part] = []
    earlier: list[_Earlier] = []
    said: set[str] = set()
    own = False
    paragraph = 0
    for sentence in _sentences(parts):
        line = lines[len(fitted)]
        begins_paragraph = line.is_after_blank and not line.marker
        paragraph += begins_paragraph
        first = next((n for n, part in enumerate(sentence) if part.text), None)
        if first is not None and earlier:
            bond = Bond(
                has_neighbour=first == 0 and _has_neighbour(earlier, begins_paragraph),
                has_earlier=own,
                has_any=bool(said),
                begins_paragraph=begins_paragraph,
                said=said,
            )
            sentence[first] = _without_connective(sentence[first], bond)
        fitted += sentence
        if sentence[0].claim.kind in ("statement", "question"):
            standing = [part for part in sentence if part.text]
            is_own = bool(standing) and standing[-1].kind != "substitute"
            earlier.append(_Earlier(paragraph, is_own))
            said.update(word.norm for part in sentence for word in words(part.text))
            own = own or is_own
    return _without_one_side(fitted)


def _sentences(parts: Iterable[Part]) -> Iterator[list[Part]]:
    for _, sentence in groupby(parts, key=lambda part: sentence_of(part.claim)):
        yield list(sentence)


def _fit_sentence(sentence: Sequence[Part]) -> list[Part]:
    """Fit the clauses of one sentence to what became of each other."""
    anew = _begin_anew(sentence)
    had_stop = ends_with_stop(sentence[-1].claim.text)
    fitted: list[Part] = []
    following: int | None = None  # the next survivor, seen from behind
    for n in reversed(range(len(sentence))):
        part = sentence[n]
        if part.text:
            if anew[n] and not is_replaced(part):
                part = _as_beginning(part)
            is_changed = n < len(sentence) - 1 or is_replaced(part)
            is_end = had_stop and is_changed if following is None else anew[following]
            if is_end and not ends_with_stop(part.text):
                part = part._replace(text=f"{part.text}.", edits=(*part.edits, "add_stop"))
            following = n
        fitted.append(part)
    return fitted[::-1]


def _begin_anew(sentence: Sequence[Part]) -> list[bool]:
    """Tell of each clause whether, if it stays, it can no longer continue the one before it."""
    anew = [False]
    has_survivor = sentence[0].text != ""
    for before, part in pairwise(sentence):
        hangs = part.claim.coordinator is not None or not has_survivor
        anew.append(is_replaced(before) or is_replaced(part) or (not before.text and hangs))
        has_survivor = has_survivor or part.text != ""
    return anew


def _as_beginning(part: Part) -> Part:
    """Turn a clause into a sentence's beginning."""
    coordinator = part.claim.coordinator
    edits = ["strip_coordinator"] if coordinator else []
    stripped = part.text[len(coordinator or "") :].lstrip()
    capital = capitalise(stripped)
    edits += ["capitalise"] if capital != stripped else []
    return part._replace(text=capital, edits=tuple(edits))


def _has_neighbour(earlier: Sequence[_Earlier], begins_paragraph: bool) -> bool:
    if not begins_paragraph:
        return earlier[-1].is_own
    above = earlier[-1].paragraph
    return any(one.is_own for one in _last_paragraph(earlier, above))


def _last_paragraph(earlier: Sequence[_Earlier], above: int) -> Iterator[_Earlier]:
    for one in reversed(earlier):
        if one.paragraph != above:
            return
        yield one


def _without_connective(part: Part, bond: Bond) -> Part:
    if part.claim.kind == "heading":
        return part
    if part.kind == "substitute":  # what its source said before it does not stand here
        bond = bond._replace(has_neighbour=False, has_earlier=False, begins_paragraph=False)
    return _stripped(part, without_connective(part.text, bond))


def _without_one_side(parts: list[Part]) -> list[Part]:
    """Strip "On the one hand," where the answer had another side and has it no more."""
    if not any(names_other_side(part.claim.text) for part in parts):
        return parts
    if any(names_other_side(part.text) for part in parts):
        return parts
    return [_stripped(part, without_one_side(part.text)) for part in parts]


def _stripped(part: Part, text: str) -> Part:
    if text == part.text:
        return part
    edits = part.edits if "strip_connective" in part.edits else (*part.edits, "strip_connective")
    return part._replace(text=text, edits=edits)
