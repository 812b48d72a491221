"""Numbers written in words: "two hundred and fifty", "the twenty-first", "three quarters"."""

import re
from decimal import Decimal
from fractions import Fraction

_UNDER_TWENTY = """zero one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNDER_TWENTY.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_BIG = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
_SHORT_SCALES = {"k": 1_000, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9}
SCALES = _BIG | _SHORT_SCALES
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
_ORDINAL_UNITS = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)}
_ORDINAL_TENS = {
    word.removesuffix("y") + "ieth": 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_DECADE_WORDS = {
    word.removesuffix("y") + "ies": str(10 * value) for value, word in enumerate(_TENS.split(), 2)
}

SPELLED_NUMBERS = frozenset([*_SMALL, *_BIG, *_ORDINAL_UNITS, *_ORDINAL_TENS])

_TWO_TO_NINE = "|".join(_UNDER_TWENTY.split()[2:10])
_SINGLE_PARTS = "|".join(word for word in _PARTS if not word.startswith("hal"))
_WORD = "|".join([*_SMALL, *_BIG])

BIG_WORD = rf"(?:{'|'.join(_BIG)})"
AND_PART = r"and (?:a|one|three)[ -](?:half|quarters?)\b"
DECADE_WORD = rf"(?:{'|'.join(_DECADE_WORDS)})"
# "a third of it" is a part, "a third one" is not; "two third graders" are no two thirds.
PART_WORDS = (
    rf"(?:(?:a|one)[ -]half|(?:a|one) (?:{_SINGLE_PARTS})(?= of\b)|one-(?:{_SINGLE_PARTS})"
    rf"|(?:{_TWO_TO_NINE})[ -](?:halves|(?:{_SINGLE_PARTS})s))\b"
)
WORD_NUMBER = rf"(?:{_WORD})(?:[ -](?:and )?(?:{_WORD})){{0,11}}(?: {AND_PART})?(?!\w)"
WORD_ORDINAL = (
    rf"(?:(?:{'|'.join(_TENS.split())})[ -](?:{'|'.join(_ORDINALS.split()[:9])})"
    rf"|{'|'.join([*_ORDINALS.split()[2:], *_ORDINAL_TENS])})\b"
)


def number_in_words(written: str) -> Decimal:
    """Return the value of number words: "two hundred fifty thousand" is 250,000."""
    whole, part = split_part(written)
    total = group = 0
    for word in re.split(r"[ -]", whole.replace(" and ", " ")):
        if word in _SMALL:
            group = _append(group, _SMALL[word])
        elif word in ("hundred", "dozen"):
            group = max(group, 1) * _BIG[word]
        else:
            total += max(group, 1) * _BIG[word]
            group = 0
    return total + group + part


def split_part(written: str) -> tuple[str, Decimal]:
    """Return "two" and 0.5 for "two and a half"; a part of 0 where there is none."""
    match = re.search(rf" {AND_PART}", written)
    if match is None:
        return written, Decimal(0)
    return written[: match.start()], part_in_words(match[0].removeprefix(" and "))


def part_in_words(written: str) -> Decimal:
    """Return the value of "three quarters" or "one-third", rounded where it has no end."""
    count, name = re.split(r"[ -]", written)
    above = 1 if count == "a" else _SMALL[count]
    below = _PARTS[name] if name in _PARTS else _PARTS[name.removesuffix("s")]
    return rounded(Fraction(above, below))


def rounded(value: Fraction) -> Decimal:
    """Return a fraction as a decimal of four places."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact.quantize(Decimal("0.0001"))


def ordinal_in_words(written: str) -> int:
    """Return the value of "third", "twentieth" or "twenty-first"."""
    *tens, last = re.split(r"[ -]", written)
    return (_SMALL[tens[0]] if tens else 0) + (_ORDINAL_UNITS | _ORDINAL_TENS)[last]


def decade_in_words(written: str) -> str:
    """Return the digits of "nineties": "90"."""
    return _DECADE_WORDS[written]


def _append(group: int, small: int) -> int:
    """Add a word's value to the group: "nineteen" and "eighty" begin a year, 19 and 80."""
    begins_year = 10 <= group < 100 and small >= 10
    return group * 100 + small if begins_year else group + small
