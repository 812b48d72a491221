"""Names in short: initials ("J. K. Rowling"), dotted acronyms ("U.S.") and "WHO".

An acronym says nothing that its name in full does not, so "WHO" is stated by "World Health
Organization"; the name in full says more than the acronym and is not stated by it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ragmend.text.names import NameSpan, name_stem, names
from ragmend.text.words import STOP_WORDS, Word, words

_DOTTED = re.compile(
    r"(?<![\w.])(?P<letters>[A-Z]\.(?: [A-Z]\.)+|(?:[A-Z]\.)+(?:[A-Z](?!\w))?)"
    r"(?:(?= ?(?P<following>[A-Z][^\W\d_]+))|)"
)
# Acronyms that are words in small letters, between words that are not in capitals.
_WORDLIKE = re.compile(
    r"(?<![\w.'’-])(?<![A-Z] )(?P<letters>WHO|US)(?![\w-]|\.\w| [A-Z]{2,} [A-Z]{2})"
)
_NO_NAMES = frozenset({"am", "pm"})
_LONGEST = 8  # words of one name; a longer run is a headline


class ShortName(NamedTuple):
    """One name in short.

    Attributes:
        start: First code point.
        end: One past the last.
        letters: Its letters, small, without points: "jk", "us".
        following: The stem of the name that it stands before, "" if none does.
    """

    start: int
    end: int
    letters: str
    following: str


class Abbreviations(NamedTuple):
    """What a source's names read in short.

    Attributes:
        acronyms: Letters of what it writes in short or in full: "us" of "United States".
        before: Letters and the stem of the word behind: ("jk", "rowl").
    """

    acronyms: frozenset[str]
    before: frozenset[tuple[str, str]]

    def state(self, short: ShortName) -> bool:
        """Tell whether a name in short stands in the source, in short or in full."""
        return (short.letters, short.following) in self.before or short.letters in self.acronyms


def short_names(text: str) -> Iterator[ShortName]:
    """Yield the names in short of a text, in order.

    A single letter counts before a capitalised word only: "J. Rowling", not "vitamin C."
    """
    for match in _DOTTED.finditer(text):
        letters = match["letters"].replace(".", "").replace(" ", "").lower()
        following = _stem_of_name(match["following"])
        if letters not in _NO_NAMES and (following or len(letters) > 1):
            yield ShortName(*match.span("letters"), letters, following)
    for match in _WORDLIKE.finditer(text):
        yield ShortName(*match.span(), match["letters"].lower(), "")


def read_abbreviations(parts: Iterable[tuple[str, Sequence[Word]]]) -> Abbreviations:
    """Read what the texts of a source, each with its words, have in short or could have."""
    acronyms: set[str] = set()
    before: set[tuple[str, str]] = set()
    for text, found in parts:
        for short in short_names(text):
            acronyms.add(short.letters)
            before.update((short.letters[at:], short.following) for at in range(len(short.letters)))
        for name in names(text, found=found):
            acronyms.update(name.capitals)
            acronyms.update(_with_small_words(text, name))
            initials = list(_before(name))
            before.update(initials)
            acronyms.update(letters for letters, _ in initials)
    longer = frozenset(letters for letters in acronyms if len(letters) > 1)
    return Abbreviations(longer, frozenset(before))


def _before(name: NameSpan) -> Iterator[tuple[str, str]]:
    """Yield initials of neighbouring words of a name, each with the stem of the word behind."""
    listed = name.words[:_LONGEST]
    stems = [*(name_stem(word) for word in listed), ""]
    for first, last in combinations(range(len(listed) + 1), 2):
        yield "".join(word.norm[0] for word in listed[first:last]), stems[last]
    for word, stem in zip(listed, stems[1:], strict=True):
        if word.norm in name.capitals:
            yield word.norm, stem


def _with_small_words(text: str, name: NameSpan) -> Iterator[str]:
    """Yield the initials of a name from each of its words on, with "of" and "the" in it."""
    for first in name.words[-_LONGEST:]:
        yield "".join(word.norm[0] for word in words(text[first.start : name.end]))


def _stem_of_name(written: str | None) -> str:
    """Return the stem of a word behind initials, "" where a sentence begins with it."""
    found = words(written or "")
    return name_stem(found[0]) if found and found[0].norm not in STOP_WORDS else ""
