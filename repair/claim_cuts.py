"""Phrases that a claim can lose and still be a sentence that says no more than before.

Three kinds may go: a bracket; a comma phrase between the subject and its verb, with both its
commas; and the end of the claim, from a phrase on. The rules are conservative, since a rest
that says more than the claim or is no sentence is worse than none:

- nothing goes behind a negation, a universal or a condition: "no student passed in Rome" says
  less than "no student passed";
- an end leaves a finite verb before it, and no word that calls for more ("based", "such");
- a prepositional phrase goes only where what happened stands without it: neither behind an
  adjective ("safe for adults") nor out of a habit ("opens on Sundays").
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from ragmend.repair.cut_words import (
    COMPARISONS,
    COPULAS,
    DETERMINERS,
    LIMITS,
    LISTINGS,
    NARROWING,
    NO_PARTICIPLES,
    PARTICIPLES,
    PAST,
    PREPOSITIONS,
    RELATIVES,
    SAFE_BEHIND_A_VERB,
    SAFE_IN_THE_PRESENT,
    UNFINISHED,
)
from ragmend.text.delimiters import paired_marks
from ragmend.text.verbs import AUXILIARIES, is_finite
from ragmend.text.words import Word, is_negation, words

MIN_WORDS = 4  # a shorter rest is hardly a statement
LOOK_BACK = 7  # how far before a phrase its predicate is looked for
STOPS = " .!?…"

_BRACKET = re.compile(r"\([^()]*+\)")
_COMMA = re.compile(r"\s*+,\s++")
_NEVER = 10**9  # an index that no claim reaches


class Cuts(NamedTuple):
    """What may go: whole phrases, and positions from which on everything may.

    Attributes:
        phrases: Brackets and comma phrases as ordered, disjoint spans.
        ends: Where an end that may go starts, in order.
        stop: Where every end stops: before the full stop.
    """

    phrases: tuple[tuple[int, int], ...]
    ends: tuple[int, ...]
    stop: int


class _Claim(NamedTuple):
    """A claim's words, and by index where those stand that decide about cuts."""

    text: str
    words: tuple[Word, ...]
    norms: list[str]
    after_comma: list[int]
    first_limit: int
    first_comparison: int
    first_finite: int
    first_past: int
    last_auxiliary: int


def cuts_of(text: str) -> Cuts:
    """Return what a claim can lose; takes linear time."""
    claim = _read(text)
    depth = _depths(text)
    phrases: list[tuple[int, int]] = []
    for start, end in sorted([*_brackets(claim), *_insertions(claim)]):
        if not phrases or start >= phrases[-1][1]:
            phrases.append((start, end))
    ends = [claim.words[index - 1].end for index in _ends(claim)]
    return Cuts(
        tuple(phrases),
        tuple(end for end in ends if not depth[end]),
        len(text.rstrip(STOPS)),
    )


def _read(text: str) -> _Claim:
    found = words(text)
    norms = ["a month" if text[w.start : w.end] == "May" else w.norm for w in found]  # no modal
    gaps = (text[left.end : right.start] for left, right in pairwise(found))
    return _Claim(
        text=text,
        words=found,
        norms=norms,
        after_comma=[at for at, gap in enumerate(gaps, start=1) if _COMMA.fullmatch(gap)],
        first_limit=_first(norm in LIMITS or is_negation(norm) for norm in norms),
        first_comparison=_first(norm in COMPARISONS for norm in norms),
        first_finite=_first(map(is_finite, norms)),
        first_past=_first(_is_past(*pair) for pair in pairwise(["", *norms])),
        last_auxiliary=max((at for at, norm in enumerate(norms) if norm in AUXILIARIES), default=0),
    )


def _first(marks: Iterable[bool]) -> int:
    return next((index for index, mark in enumerate(marks) if mark), _NEVER)


def _is_past(before: str, norm: str) -> bool:
    is_adjective = before in ("is", "are", "be") or before in DETERMINERS
    return norm in PAST or (norm.endswith("ed") and len(norm) > 4 and not is_adjective)


def _depths(text: str) -> list[int]:
    """Return how many brackets, quotes and emphasis marks are open at each position."""
    change = [0] * (len(text) + 1)
    for start, end in paired_marks(text).items():
        change[start + 1] += 1
        change[end] -= 1
    depths, depth = [], 0
    for step in change:
        depth += step
        depths.append(depth)
    return depths


