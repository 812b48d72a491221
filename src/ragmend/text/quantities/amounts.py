"""Amounts: digits or words with sign, scale, fraction, currency and unit."""

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from unicodedata import numeric

from ragmend.text.quantities.number_words import (
    AND_PART,
    BIG_WORD,
    PART_WORDS,
    SCALES,
    WORD_NUMBER,
    WORD_ORDINAL,
    number_in_words,
    ordinal_in_words,
    part_in_words,
    rounded,
)
from ragmend.text.quantities.types import Number, NumberKind, canonical
from ragmend.text.quantities.units import SIGN, is_age_before, read_currency, read_unit

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
# Common fractions only: "9/11" and "24/7" are none.
_FRACTION = r"[½⅓⅔¼¾⅛⅜⅝⅞]|(?:1/2|[12]/3|[13]/4|[1357]/8)(?![\d/])"
# A sign stands before its number alone: not in a range, a telephone number or a list's line.
_MINUS = r"(?:(?<!\n)(?<!\d )(?<!\))-|minus )"
_SCALE = rf"{BIG_WORD}|mn|bn"
_AMOUNT = (
    rf"(?:(?P<am_only>{_FRACTION})|(?P<am_n>{_DIGITS})"
    rf"(?:[ -]?(?P<am_part>{_FRACTION})| (?P<am_and>{AND_PART}))?)"
    # "5 m" are metres, "$5m" are millions; "10k" needs no sign; "5" of "5 to 10 million" is 5 m.
    rf"(?:(?:[ -]?(?P<am_scale>{_SCALE}|(?(am_sign)[mb]|(?!)))|(?P<am_k>k))(?!\w)"
    rf"|(?=(?:-| to | or )[$€£]?\d+(?:\.\d+)? (?P<am_later>{BIG_WORD})\b))?"
)
AMOUNT_PATTERNS = {
    "phone": r"(?:\+?(?P<ph_country>\d{1,3})[ .-]?)?\(?(?P<ph_1>\d{3})\)?[ .-](?P<ph_2>\d{3})[ .-]"
    r"(?P<ph_3>\d{4})(?![\d,])",
    "dotted_code": r"(?P<dc>\d+(?:\.\d+){2,})(?!\w)",
    "ordinal": r"(?P<or_n>\d+)(?:st|nd|rd|th)\b",
    "amount": rf"(?P<am_minus>{_MINUS})?(?P<am_sign>{SIGN} ?)?{_AMOUNT}",
}
AMOUNT_WORD_PATTERNS = {
    "version": r"(?:version |ver\. ?|release |v)(?P<ve>\d+(?:\.\d+)*)(?!\w)",
    "signed_amount": rf"(?P<sa_minus>minus )?(?P<sa_sign>{SIGN} ?)?{_AMOUNT.replace('am_', 'sa_')}",
    "and_a_half": r"(?:an?|one) (?P<ah_unit>[a-z]+) and a half\b",
    "half": rf"half(?!-(?:brother|sister|heart|bak|way|time|life))(?: an? | )?"
    rf"(?P<ha_scale>{BIG_WORD})?\b",
    "twice": r"(?P<tw>twice|thrice)\b",
    "part_words": rf"(?P<pw>{PART_WORDS})",
    "word_ordinal": rf"(?P<wo>{WORD_ORDINAL})",
    "word_number": rf"(?P<wn>{WORD_NUMBER})",
}
_HALF_OF = re.compile(r"half(?: of)?(?: an?)?")
_COUNTED = re.compile(r" ([a-z]*[a-rt-z]s|people|men|women|children)(?![\w'])")
_NOT_COUNTED = frozenset("is was has does its his yes thus plus versus as us this".split())
_AMOUNT_GROUPS = ("minus", "sign", "n", "only", "part", "and", "scale", "k", "later")
_IDLE_UNITS = frozenset(["", "count", "day", "second", "star", "time"])  # "one day", "one time"
_A_HALF = Decimal("0.5")


def phone(match: re.Match[str]) -> Iterator[Number]:
    """Read a telephone number by its digits; "+1" is left out, as numbers here mostly do."""
    country = match["ph_country"] or ""
    digits = match["ph_1"] + match["ph_2"] + match["ph_3"]
    yield Number(*match.span(), "code", digits if country == "1" else country + digits)


def dotted_code(match: re.Match[str]) -> Iterator[Number]:
    """Read "3.10.2" as it is written."""
    yield Number(*match.span(), "code", match["dc"])


