"""The do-no-harm gate: an edit must not bring in a number, date or name that no source states.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.4.
"""

from collections.abc import Iterator
from itertools import pairwise

from ragmend.records import Gate
from ragmend.text.names import name_stem, names, opening_words
from ragmend.text.numbers import is_stated, numbers
from ragmend.text.openings import can_only_be_a_name
from ragmend.text.reading import SourceReading
from ragmend.text.words import words


def check_gate(text: str, reading: SourceReading) -> Gate:
    """Check an edited text against its source.

    Returns:
        `passed`, or the reasons, each "unsupported_number: 15", "unsupported_date: March 27"
        or "unsupported_name: Smith" with the words as they stand in the text.
    """
    reasons = [
        *_number_reasons(text, reading),
        *_opening_reasons(text, reading),
        *_name_reasons(text, reading),
    ]
    return Gate(passed=not reasons, reasons=tuple(reasons))


def _number_reasons(text: str, reading: SourceReading) -> Iterator[str]:
    for number in numbers(text):
        if not is_stated(number, reading.number_keys):
            kind = "date" if number.kind in ("date", "time") else "number"
            yield f"unsupported_{kind}: {text[number.start : number.end]}"


def _opening_reasons(text: str, reading: SourceReading) -> Iterator[str]:
    """Yield the names that a sentence begins with, where a capital alone does not tell them."""
    following = dict(pairwise(words(text)))
    for word in opening_words(text):
        is_name = word in following and can_only_be_a_name(word, following[word])
        if is_name and name_stem(word) not in reading.plain_stems:
            yield f"unsupported_name: {text[word.start : word.end]}"


def _name_reasons(text: str, reading: SourceReading) -> Iterator[str]:
    for name in names(text):
        if not reading.states_name(name):
            yield f"unsupported_name: {text[name.start : name.end]}"
