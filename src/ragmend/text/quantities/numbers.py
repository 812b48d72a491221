"""Numbers, money, percentages, ordinals, dates and times as comparable values with spans.

"1.25 %" and "12.5 %" differ, and so do "March 26" and "March 27", "$5" and "€5", "-5" and "5",
"5 miles" and "5 km", "in 2014" and "2014 people"; "9:0-22:30" is the same pair of times as "9 am
to 10:30 pm". Values are canonical strings, so that equality is exact.

Left out on purpose, since they rarely state a quantity: a bare "one", "first" and "second",
list markers ("1. Preheat …"), the number of a passage or step ("passages 2 and 3"), an answer's
own length ("in 70 words"), a rating's scale ("out of 5"), the counting of reviewers ("a third
customer") and what is vague ("hundreds", "a few thousand"). Of these, "one", "first", "once"
and "an hour" in a source do state a number, see `stated_keys`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, repeat

from ragmend.text.quantities import amounts, dates, times
from ragmend.text.quantities.amounts import with_unit
from ragmend.text.quantities.bare import readings
from ragmend.text.quantities.number_words import BIG_WORD, SPELLED_NUMBERS
from ragmend.text.quantities.parts import part_as_percentage, percentage_as_part
from ragmend.text.quantities.times import clock_words, hour_on_the_clock
from ragmend.text.quantities.types import Number, NumberKind
from ragmend.text.quantities.units import combined, implied, measured
from ragmend.text.words import fold

__all__ = [
    "SPELLED_NUMBERS",
    "Number",
    "NumberKeys",
    "NumberKind",
    "clock_words",
    "is_stated",
    "number_keys",
    "numbers",
    "stated_keys",
]

NumberKeys = frozenset[tuple[str, str]]

_LEFT = r"(?<![\w.])"
_WITH_DIGITS = dates.DATE_PATTERNS | times.TIME_PATTERNS | amounts.AMOUNT_PATTERNS
_WITH_LETTERS = dates.DATE_WORD_PATTERNS | times.TIME_WORD_PATTERNS | amounts.AMOUNT_WORD_PATTERNS
# Most words begin no number, as two letters tell at once.
_FIRST_LETTERS = (
    "ja|fe|ma|ap|ju|au|se|oc|no|de|mo|tu|we|th|fr|sa|su|mi|ze|on|tw|fo|fi|si|ei|ni|te|el|hu|bi|tr"
    "|do|ha|a[ n$]|v|us|eu|gb|c[a$]|hk|jp|in|ch|re|ye"
)
_SCAN = re.compile(
    _LEFT
    + "(?:(?![a-z])(?:"
    + "|".join(f"(?P<{name}>{body})" for name, body in _WITH_DIGITS.items())
    + f")|(?={_FIRST_LETTERS})(?:"
    + "|".join(f"(?P<{name}>{body})" for name, body in _WITH_LETTERS.items())
    + "))"
)
# Small letters make these verbs, adjectives and nouns; "may 5" is no date, "May 5" is one.
_NOT_A_DATE = re.compile(
    r"(?<!\w)(?=[A-Zmastfw])(?:may\b|(?:march|august)\b(?! \d)"
    rf"|(?:{dates.SHORT_DAY})\b"
    r"|(?<![a-z] )(?<!-)May\b(?! \d|, ?\d)"  # "May I …", "May cause …"
    rf"|{dates.SURNAME_MONTH})"
)
_NARROW_BLANK = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # "3 500 000"
_NOT_A_QUANTITY = re.compile(
    r"(?:^|\n)[ \t]*\(?\d{1,2}[.)](?=\s|\Z)|(?<=: )1[.)](?= )"
    r"|(?:(?<=[.!?)] )|(?<=[.!?)][ \n] ))\(?\d{1,2}[.)](?= {1,2}[\"']?[a-z])"
    r"|(?:^|\n)(?:option|method|tip) \d{1,2}:|(?<=\d)/5(?= stars?\b)"
    r"|(?<!\w)(?=pa|st|ou|in|wi|un|th|fo|fi|fe|ma|se|co|so|ot|la|be|ba|to|bo|lo|up|ea|ha|hi|he|it)(?:"
    r"(?:passage|step)s? #?\d{1,2}(?:(?:, and|,| and| or| to| &|-) ?\d{1,2})*(?!\d|\.\d)"
    r"|out of (?:5|five)\b|(?:in|within|under) \d{1,3} words\b"
    r"|third(?=[ -]part(?:y|ies)\b)"
    r"|(?:third|fourth|fifth)(?= (?:customer|review|person|diner|patron|guest|visitor|passage))"
    rf"|(?:few|many|several|couple(?: of)?|some) {BIG_WORD}\b"
    r"|(?:first|second|other|latter|better|back|top|bottom|lower|upper|this|that|each) half\b"
    r"|(?:in|his|her|its|their) half\b"  # "cut it in half", "their half of the court"
    r"|half past\b)"
)
_LOOSE = re.compile(
    r"(?<![\w.-])(?:(?P<one>one(?![ -](?:hundred|thousand|million|billion|trillion|half|third)\b))"
    r"|(?<!days )(?<!hours )(?<!times )(?<!once )(?P<single>an?)(?= [a-z])"
    r"|(?P<first>first)|(?P<second>second)|(?P<once>once))(?!\w)"
)
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_BEFORE_A_YEAR = re.compile(
    r"\b(?:in|since|until|during|year|early|late|mid|circa|spring|summer|fall|autumn|winter)[ -]\Z"
)
# "the 2014 elections", "in 2014 people …"
_BEFORE_AN_EVENT = re.compile(
    r"\b(?:the|an?|its|in|since|until|till|during|from|by|before|after|of|between|and|for) \Z"
)
_JOINS_A_RANGE = frozenset({"-", "–", " - ", " – ", " to ", "- to ", " or ", "-to-"})


def numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers that a text states, in order, with exact code-point spans."""
    plain = _plain(text)
    labels = {at for match in _NOT_A_QUANTITY.finditer(plain) for at in range(*match.span())}
    found: list[Number] = []
    for match in _SCAN.finditer(plain):
        is_read = bool(found) and match.start() < found[-1].end  # "7 below zero" has no zero
        if not is_read and match.start() not in labels:
            found.extend(_READERS[str(match.lastgroup)](match))
    return tuple(_in_context(plain, found)) if found else ()


