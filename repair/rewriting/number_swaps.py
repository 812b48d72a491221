"""A number that the source gives otherwise, in the very same phrase: "15 years" for "25 years".

It is corrected only where one fragment has everything else that the claim says, the same words
beside the number, and exactly one number there, as do all such fragments together. Times are
left alone: a business has many, and half a day turns on one letter.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ragmend.repair.rewriting.word_lists import LIMITS
from ragmend.text.content import needs_support
from ragmend.text.quantities.numbers import Number, NumberKind, is_stated, numbers
from ragmend.text.reading import SourceReading
from ragmend.text.words import Word, is_negation, words

MIN_SHARED = 2  # content words that claim and fragment must share beside the number

_COUNTED: frozenset[NumberKind] = frozenset({"number", "ordinal"})  # the noun behind counts


class _Phrase(NamedTuple):
    """What stands around a number: its kind, two words before it or one, and what it counts."""

    kind: NumberKind
    before: tuple[str, ...]
    noun: str


def with_stated_number(text: str, reading: SourceReading) -> str | None:
    """Return a claim with its one unsupported number as the source writes it; None if unsafe."""
    found, claimed = numbers(text), words(text)
    wrong = [number for number in found if not is_stated(number, reading.number_keys)]
    if len(wrong) != 1 or any(w.norm in LIMITS or is_negation(w.norm) for w in claimed):
        return None
    phrase = _phrase(wrong[0], claimed)
    numeric = {at for number in found for at in range(number.start, number.end)}
    rest = {w.stem for w in claimed if needs_support(w) and w.start not in numeric}
    if phrase is None or len(rest) < MIN_SHARED or not rest <= reading.content:
        return None
    options = set(_options(reading, rest, phrase))
    if len(options) != 1:
        return None
    return text[: wrong[0].start] + options.pop() + text[wrong[0].end :]


def _options(reading: SourceReading, rest: set[str], phrase: _Phrase) -> Iterator[str]:
    """Yield the numbers that fragments give in a phrase, if they have the rest of the claim."""
    for at, part in enumerate(reading.fragments):
        if part.is_window:  # its sentences stand for themselves
            continue
        if rest <= reading.content_F[at] and not reading.negates_F[at]:
            for number in numbers(part.text):
                if _phrase(number, reading.words_F[at]) == phrase:
                    yield part.text[number.start : number.end]


def _phrase(number: Number, found: tuple[Word, ...]) -> _Phrase | None:
    """Read what stands around a number; None where that does not tell what it is."""
    before = tuple(word.stem for word in found if word.end <= number.start)
    noun = next((word.stem for word in found if word.start >= number.end), "")
    if number.kind == "time" or len(before) < 2 or (number.kind in _COUNTED and not noun):
        return None
    if number.kind in _COUNTED:
        return _Phrase(number.kind, before[-1:], noun)
    return _Phrase(number.kind, before[-2:], "")
