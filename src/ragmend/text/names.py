"""Names: runs of capitalised words, with exact spans.

A sentence begins with a capital whatever its first word is, so a capital there proves
nothing by itself: such a word counts only with other evidence (see `names`).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmend.text.quantities.dates import SURNAME_MONTH
from ragmend.text.words import ATTRIBUTION_WORDS, NEGATIONS, STOP_WORDS, Word, stem, words

# What may stand between two capitalised words of one name: a blank, "&", "-", or a small word.
_JOIN = re.compile(r"[ \u00a0]|[-'’/]|[ \u00a0]?&[ \u00a0]?|\.[ \u00a0]?")
_MIDDLE_INITIALS = re.compile(r" (?:[A-Z]\. ?){1,3}")  # "John F. Kennedy"
_SMALL_JOINS = frozenset({"of", "the", "de", "la", "del", "von", "van", "der", "du", "al", "bin"})
# What precedes a sentence's first word: nothing, a line break, or a terminator or bullet,
# then blanks, quotes, brackets, emphasis and list numbers.
_SENTENCE_START = re.compile(
    r"(?:^|\n|[.!?:;•…。！？]|(?:^|\n)[ \t]*\(?\d{1,2}[.)])[\s\"'“”‘’(\[*#_>•–—-]*$"
)
_TITLES = "Mr|Mrs|Ms|Dr|Prof|St|Sen|Rep|Gov|Gen|Jr"
_TITLE_BEFORE = re.compile(rf"\b(?:[A-Z]|{_TITLES})\. $")
_TITLE_NORMS = frozenset(_TITLES.lower().split("|"))
# Titles in short and in full are one title.
_TITLES_IN_FULL = {
    "dr": "doctor", "prof": "professor", "sen": "senator", "rep": "representative",
    "gov": "governor", "gen": "general", "jr": "junior", "mt": "mount",
}  # fmt: skip
# Names that a capital does not tell: "iPhone", "eBay", "iOS"; "Theresa May"; "World War I",
# "Charles V", where "When I" is no name.
_OTHER_NAMES = re.compile(
    r"(?<!\w)(?:(?P<brand>[a-z]{1,2}[A-Z][a-z]{2,}|[ei][A-Z]\w+)(?!\w)|(?=[A-Z])(?:"
    rf"{SURNAME_MONTH}|[A-Z][a-z]+ (?P<numeral>[VX])(?![\w.'’])"
    r"|(?:War|Part|Act|Type|Class|Phase|Chapter|Volume|Book|Title) (?P<one>I)(?![\w.'’])))"
)
_COURTESIES = frozenset({"Mr", "Mrs", "Ms", "Mx"})  # they name nobody, and bind to nothing
_LOOK_BACK = 16
_NUMBER_WORDS = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|[ap]m|fahrenheit|celsius)"
)


class NameSpan(NamedTuple):
    """One name: `text[start:end]` and its words, small joining words left out.

    Attributes:
        start: First code point.
        end: One past the last.
        words: The capitalised words, without "Mr" and "Mrs".
        capitals: The norms of those that are written in capitals alone: "CDC".
    """

    start: int
    end: int
    words: tuple[Word, ...]
    capitals: frozenset[str] = frozenset()


def names(text: str, *, found: Sequence[Word] | None = None) -> tuple[NameSpan, ...]:
    """Return the names in a text, in order, with exact code-point spans.

    The first word of a sentence is part of a name only if it is no stop word and either
    has a further capital or digit ("CDC", "McDonald"), or is followed by a capitalised word
    ("Paul Kruse said"), or is capitalised elsewhere inside a sentence of the same text.
    Months and week days are dates, not names, but for surnames ("Theresa May"); "Passage" and
    "Step" point, they name nothing. "iPhone" is a name.

    Args:
        text: Any text.
        found: Its words, if the caller has them already.
    """
    others = {match.start(str(match.lastgroup)) for match in _OTHER_NAMES.finditer(text)}
    capitalised = [
        word
        for word in (words(text) if found is None else found)
        if _is_capital(text, word) or word.start in others
    ]
    initial = {word.start for word in capitalised if _starts_sentence(text, word.start)}
    inside = {word.norm for word in capitalised if word.start not in initial}
    runs = [run for run in _runs(text, capitalised) if not _is_talk(text, run)]
    kept = (_without_doubtful_first(text, run, initial, inside) for run in runs)
    return tuple(_name(text, run) for run in kept if run)


def opening_words(text: str) -> Iterator[Word]:
    """Yield the capitalised words that begin a sentence and that `names` takes for no name."""
    found = words(text)
    named = {word.start for name in names(text, found=found) for word in name.words}
    for word in found:
        is_opening = _is_capital(text, word) and _starts_sentence(text, word.start)
        if is_opening and word.start not in named:
            yield word


def name_stem(word: Word) -> str:
    """Return a word's stem without accents, titles in full: "Núñez" and "Nunez" are one name."""
    if word.norm.isascii():
        return _TITLES_IN_FULL.get(word.norm, word.stem)
    parts = unicodedata.normalize("NFD", word.norm)
    return stem("".join(part for part in parts if not unicodedata.combining(part)))


def _name(text: str, run: Sequence[Word]) -> NameSpan:
    capitals = (word.norm for word in run if text[word.start : word.end].isupper())
    named = tuple(word for word in run if not _is_courtesy(text, word))
    return NameSpan(run[0].start, run[-1].end, named, frozenset(capitals))


def _is_courtesy(text: str, word: Word) -> bool:
    return text[word.start : word.end] in _COURTESIES


def _is_capital(text: str, word: Word) -> bool:
    if not text[word.start].isupper() or _NUMBER_WORDS.fullmatch(word.norm):
        return False
    return word.end - word.start > 1 and word.norm not in STOP_WORDS


def _starts_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start]
    if start > _LOOK_BACK:
        before = "x" + before  # the window's edge is not the start of the text
    return bool(_SENTENCE_START.search(before)) and not _TITLE_BEFORE.search(before)


def _runs(text: str, capitalised: Sequence[Word]) -> list[list[Word]]:
    runs: list[list[Word]] = []
    for word in capitalised:
        if runs and _is_joined(runs[-1][-1].norm, text[runs[-1][-1].end : word.start]):
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _is_joined(before: str, gap: str) -> bool:
    if _JOIN.fullmatch(gap):
        return before in _TITLE_NORMS or not gap.startswith(".")
    if _MIDDLE_INITIALS.fullmatch(gap):
        return True
    between = gap.split()  # "of the" joins, "the" alone does not: "Visit the Big Buddha"
    return 1 <= len(between) <= 2 and between[0] != "the" and _SMALL_JOINS.issuperset(between)


def _is_talk(text: str, run: Sequence[Word]) -> bool:
    """Tell whether a run names nothing: it only points into the source or answer, or is "Mr"."""
    return all(
        word.norm in ATTRIBUTION_WORDS or word.stem == "step" or _is_courtesy(text, word)
        for word in run
    )


def _without_doubtful_first(
    text: str, run: list[Word], initial: set[int], inside: set[str]
) -> list[Word]:
    first = run[0]
    if first.start not in initial:
        return run
    written = text[first.start : first.end]
    is_marked = any(c.isupper() or c.isdigit() for c in written[1:])
    is_common = first.norm in ATTRIBUTION_WORDS or first.norm in NEGATIONS
    if not is_common and (is_marked or len(run) > 1 or first.norm in inside):
        return run
    return run[1:]