def stated_keys(text: str) -> NumberKeys:
    """Return what a text of a source states, for `is_stated`.

    Beside its `numbers` these are the values of words that an answer may use without: "one",
    "first", "once", "an hour". A bare number that counts something, or nothing, states no
    other unit, see `bare.readings`; one half states 50 %, and 50 % one half.
    """
    found = numbers(text)
    keys = chain.from_iterable(_keys_in(text, found, at) for at in range(len(found)))
    return frozenset(chain(keys, _loose_keys(_plain(text), found)))


def number_keys(found: Iterable[Number]) -> NumberKeys:
    """Return what numbers state by themselves, for `is_stated`: pairs of a kind and a value.

    A day states its month too: "March 26" states "March".
    """
    return frozenset(key for number in found for key in _keys(number))


def is_stated(number: Number, keys: NumberKeys) -> bool:
    """Tell whether a source states a number: same value, and the same kind or one without kind.

    "50" is stated by "$50" and "50 %" by "it was 50.", but "50 %" is not stated by "$50", nor is
    "€50", and none of them by "50 were hurt"; "half" is stated by "50 %", "50 %" by "half";
    "5 miles" is stated by "5", not by "5 km"; "March 26, 2015" by that day, or by "March 26"
    without any year beside "2015".

    Args:
        number: What some other text states.
        keys: The `stated_keys` of a source or of any part of it.
    """
    if number.kind == "date":
        return _is_date_stated(number.value, keys)
    if number.kind == "number" and not number.unit:
        return ("any", number.value) in keys
    is_bare_enough = number.kind not in ("time", "code") and ("number", number.value) in keys
    return is_bare_enough or _key(number) in keys


def _plain(text: str) -> str:
    """Return a folded text of the same length, without the words that only look like dates."""
    if not text.isascii():
        text = _NARROW_BLANK.sub(",", text)
    return fold(_NOT_A_DATE.sub(lambda match: "_" * len(match[0]), text))


def _in_context(plain: str, found: list[Number]) -> list[Number]:
    """Return the numbers with what their neighbours tell: years, ranges, hours with minutes."""
    placed: list[Number] = []
    for number in map(_as_year, repeat(plain), reversed(found)):
        placed.extend(_before(plain, number, placed.pop()) if placed else (number,))
    return placed[::-1]


def _before(plain: str, number: Number, following: Number) -> tuple[Number, ...]:
    """Return a number and the one behind it, last first, or the one that they are together."""
    gap = plain[number.end : following.start]
    is_between = gap == " and " and plain.endswith("between ", 0, number.start)
    if gap in _JOINS_A_RANGE or is_between:
        return _share_unit(number, following)[::-1]
    if gap in (" ", " and ", ", ") and (whole := combined(number, following)):
        return (whole,)
    return following, number


def _as_year(plain: str, number: Number) -> Number:
    """Tell the year of "in 2014" and "the 2014 elections" from the count of "2014 people"."""
    is_number = number.kind == "number" and number.unit in ("", "count")
    if not is_number or not _YEAR.fullmatch(plain, number.start, number.end):
        return number
    behind = max(0, number.start - 10)
    if not number.unit and _BEFORE_A_YEAR.search(plain, behind, number.start):
        return number._replace(kind="year")
    if number.unit and _BEFORE_AN_EVENT.search(plain, behind, number.start):
        return number._replace(unit="")
    return number


