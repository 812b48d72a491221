"""Items of a list: "pasta, rice, and soups" can lose one, "casual and classy" too.

A list of three or more keeps its kind whatever goes; of two, the rest must stand for itself
and agree with its verb.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from ragmend.repair.rewriting.cut import Cut, Edit
from ragmend.repair.rewriting.insertion_cuts import opens_phrase
from ragmend.repair.rewriting.syntax import NEVER, Syntax, is_adjective, is_plural
from ragmend.repair.rewriting.word_lists import (
    ASIDES,
    COPULAS,
    DETERMINERS,
    HANGING,
    IMPERATIVES,
    LISTINGS,
    MODALS,
    PAIRING,
    PAST,
    PREPOSITIONS,
    SINGULAR_OF,
    UNFINISHED,
)
from ragmend.text.quantities.numbers import SPELLED_NUMBERS
from ragmend.text.verbs import AUXILIARIES, is_finite

LONGEST_ITEM = 6
LONGEST_OBJECT = 4
LOOK_BACK = 5
_CLAUSE_WORDS = AUXILIARIES | HANGING | {"and", "or", "but", "to"}
_PHRASE_OPENERS = PREPOSITIONS | ASIDES
_COMPARATIVES = frozenset(
    "better bigger cheaper cleaner cooler easier faster fresher gentler healthier higher larger "
    "lighter longer lower newer older shorter slower smaller softer stronger warmer weaker wider "
    "worse younger".split()
)
_OF_BOTH = frozenset(
    "alike both each other respectively their them themselves they together".split()
)
_NO_NOUN = (
    PREPOSITIONS
    | AUXILIARIES
    | HANGING
    | frozenset("and or but of to as by into from out up i you he she it we they them him".split())
)


class _Items(NamedTuple):
    """The items of a list behind its first: each from a word to the next; then the joint."""

    inner: list[tuple[int, int]]
    joint: int


def list_cuts(claim: Syntax) -> Iterator[Cut]:
    """Yield the items that a claim's lists can lose; one without a verb says nothing."""
    if claim.finite == NEVER:
        return
    for joint, norm in enumerate(claim.norms[:-1]):
        if norm != "and" or joint > claim.limit or joint <= claim.main:
            continue
        inner = _inner_items(claim, joint)
        if inner:
            yield from _series_cuts(claim, _Items(inner, joint))
        elif claim.is_blank[joint] and claim.is_blank[joint + 1]:
            yield from _pair_cuts(claim, joint)


def _inner_items(claim: Syntax, joint: int) -> list[tuple[int, int]]:
    """Return the items between the first comma of a list and its "and"; [] if it is none."""
    commas = [comma for comma in claim.commas if claim.main < comma < joint]
    is_oxford = joint in claim.commas
    items: list[tuple[int, int]] = []
    end = joint
    for comma in reversed(commas):
        if not _is_item(claim, comma, end):
            break
        items.insert(0, (comma, end))
        end = comma
    if not items:
        return []
    ends = (items[0][0], *(stop for _, stop in items))
    n_attributes = sum(_is_attribute(claim.norms[end - 1]) for end in ends)
    is_list = n_attributes == 0 or (is_oxford and n_attributes == len(items) + 1)
    return items if is_list else []


def _is_attribute(norm: str) -> bool:
    """Tell whether a word stands before a noun: "smaller, gentler bites" is no list of nouns."""
    return is_adjective(norm) or norm.endswith("est") or norm in _COMPARATIVES


def _is_item(claim: Syntax, start: int, end: int) -> bool:
    """Tell whether words are one item of a list: few, and no clause."""
    norms = claim.norms[start:end]
    is_short = 0 < len(norms) <= LONGEST_ITEM and _CLAUSE_WORDS.isdisjoint(norms)
    is_phrase = opens_phrase(norms[0]) or norms[0] in _PHRASE_OPENERS or norms[0].endswith("ed")
    return is_short and not is_phrase


def _series_cuts(claim: Syntax, items: _Items) -> Iterator[Cut]:
    if _is_counted(claim, items):
        return
    joint = items.joint
    if any(comma > joint and claim.norms[comma] in LISTINGS for comma in claim.commas):
        return  # "beer, wine, and cocktails, including …": the examples are of one of them
    for start, end in items.inner:
        if len(items.inner) == 1:
            yield Cut(claim.ends(start - 1), claim.starts(joint), put=" ")
        else:
            yield Cut(claim.ends(start - 1), claim.ends(end - 1))
    if not _ends_claim(claim, joint + 1) or _shares_noun(claim, items):
        return
    last = items.inner[-1][0]
    gap = Edit(claim.ends(last - 1), claim.starts(last), " and ")
    if len(items.inner) > 1:
        gap = Edit(claim.starts(last), claim.starts(last), "and ")
    yield Cut(claim.ends(joint - 1), claim.stop, also=(gap,))


def _is_counted(claim: Syntax, items: _Items) -> bool:
    """Tell whether a number or pairing word before a list speaks of all its items."""
    first = items.inner[0][0]
    before = claim.norms[claim.main : first]
    n_items = str(len(items.inner) + 2)
    return n_items in before or not (SPELLED_NUMBERS | PAIRING).isdisjoint(before)