def version(match: re.Match[str]) -> Iterator[Number]:
    """Read "version 3.10", which is not version 3.1."""
    yield Number(*match.span("ve"), "code", match["ve"])


def ordinal(match: re.Match[str]) -> Iterator[Number]:
    """Read "3rd"."""
    yield Number(*match.span(), "ordinal", canonical(Decimal(match["or_n"])))


def word_ordinal(match: re.Match[str]) -> Iterator[Number]:
    """Read "third" and "twenty-first"."""
    yield Number(*match.span(), "ordinal", str(ordinal_in_words(match["wo"])))


def amount(match: re.Match[str]) -> Iterator[Number]:
    """Read "$3.5 million", "15 %", "-5", "2 1/2 cups", "35-year-old"."""
    yield _amount(match, "am")


def signed_amount(match: re.Match[str]) -> Iterator[Number]:
    """Read an amount with letters in front: "minus 5", "US$5", "EUR 5"."""
    yield _amount(match, "sa")


def word_number(match: re.Match[str]) -> Iterator[Number]:
    """Read "fifteen people" and "two and a half hours"; "one" counts with some units alone."""
    number = with_unit(match.string, match.span(), number_in_words(match["wn"]))
    if match["wn"] != "one" or number.unit not in _IDLE_UNITS or number.kind == "percent":
        yield number


def twice(match: re.Match[str]) -> Iterator[Number]:
    """Read "twice", which is "two times"."""
    yield Number(*match.span(), "number", "2" if match["tw"] == "twice" else "3", "time")


def part_words(match: re.Match[str]) -> Iterator[Number]:
    """Read "three quarters" and "a third of"."""
    yield with_unit(match.string, match.span(), part_in_words(match["pw"]))


def half(match: re.Match[str]) -> Iterator[Number]:
    """Read "half", "half an hour" and "half a million"."""
    if match["ha_scale"]:
        value = _A_HALF * SCALES[match["ha_scale"]]
        yield with_unit(match.string, match.span(), value)
        return
    before_unit = _HALF_OF.match(match.string, match.start())
    end = before_unit.end() if before_unit else match.end()
    number = with_unit(match.string, (match.start(), end), _A_HALF)
    is_measured = number.unit not in ("", "count") or number.kind != "number"
    plain_half = Number(match.start(), match.start() + len("half"), "number", str(_A_HALF))
    yield number if is_measured else plain_half


def and_a_half(match: re.Match[str]) -> Iterator[Number]:
    """Read "an hour and a half"."""
    behind = read_unit(match.string, match.start("ah_unit"))
    if behind is not None and behind.end == match.end("ah_unit"):
        yield Number(*match.span(), behind.kind, "1.5", behind.unit)


def with_unit(plain: str, span: tuple[int, int], value: Decimal, currency: str = "") -> Number:
    """Return a number together with what stands behind it: a unit or a counted noun."""
    start, end = span
    if currency:
        return Number(start, end, "money", canonical(value), currency)
    kind: NumberKind = "number"
    unit = ""
    if behind := read_unit(plain, end):
        kind, unit, end = behind.kind, behind.unit, behind.end
        value = -value if behind.is_below_zero else value
    elif is_age_before(plain, start):
        unit = "year old"
    elif (noun := _COUNTED.match(plain, end)) and noun[1] not in _NOT_COUNTED:
        unit = "count"
    return Number(start, end, kind, canonical(value), unit)


def _amount(match: re.Match[str], prefix: str) -> Number:
    written = {name: match[f"{prefix}_{name}"] for name in _AMOUNT_GROUPS}
    value = Decimal((written["n"] or "0").replace(",", ""))
    value += _fraction(written["part"] or written["only"])
    if written["and"]:
        value += part_in_words(written["and"].removeprefix("and "))
    value *= SCALES.get(written["scale"] or written["k"] or written["later"] or "", 1)
    currency = read_currency(written["sign"]) if written["sign"] else ""
    signed = -value if written["minus"] else value
    return with_unit(match.string, match.span(), signed, currency)


def _fraction(written: str | None) -> Decimal:
    """Return the value of "½" or "1/2", rounded where it has no end."""
    if not written:
        return Decimal(0)
    if len(written) == 1:
        return rounded(Fraction(numeric(written)).limit_denominator(8))
    return rounded(Fraction(written))