def _share_unit(first: Number, second: Number) -> tuple[Number, Number]:
    """Give both ends of a range what stands at one: "80 to 90 %", "$5-10"."""
    if _is_bare(first) and second.kind in ("number", "percent", "money"):
        first = first._replace(kind=second.kind, unit=second.unit)
    elif (first.kind == "money" or first.unit == "year old") and _is_bare(second):
        second = second._replace(kind=first.kind, unit=first.unit)
    return first, second


def _is_bare(number: Number) -> bool:
    return number.kind == "number" and not number.unit


def _loose_keys(plain: str, found: Iterable[Number]) -> Iterator[tuple[str, str]]:
    """Yield what the words of `_LOOSE` state; "a week" of "six days a week" is no seven days."""
    rates = {number.end + 1 for number in found}
    for match in _LOOSE.finditer(plain):
        if match.lastgroup == "single" and match.start() in rates:
            continue
        number = _LOOSE_READERS[str(match.lastgroup)](match)
        if number.kind != "number" or number.unit:
            yield _key(number)
        if match.lastgroup == "one":
            yield "any", "1"


def _loose_single(match: re.Match[str]) -> Number:
    number = with_unit(match.string, match.span(), Decimal(1))
    return number._replace(unit="") if number.unit == "count" else number


def _loose_one(match: re.Match[str]) -> Number:
    number = with_unit(match.string, match.span(), Decimal(1))
    return number._replace(unit="count") if _is_bare(number) else number


def _keys_in(text: str, found: Sequence[Number], at: int) -> Iterator[tuple[str, str]]:
    """Yield what one of a source's numbers states, with what stands around it."""
    number = found[at]
    written = text[number.start : number.end]
    if percentage := part_as_percentage(number, written):
        yield "percent", percentage
    if part := percentage_as_part(number):
        yield "any", part
    if not _is_bare(number):
        yield from _keys(number)
        return
    yield "any", number.value
    following = found[at + 1] if at + 1 < len(found) else None
    begins_range = following and text[number.end : following.start] in _JOINS_A_RANGE
    end = following.end if following and begins_range and _is_bare(following) else number.end
    for reading in readings(text, number, before=found[max(0, at - 3) : at], end=end):
        yield from _keys(reading)
        if reading.unit == "count" and _YEAR.fullmatch(written):  # "the 2014 elections"
            yield "year", number.value


def _keys(number: Number) -> Iterator[tuple[str, str]]:
    yield _key(number)
    if number.kind == "date":
        yield from _date_keys(number.value)
    elif number.kind == "time":
        if hour := hour_on_the_clock(number.value):
            yield "time", hour
    elif number.kind != "code" or not re.search(r"\..*0\Z|\..*\.", number.value):
        yield "any", number.value
        if besides := implied(number):
            yield "number", besides


def _key(number: Number) -> tuple[str, str]:
    if number.kind == "number":
        return "number", measured(number)
    return number.kind, number.unit + number.value


def _date_keys(value: str) -> Iterator[tuple[str, str]]:
    """Yield the parts that a date states: "2015-03-26" states a day, a month and a year."""
    year, rest = dates.split_year(value)
    month, is_day, _ = rest.partition("-")
    parts = {rest, month} if is_day else {rest}
    for part in sorted(parts):
        yield "date", part
        if year:
            yield "date", f"{year}-{part}"
        else:
            yield "undated", part
    if year:
        yield "year", year
        yield "any", year


def _is_date_stated(value: str, keys: NumberKeys) -> bool:
    year, rest = dates.split_year(value)
    if not year or ("date", value) in keys:
        return ("date", value) in keys
    has_year = ("year", year) in keys or ("number", year) in keys
    return has_year and ("undated", rest) in keys


_READERS: dict[str, Callable[[re.Match[str]], Iterator[Number]]] = {
    "iso_date": dates.iso_date,
    "slash_date": dates.slash_date,
    "short_date": dates.short_date,
    "dotted_date": dates.dotted_date,
    "day_month": dates.day_month,
    "decade": dates.decade,
    "month_day": dates.month_day,
    "month_year": dates.month_year,
    "month": dates.month,
    "weekday": dates.weekday,
    "spelled_decade": dates.spelled_decade,
    "span_of_hours": times.span_of_hours,
    "meridiem": times.meridiem,
    "clock": times.clock,
    "oclock": times.oclock,
    "noon": times.noon,
    "phone": amounts.phone,
    "dotted_code": amounts.dotted_code,
    "ordinal": amounts.ordinal,
    "amount": amounts.amount,
    "version": amounts.version,
    "signed_amount": amounts.signed_amount,
    "and_a_half": amounts.and_a_half,
    "half": amounts.half,
    "twice": amounts.twice,
    "part_words": amounts.part_words,
    "word_ordinal": amounts.word_ordinal,
    "word_number": amounts.word_number,
}
_LOOSE_READERS: dict[str, Callable[[re.Match[str]], Number]] = {
    "one": _loose_one,
    "single": _loose_single,
    "first": lambda match: Number(*match.span(), "ordinal", "1"),
    "second": lambda match: Number(*match.span(), "ordinal", "2"),
    "once": lambda match: Number(*match.span(), "number", "1", "time"),
}