def _brackets(claim: _Claim) -> Iterator[tuple[int, int]]:
    limit = _position(claim, claim.first_limit)
    for match in _BRACKET.finditer(claim.text):
        if claim.words[0].start < match.start() and match.end() <= limit:
            yield match.span()


def _insertions(claim: _Claim) -> Iterator[tuple[int, int]]:
    """Yield the comma phrase between subject and verb: "Ann Lee, who is 31, was …"."""
    if len(claim.after_comma) < 2:
        return
    first, second = claim.after_comma[:2]
    is_phrase = _opens_phrase(claim.norms[first]) or claim.norms[first] in LISTINGS
    is_inner = first <= claim.first_finite and second <= claim.first_limit
    if is_phrase and is_inner and claim.norms[second] in AUXILIARIES:
        yield claim.words[first - 1].end, claim.words[second].start - 1


def _ends(claim: _Claim) -> Iterator[int]:
    """Yield the words with which an end may go begins."""
    commas = set(claim.after_comma)
    last_comma = claim.after_comma[-1] if claim.after_comma else 0
    for index in range(max(MIN_WORDS, claim.first_finite + 1), len(claim.words)):
        if index > claim.first_limit or claim.norms[index - 1] in UNFINISHED:
            continue
        if index in commas:
            is_end = _is_comma_end(claim, index, last_comma)
        else:
            is_end = last_comma <= index and _is_prepositional_end(claim, index)
        if is_end:
            yield index


def _is_comma_end(claim: _Claim, index: int, last_comma: int) -> bool:
    """Tell whether a comma phrase runs from a word to the end of the claim."""
    norm = claim.norms[index]
    if norm in LISTINGS or claim.norms[index : index + 3] == ["as", "well", "as"]:
        return index > claim.last_auxiliary and claim.first_limit == _NEVER
    if norm in ("and", "or"):  # behind one more comma it would leave a list without its end
        return claim.after_comma == [index]
    return index == last_comma and _opens_phrase(norm)


def _opens_phrase(norm: str) -> bool:
    is_participle = norm.endswith("ing") and len(norm) > 4 and norm not in NO_PARTICIPLES
    return norm in RELATIVES or norm in PARTICIPLES or is_participle


def _is_prepositional_end(claim: _Claim, index: int) -> bool:
    """Tell whether a prepositional phrase runs to the end, and what happened stands without it."""
    norm = claim.norms[index]
    following = claim.norms[index + 1 : index + 2]
    gap = claim.text[claim.words[index - 1].end : claim.words[index].start]
    if norm not in PREPOSITIONS or not gap.isspace() or not following:
        return False
    is_narrow = claim.first_limit < _NEVER or claim.first_comparison < index
    if is_narrow or index <= claim.last_auxiliary or following[0] in NARROWING:
        return False
    before = claim.norms[max(0, index - LOOK_BACK) : index]
    is_said_of_all = norm in SAFE_IN_THE_PRESENT or claim.first_past < index
    return is_said_of_all and not _continues(before, norm) and _stands_alone(before, norm)


def _continues(before: list[str], preposition: str) -> bool:
    """Tell whether the word before wants the phrase, or it has a twin: "for a and for b"."""
    last = before[-1]
    if last.endswith(("ing", "ly")) or ("and" in before and preposition in before):
        return True
    return before[-2] == "to" and preposition not in SAFE_BEHIND_A_VERB


def _stands_alone(before: list[str], preposition: str) -> bool:
    """Tell whether a predicate is whole without the phrase behind it."""
    copula = max((at for at, norm in enumerate(before) if norm in COPULAS), default=None)
    if copula is None:
        return not is_finite(before[-1]) or preposition in SAFE_BEHIND_A_VERB
    predicate = [norm for norm in before[copula + 1 :] if not norm.endswith("ly")]
    if not predicate or not DETERMINERS.isdisjoint(predicate):
        return bool(predicate)
    is_event = before[copula] in ("was", "were", "been", "being")
    return is_event and (predicate[0].endswith(("ed", "ing")) or predicate[0] in PAST)


def _position(claim: _Claim, index: int) -> int:
    return claim.words[index].start if index < len(claim.words) else len(claim.text)
