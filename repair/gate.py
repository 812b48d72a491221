"""The do-no-harm gate: an edit must not bring in a number, date or name that no source states.

In doubt it refuses: a false alarm costs one edit, a false pass puts an invention into an answer.
"Mr" and "Mrs" bring in no name; they only must not stand for one another.
It looks at what stands in the text, not at what the text says about it: a stated number in a
wrong place is the verifier's to find.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.4.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ragmend.records import Gate
from ragmend.text.names import name_stem, names, opening_words
from ragmend.text.openings import can_only_be_a_name
from ragmend.text.quantities.numbers import Number, is_stated, numbers
from ragmend.text.reading import SourceReading
from ragmend.text.short_names import short_names
from ragmend.text.words import words

# By what a source may have called whom a text calls so.
_COURTESIES = {
    "mr": frozenset({"mr"}),
    "mrs": frozenset({"mrs"}),
    "ms": frozenset({"ms", "mrs"}),
}


def check_gate(text: str, reading: SourceReading) -> Gate:
    """Check an edited text against its source.

    Returns:
        `passed`, or the reasons, each "unsupported_number: 15", "unsupported_date: March 27"
        or "unsupported_name: Smith" with the words as they stand in the text.
    """
    found = numbers(text)
    numeric = {at for number in found for at in range(number.start, number.end)}
    foreign = sorted(
        [
            *_foreign_openings(text, reading),
            *_foreign_names(text, reading),
            *_other_courtesies(text, reading),
        ]
    )
    reasons = [
        *_number_reasons(text, found, reading),
        *(
            f"unsupported_name: {text[start:end]}"
            for start, end in foreign
            if not numeric.issuperset(range(start, end - 1))  # "Fifteen came", "at 350 F. Bake"
        ),
    ]
    return Gate(passed=not reasons, reasons=tuple(reasons))


def _number_reasons(text: str, found: Sequence[Number], reading: SourceReading) -> Iterator[str]:
    for number in found:
        if not is_stated(number, reading.number_keys):
            kind = "date" if number.kind in ("date", "time") else "number"
            yield f"unsupported_{kind}: {text[number.start : number.end]}"


def _foreign_openings(text: str, reading: SourceReading) -> Iterator[tuple[int, int]]:
    """Yield the names that a sentence begins with, where a capital alone does not tell them."""
    following = dict(pairwise(words(text)))
    for word in opening_words(text):
        is_name = word in following and can_only_be_a_name(word, following[word])
        if is_name and name_stem(word) not in reading.plain_stems:
            yield word.start, word.end


def _other_courtesies(text: str, reading: SourceReading) -> Iterator[tuple[int, int]]:
    """Yield "Mr. Holt" where the source has "Mrs. Holt" and no "Mr. Holt"."""
    for word, following in pairwise(words(text)):
        if word.norm not in _COURTESIES or not text[word.start].isupper():
            continue
        stem = name_stem(following)
        stated = {title for title in _COURTESIES if (title, stem) in reading.name_pairs}
        if stated and stated.isdisjoint(_COURTESIES[word.norm]):
            yield word.start, following.end


def _foreign_names(text: str, reading: SourceReading) -> Iterator[tuple[int, int]]:
    for name in names(text):
        if not reading.states_name(name):
            yield name.start, name.end
    for short in short_names(text):
        if not reading.abbreviations.state(short):
            yield short.start, short.end
