"""Where in an answer the strings stand that a language model copied out of it.

A copy is rarely exact: quotes and dashes lose their typography, line breaks become spaces, and
the prompt itself parts "<" from what follows. So a string that does not stand in the answer is
looked for once more with both of them folded, and is then traced back to the answer's own code
points.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmend.records import Span

_QUOTES = "\"'`´‘’‚‛“”„‟‹›«»′″‵‶ʼ＂＇"  # one sign: whoever writes JSON changes " to '
_DASHES = "-‐‑‒–—―−﹘﹣－"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen, joiners, byte order mark
_UNIFIED = str.maketrans(
    dict.fromkeys(_QUOTES, "'") | dict.fromkeys(_DASHES, "-") | dict.fromkeys(_INVISIBLE, "")
    | {"…": "..."}
)  # fmt: skip


class Located(NamedTuple):
    """Copied strings in the answer that they come from.

    Attributes:
        spans: Those found, in the answer's order; two may overlap, none are the same.
        unlocated: Those found nowhere, or more often than they stand there, in their order.
    """

    spans: tuple[Span, ...]
    unlocated: tuple[str, ...]


def locate_spans(answer: str, strings: Sequence[str]) -> Located:
    """Find each string in an answer: exactly, else folded; the first occurrence not yet used.

    Occurrences that are whole words and numbers go before those inside of one: "5" is found in
    "In 2015 there were 5" where it stands free, and inside of "2015" only where it does not.

    White space around a string counts for nothing. Folded means: without white space and
    invisible characters, without case, canonically decomposed, all quotes as one, all dashes as
    one, "…" as "...". What is found so begins and ends between whole letters of the answer: no
    half of an "ß", no letter without its accent. A string between quotes that stands nowhere is
    looked for without them.

    The time grows with the answer's length times the number of different strings.

    Args:
        answer: The complete answer.
        strings: What a model copied; one that is repeated means the next occurrence.

    Returns:
        Spans in code points of the answer, and the strings that have none.
    """
    search = _Search(answer)
    spans: list[Span] = []
    unlocated: list[str] = []
    for string in strings:
        place = search.take(string)
        if place is None:
            unlocated.append(string)
        else:
            spans.append(Span(start=place[0], end=place[1], text=answer[slice(*place)]))
    return Located(tuple(sorted(spans, key=lambda span: (span.start, span.end))), tuple(unlocated))


class _Search:
    """An answer, and what of it is used already."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._folded = _fold(answer)
        self._used: set[tuple[int, int]] = set()
        # Where to go on for a repeated string: what lies before was taken or tried.
        self._next_exact: dict[tuple[str, bool], int] = {}
        self._next_folded: dict[tuple[str, bool], int] = {}

    def take(self, string: str) -> tuple[int, int] | None:
        """Return the string's first free place, which is used from then on."""
        for form in _forms(string):
            folded = _fold(form).text
            place = (
                self._find_exact(form, free=True)
                or self._find_exact(form, free=False)
                or self._find_folded(folded, free=True)
                or self._find_folded(folded, free=False)
            )
            if place is not None:
                self._used.add(place)
                return place
        return None

    def _find_exact(self, form: str, *, free: bool) -> tuple[int, int] | None:
        start = self._answer.find(form, self._next_exact.get((form, free), 0))
        while start >= 0:
            place = (start, start + len(form))
            is_wanted = not free or _stands_free(self._answer, place)
            after = place[1] if is_wanted else start + 1
            self._next_exact[form, free] = after
            if is_wanted and place not in self._used:
                return place
            start = self._answer.find(form, after)
        self._next_exact[form, free] = len(self._answer)
        return None

    def _find_folded(self, form: str, *, free: bool) -> tuple[int, int] | None:
        text, starts, ends = self._folded
        if not form:
            return None
        at = text.find(form, self._next_folded.get((form, free), 0))
        while at >= 0:
            place = (starts[at], ends[at + len(form) - 1])
            is_whole = min(place) >= 0
            is_wanted = is_whole and (not free or _stands_free(self._answer, place))
            after = at + len(form) if is_wanted else at + 1
            self._next_folded[form, free] = after
            if is_wanted and place not in self._used:
                return place
            at = text.find(form, after)
        self._next_folded[form, free] = len(text)
        return None


def _stands_free(answer: str, place: tuple[int, int]) -> bool:
    """Tell whether a stretch neither begins nor ends inside of a word or number."""
    start, end = place
    return not (
        _goes_on(answer[start], answer[max(start - 2, 0) : start][::-1])
        or _goes_on(answer[end - 1], answer[end : end + 2])
    )


def _goes_on(edge: str, beside: str) -> bool:
    """Tell whether a word or number goes on from its edge to the two characters beside it."""
    if not beside or not (edge.isalnum() or unicodedata.combining(edge)):
        return False
    if beside[0].isalnum() or unicodedata.combining(beside[0]):
        return True
    # "5" in "3.5" and in "5,000" is no number of its own.
    return edge.isdigit() and beside[0] in ".," and beside[1:].isdigit()


def _forms(string: str) -> Iterator[str]:
    """Yield what to look for: the string, and what stands in it between quotes."""
    form = string.strip()
    if form:
        yield form
    if len(form) > 2 and form[0] in _QUOTES and form[-1] in _QUOTES and form[1:-1].strip():
        yield form[1:-1].strip()


class _Folded(NamedTuple):
    """A folded text; `starts` and `ends` lead back to the text, -1 inside of a letter."""

    text: str
    starts: list[int]
    ends: list[int]


def _fold(text: str) -> _Folded:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    known: dict[str, str] = {}
    for start, end in _letters(text):
        letter = text[start:end]
        folded = known.get(letter)
        if folded is None:
            folded = known[letter] = _fold_letter(letter)
        if folded:
            inside = [-1] * (len(folded) - 1)
            parts.append(folded)
            starts += (start, *inside)
            ends += (*inside, end)
    return _Folded("".join(parts), starts, ends)


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a character and the accents that combine with it."""
    start = 0
    for at in range(1, len(text)):
        if text[at] < "\u0300" or not unicodedata.combining(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _fold_letter(letter: str) -> str:
    """Fold one letter; Unicode's canonical caseless form, without white space."""
    decomposed = unicodedata.normalize("NFD", letter).casefold()
    unified = unicodedata.normalize("NFD", decomposed).translate(_UNIFIED)
    return "".join(unified.split())
