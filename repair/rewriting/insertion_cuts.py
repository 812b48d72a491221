"""Brackets and comma phrases within a claim: "Ann (31) was …", "Ann Lee, who is 31, was …"."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ragmend.repair.rewriting.cut import Cut
from ragmend.repair.rewriting.syntax import Syntax, is_participle
from ragmend.repair.rewriting.word_lists import DETERMINERS, LISTINGS, RELATIVES
from ragmend.text.verbs import AUXILIARIES, is_finite

_BRACKET = re.compile(r"(?<=\s)\((?:[^()]|\([^()]*+\))*+\)")


def insertion_cuts(claim: Syntax) -> Iterator[Cut]:
    """Yield the brackets and inserted phrases that a claim can lose."""
    yield from _brackets(claim)
    for first, second in pairwise(claim.commas):
        if second > claim.limit or first <= claim.main or not _resumes(claim, second):
            continue
        if opens_phrase(claim.norms[first]) or _is_apposition(claim, first, second):
            yield Cut(claim.ends(first - 1), claim.starts(second) - 1)


def opens_phrase(norm: str) -> bool:
    """Tell whether a word behind a comma opens a phrase that says something more."""
    return norm in RELATIVES or norm in LISTINGS or is_participle(norm)


def _brackets(claim: Syntax) -> Iterator[Cut]:
    limit = claim.starts(claim.limit) if claim.limit < len(claim.words) else len(claim.text)
    for match in _BRACKET.finditer(claim.text):
        if claim.words and claim.words[0].start < match.start() and match.end() <= limit:
            yield Cut(*match.span())


def _resumes(claim: Syntax, index: int) -> bool:
    """Tell whether the clause that a comma phrase broke into goes on at a word."""
    norms = claim.norms[index : index + 2]
    verb = norms[-1] if norms[0] in ("and", "but") else norms[0]
    return verb in AUXILIARIES or (is_finite(verb) and not verb.endswith("ed"))


def _is_apposition(claim: Syntax, first: int, second: int) -> bool:
    """Tell whether a comma phrase renames the subject: "Ann Lee, a painter, was …"."""
    is_subject = claim.finite >= second and claim.norms[second] in AUXILIARIES
    is_name = claim.text[claim.starts(first - 1)].isupper()
    is_only = not any(claim.main < comma < first for comma in claim.commas)
    return is_subject and is_name and is_only and claim.norms[first] in DETERMINERS