def _ends_claim(claim: Syntax, start: int) -> bool:
    """Tell whether an item runs to the end of the claim."""
    norms = claim.norms[start:]
    is_short = 0 < len(norms) <= LONGEST_ITEM and all(claim.is_blank[start + 1 :])
    return is_short and claim.limit == NEVER and (_CLAUSE_WORDS | PREPOSITIONS).isdisjoint(norms)


def _shares_noun(claim: Syntax, items: _Items) -> bool:
    """Tell whether the last noun is that of all items: "Asian, Poke, and Seafood dishes"."""
    lasts = [stop - 1 for _, stop in items.inner] + [items.inner[0][0] - 1]
    is_named = any(claim.text[claim.starts(at)].isupper() for at in lasts)
    is_long = items.joint + 2 < len(claim.words)
    return is_named and is_long and not claim.text[claim.words[-1].start].isupper()


def _pair_cuts(claim: Syntax, joint: int) -> Iterator[Cut]:
    before = claim.norms[max(claim.main, joint - LOOK_BACK) : joint]
    if not (PAIRING | SPELLED_NUMBERS).isdisjoint(before):
        return
    left, right = claim.norms[joint - 1], claim.norms[joint + 1]
    if is_adjective(left) and is_adjective(right):
        yield Cut(claim.ends(joint - 1), claim.ends(joint + 1))
        if not claim.norms[joint - 2].endswith("ly") and claim.is_blank[joint - 1]:
            yield Cut(claim.starts(joint - 1), claim.starts(joint + 1))
    elif joint > claim.finite + 1:
        yield from _object_cut(claim, joint)
    elif joint < claim.finite:
        yield from _subject_cuts(claim, joint)


def _object_cut(claim: Syntax, joint: int) -> Iterator[Cut]:
    """Yield the second of two nouns behind the verb, if it is seen where it ends."""
    left = claim.norms[joint - 1]
    if is_adjective(left) or left in UNFINISHED or is_finite(left) or left.endswith(("ing", "ly")):
        return
    end = joint + 2
    while end < len(claim.norms) and claim.is_blank[end]:
        end += 1
    item = claim.norms[joint + 1 : end]
    is_whole = len(item) == 1 or item[0] in DETERMINERS or is_adjective(item[0]) or is_plural(left)
    if is_whole and len(item) <= LONGEST_OBJECT and _is_noun_phrase(claim, item):
        yield Cut(claim.ends(joint - 1), claim.ends(end - 1))


def _is_noun_phrase(claim: Syntax, item: list[str]) -> bool:
    """Tell whether words are a noun with what stands before it, and no verb with its object."""
    is_verb = claim.is_imperative and item[0] in IMPERATIVES
    is_clause = any(norm in _NO_NOUN or is_finite(norm) for norm in item)
    return not is_verb and not is_clause and DETERMINERS.isdisjoint(item[1:])


def _subject_cuts(claim: Syntax, joint: int) -> Iterator[Cut]:
    """Yield both nouns of a subject; the verb of one reads otherwise than that of two."""
    left, right = claim.norms[claim.main : joint], claim.norms[joint + 1 : claim.finite]
    nouns = [*left, *right]
    verb = claim.norms[claim.finite]
    if verb not in AUXILIARIES and verb not in PAST:
        return  # it may be a participle of the second noun
    if not right or len(nouns) > 2 * LONGEST_ITEM or not _NO_NOUN.isdisjoint(nouns):
        return
    if not _OF_BOTH.isdisjoint(claim.norms[claim.finite :]):
        return
    sides = [(left, Cut(claim.ends(joint - 1), claim.ends(claim.finite - 1)))]
    if right[0] in DETERMINERS or left[0] not in DETERMINERS:  # else the rest loses its article
        sides.append((right, Cut(claim.starts(claim.main), claim.starts(joint + 1))))
    for item, cut in sides:
        if not is_adjective(item[-1]) and item[-1] not in UNFINISHED:
            yield from _agreeing(claim, item, cut)


def _agreeing(claim: Syntax, subject: list[str], cut: Cut) -> Iterator[Cut]:
    """Yield a cut that leaves one subject, with the verb that it wants."""
    verb = claim.words[claim.finite]
    if is_plural(subject[-1]) or _is_same_for_all(verb.norm):
        yield cut
    elif verb.norm in SINGULAR_OF and not _names_several(claim):
        yield cut._replace(also=(Edit(verb.start, verb.end, SINGULAR_OF[verb.norm]),))


def _names_several(claim: Syntax) -> bool:
    """Tell whether a plural stands behind "are" or "were": "Ann and Bob are students"."""
    predicate = takewhile(lambda norm: norm not in PREPOSITIONS, claim.norms[claim.finite + 1 :])
    return claim.norms[claim.finite] in COPULAS and any(map(is_plural, predicate))


def _is_same_for_all(verb: str) -> bool:
    """Tell whether a verb reads the same with one subject as with two."""
    return verb in MODALS or verb in PAST - {"were"}
