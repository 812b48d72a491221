"""A claim's words and the few places in it that decide where it may be cut.

There is no parser here: the main clause, its verb and the words that limit what is said are
seen in closed lists (`ragmend.repair.rewriting.word_lists`). What the lists do not know is not cut.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from ragmend.repair.rewriting.word_lists import (
    ADJECTIVES,
    COMPARISONS,
    CONDITIONS,
    CONNECTIVES,
    DETERMINERS,
    IMPERATIVES,
    LEADS,
    LIMITS,
    NO_ADJECTIVES,
    NO_PARTICIPLES,
    NO_PASTS,
    NO_SUBJECTS,
    PARTICIPLES,
    PAST,
)
from ragmend.text.delimiters import paired_marks
from ragmend.text.verbs import AUXILIARIES, is_finite
from ragmend.text.words import Word, is_negation, words

STOPS = " .!?…"
NEVER = 10**9  # an index that no claim reaches

_COMMA = re.compile(r"\s*+,\s++")
_BLANK = re.compile(r"[ \u00a0]++")
_POINTER = re.compile(r"\((?:see |from |source: )?(?:passage|source)s?\b[^()]*\)", re.IGNORECASE)
_BE = frozenset({"be", "been", "being"})  # a participle follows
_LABEL = 8  # a label before a colon is no longer
_ADJECTIVE = re.compile(r".{2,}(?:ful|ous|ive|able|ible|less)")


class Syntax(NamedTuple):
    """A claim's words, and by index where those stand that decide about cuts.

    Attributes:
        text: The claim.
        words: Its words.
        norms: Their normal forms; the month of May is no modal verb.
        commas: The words behind a comma.
        is_blank: Whether nothing but a blank stands before each word.
        depths: How many brackets, quotes and emphasis marks are open at each position.
        lead: Where the adverbial before the main clause begins; equal to `main` if there is none.
        main: Where the main clause begins.
        finite: Its verb.
        is_imperative: Whether the main clause is a request.
        limit: The first negation, quantifier or condition, unless it opens a condition before
            the main clause: what follows from one may say less.
        comparison: The first word behind which a phrase narrows what is said.
        past: The first verb of the past.
        last_auxiliary: The last auxiliary.
        stop: Where the claim ends, before its full stop.
    """

    text: str
    words: tuple[Word, ...]
    norms: list[str]
    commas: list[int]
    is_blank: list[bool]
    depths: list[int]
    lead: int
    main: int
    finite: int
    is_imperative: bool
    limit: int
    comparison: int
    past: int
    last_auxiliary: int
    stop: int

    @property
    def is_conditional(self) -> bool:
        """Whether a condition stands before the main clause."""
        return self.lead < self.main and self.norms[self.lead] in CONDITIONS

    def starts(self, index: int) -> int:
        """Return where a word starts; the end of the claim behind the last word."""
        return self.words[index].start if index < len(self.words) else self.stop

    def ends(self, index: int) -> int:
        """Return where a word ends."""
        return self.words[index].end


def read_claim(text: str) -> Syntax:
    """Read a claim; takes linear time."""
    found = words(text)
    norms = ["a month" if text[w.start : w.end] == "May" else w.norm for w in found]
    gaps = ["", *(text[left.end : right.start] for left, right in pairwise(found))]
    commas = [at for at, gap in enumerate(gaps) if _COMMA.fullmatch(gap)]
    lead, main = _main_clause(norms, gaps, commas)
    is_request = is_imperative(norms[main:])
    return Syntax(
        text=text,
        words=found,
        norms=norms,
        commas=commas,
        is_blank=[bool(_BLANK.fullmatch(gap)) for gap in gaps],
        depths=_depths(text),
        lead=lead,
        main=main,
        finite=main if is_request else _first(map(_is_verb, norms, ["", *norms]), main + 1),
        is_imperative=is_request,
        limit=_first(
            (norm in LIMITS or is_negation(norm) for norm in norms),
            main if lead < main and norms[lead] in CONDITIONS else 0,
        ),
        comparison=_first((norm in COMPARISONS for norm in norms), 0),
        past=_first((_is_past(*pair) for pair in pairwise(["", *norms])), 0),
        last_auxiliary=max((at for at, norm in enumerate(norms) if norm in AUXILIARIES), default=0),
        stop=_stop(text),
    )


def is_imperative(norms: list[str]) -> bool:
    """Tell whether a clause is a request: it begins with a verb, and no auxiliary follows."""
    return IMPERATIVES.issuperset(norms[:1]) and AUXILIARIES.isdisjoint(norms[1:3])


def is_adjective(norm: str) -> bool:
    """Tell whether a word is an adjective, as far as a list and a few endings can tell."""
    return norm in ADJECTIVES or (norm not in NO_ADJECTIVES and bool(_ADJECTIVE.fullmatch(norm)))


def is_participle(norm: str) -> bool:
    """Tell whether a word can begin a participial phrase: "making it …", "located in …"."""
    is_present = norm.endswith("ing") and len(norm) > 4 and norm not in NO_PARTICIPLES
    return norm in PARTICIPLES or is_present


def is_plural(norm: str) -> bool:
    """Tell whether a noun is a plural by its ending."""
    return norm.endswith("s") and not norm.endswith(("ss", "us", "is")) and len(norm) > 3


def _is_verb(norm: str, before: str) -> bool:
    return is_finite(norm) and norm not in NO_PASTS and before not in _BE


def _first(marks: Iterable[bool], start: int) -> int:
    return next((index for index, mark in enumerate(marks) if mark and index >= start), NEVER)


def _main_clause(norms: list[str], gaps: list[str], commas: list[int]) -> tuple[int, int]:
    """Return where the adverbial before the main clause begins, and where the clause does."""
    labels = [at for at, gap in enumerate(gaps[:_LABEL]) if ":" in gap]
    lead = main = labels[-1] if labels else 0
    for comma in commas:
        if comma <= main:
            continue
        if norms[main] in CONNECTIVES and comma == main + 1:
            lead = main = comma
        elif lead == main and (norms[main] in LEADS or is_participle(norms[main])):
            if norms[comma] in NO_SUBJECTS or is_finite(norms[comma]):
                break
            main = comma
        else:
            break
    return lead, main


def _is_past(before: str, norm: str) -> bool:
    is_attribute = before in ("is", "are", "be") or before in DETERMINERS
    return norm in PAST or (norm.endswith("ed") and len(norm) > 4 and not is_attribute)


def _stop(text: str) -> int:
    """Return where a claim ends: before its full stop, and before a pointer to its passage."""
    end = len(text.rstrip(STOPS))
    opening = text.rfind("(", 0, end)
    is_pointer = text[end - 1 : end] == ")" and _POINTER.match(text, opening)
    return len(text[:opening].rstrip(STOPS)) if is_pointer else end


def _depths(text: str) -> list[int]:
    change = [0] * (len(text) + 1)
    for start, end in paired_marks(text).items():
        change[start + 1] += 1
        change[end] -= 1
    depths, depth = [], 0
    for step in change:
        depth += step
        depths.append(depth)
    return depths
