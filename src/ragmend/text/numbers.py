"""Numbers, money, percentages, ordinals, dates and times as comparable values with spans.

"1.25 %" and "12.5 %" differ, and so do "March 26" and "March 27", "$5" and "€5", "-5" and "5";
"9:0-22:30" is the same pair of times as "9 am to 10:30 pm". Values are canonical strings, so
that equality is exact.

Left out on purpose, since they rarely state a quantity: a bare "one", "first" and "second",
list markers ("1. Preheat …"), the number of a passage or step ("passages 2 and 3"), an answer's
own length ("in 70 words"), a rating's scale ("out of 5") and the counting of reviewers ("a third
customer").
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

from ragmend.text.words import fold

NumberKind = Literal["number", "percent", "money", "ordinal", "date", "time"]
Currency = Literal["", "$", "€", "£", "¥"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH = (
    rf"(?:{'|'.join(_FULL_MONTHS)}"
    r"|jan\.?|feb\.?|mar\.?|apr\.?|jun\.?|jul\.?|aug\.?|sept?\.?|oct\.?|nov\.?|dec\.?)"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT_DAY = "mon|tues?|wed|thu(?:rs?)?|fri|sat|sun"
_UNDER_TWENTY = """zero one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNDER_TWENTY.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_SCALE = {
    "hundred": 100, "thousand": 1_000, "k": 1_000, "million": 10**6, "m": 10**6, "mn": 10**6,
    "billion": 10**9, "bn": 10**9, "trillion": 10**12,
}  # fmt: skip
_BIG_WORDS = ("hundred", "thousand", "million", "billion", "trillion")
_FROM_THIRD = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL_WORDS = {word: value for value, word in enumerate(_FROM_THIRD.split(), start=3)}

_CURRENCIES: dict[str, Currency] = {
    "$": "$", "€": "€", "£": "£", "¥": "¥",
    "dollar": "$", "usd": "$", "euro": "€", "pound": "£", "yen": "¥",
}  # fmt: skip

SPELLED_NUMBERS = frozenset([*_SMALL, *_BIG_WORDS, *_ORDINAL_WORDS, "first", "second"])

_AMOUNT = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
# Common fractions only: "9/11" and "24/7" are none.
_FRACTION = r"[½⅓⅔¼¾⅛⅜⅝⅞]|(?:1/2|[12]/3|[13]/4|[1357]/8)(?![\d/])"
# A sign stands before its number alone: not in a range, a telephone number or a list's line.
_MINUS = r"(?:(?<!\n)(?<!\d )(?<!\))-|minus )"
_MONEY_WORD = r" dollars?\b| euros?\b| pounds sterling\b| yen\b"
_CLOCK = r"\d{1,2}(?:[:.]\d{1,2})?"
_MERIDIEM = r"(?:[ap]m\b|[ap]\.m\b\.?)"
_NUMBER_WORD = "|".join([*_SMALL, *_BIG_WORDS])
_LEFT = r"(?<![\w.])"
_PATTERNS = {
    "iso_date": r"(?P<iso_y>\d{4})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b",
    "slash_date": r"(?P<sl_m>\d{1,2})/(?P<sl_d>\d{1,2})/(?P<sl_y>\d{4}|\d\d)\b",
    "dotted_date": r"(?P<do_d>\d{1,2})\.(?P<do_m>0?[1-9]|1[0-2])\.(?P<do_y>\d{4})\b",
    "month_day": rf"(?P<md_m>{_MONTH}) (?P<md_d>[0-3]?\d)(?:st|nd|rd|th)?\b(?!:)",
    "day_month": rf"(?P<dm_d>[0-3]?\d)(?:st|nd|rd|th)?(?: of)? (?P<dm_m>{_MONTH})(?!\w)",
    "month_year": rf"(?P<my_m>{_MONTH}),? (?:of )?(?P<my_y>\d{{4}})\b",
    "month": rf"(?P<mo_m>{'|'.join(_FULL_MONTHS)})\b",
    "weekday": rf"(?P<wd>(?:{'|'.join(_WEEKDAYS)})s?\b"
    rf"|(?:{_SHORT_DAY})\b(?=\.?[ ]?[-:,&/])|(?<=-)(?:{_SHORT_DAY})\b)",
    "span_of_hours": (
        rf"(?P<sh_from>{_CLOCK}) ?(?:-|to|until|till) ?(?P<sh_to>{_CLOCK}) ?(?P<sh_m>{_MERIDIEM})"
    ),
    "meridiem": rf"(?P<me_t>{_CLOCK}) ?(?P<me_m>{_MERIDIEM})",
    "clock": r"(?P<cl_h>[01]?\d|2[0-4]):(?P<cl_m>[0-5]?\d)(?::[0-5]\d)?(?![\d:])",
    "noon": r"(?:noon|midnight)\b",
    "ordinal": r"(?P<or_n>\d+)(?:st|nd|rd|th)\b",
    "amount": (
        rf"(?P<am_minus>{_MINUS})?(?P<am_sign>(?:us)?[$€£¥] ?)?"
        rf"(?:(?P<am_only>{_FRACTION})|(?P<am_n>{_AMOUNT})(?:[ -]?(?P<am_part>{_FRACTION}))?)"
        r"(?: ?(?P<am_scale>hundred|thousand|million|billion|trillion|mn|bn"
        r"|(?(am_sign)[km]|(?!)))\b)?"  # "5 m" are metres, "$5m" are millions
        rf"(?P<am_unit> ?%| ?percent\b| per cent\b|{_MONEY_WORD}| usd\b)?"
    ),
    "word_number": rf"(?:{_NUMBER_WORD})(?:[ -](?:and )?(?:{_NUMBER_WORD}))*\b"
    rf"(?P<wn_unit> percent\b| per cent\b|{_MONEY_WORD})?",
    "word_ordinal": rf"(?:{'|'.join(_ORDINAL_WORDS)})\b",
}
_SCAN = re.compile(
    _LEFT + "(?:" + "|".join(f"(?P<{name}>{body})" for name, body in _PATTERNS.items()) + ")"
)
# Small letters make these verbs, adjectives and nouns; "may 5" is no date, "May 5" is one.
_NOT_A_DATE = re.compile(
    rf"\bmay\b|\b(?:march|august)\b(?! \d)|\b(?:{_SHORT_DAY})\b"
    r"|(?<![a-z] )(?<!-)\bMay\b(?! \d|, ?\d)"  # "May I …", "May cause …"
)
_NOT_A_QUANTITY = re.compile(
    r"(?:^|\n)[ \t]*\(?\d{1,2}[.)](?=\s|\Z)"
    r"|\b(?:passage|step)s? #?\d{1,2}(?:(?:, and|,| and| or| to|-) ?\d{1,2})*(?!\d|\.\d)"
    r"|\bout of (?:5|five)\b|\b(?:in|within|under) \d{1,3} words\b"
    r"|\b(?:third|fourth|fifth)(?= (?:customer|review|person|diner|patron|guest|visitor))"
)


class Number(NamedTuple):
    """One number: `text[start:end]`, what it counts, and its canonical value.

    Attributes:
        start: First code point of the span.
        end: One past the last code point.
        kind: What is stated.
        value: A plain decimal ("3500000", "-5"), a date ("03-26", a month "03", a day of the
            week "monday") or a time ("22:30").
        currency: Of money.
    """

    start: int
    end: int
    kind: NumberKind
    value: str
    currency: Currency = ""


def numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers that a text states, in order, with exact code-point spans.

    A full date gives its day ("03-26") and, as a number of its own, its year.
    """
    plain = fold(_NOT_A_DATE.sub(lambda match: "_" * len(match[0]), text))
    labels = {at for match in _NOT_A_QUANTITY.finditer(plain) for at in range(*match.span())}
    found: list[Number] = []
    for match in _SCAN.finditer(plain):
        if match.start() not in labels:
            found.extend(_READERS[str(match.lastgroup)](match))
    return tuple(found)


def number_keys(found: Iterable[Number]) -> frozenset[tuple[str, str]]:
    """Return what a text states, for `is_stated`: each (kind, value), and ("any", value).

    A day states its month too: "March 26" states "March".
    """
    keys: set[tuple[str, str]] = set()
    for number in found:
        keys.add(_key(number))
        if number.kind == "date":
            keys.add(("date", number.value.partition("-")[0]))
        elif number.kind != "time":
            keys.add(("any", number.value))
    return frozenset(keys)


def is_stated(number: Number, keys: frozenset[tuple[str, str]]) -> bool:
    """Tell whether a source states a number: same value, and the same kind or one without kind.

    "50" is stated by "$50" and "50 %" by "50", but "50 %" is not stated by "$50", nor is "€50".
    """
    if number.kind == "number":
        return ("any", number.value) in keys
    return _key(number) in keys or ("number", number.value) in keys


def clock_words(value: str) -> str:
    """Return a time in words: "22:30" is "10:30 pm", "12:00" is "12 pm"."""
    hour, minute = (int(part) for part in value.split(":"))
    half = "am" if hour < 12 else "pm"
    minutes = f":{minute:02d}" if minute else ""
    return f"{(hour - 1) % 12 + 1}{minutes} {half}"


def _key(number: Number) -> tuple[str, str]:
    return number.kind, number.currency + number.value


def _iso_date(match: re.Match[str]) -> Iterator[Number]:
    yield from _day(match, match["iso_m"], match["iso_d"], match.span())
    yield _plain(match, "iso_y")


def _slash_date(match: re.Match[str]) -> Iterator[Number]:
    month, day = match["sl_m"], match["sl_d"]
    if int(month) > 12 >= int(day):  # the European order, where no other is possible
        month, day = day, month
    yield from _day(match, month, day, match.span())
    if len(match["sl_y"]) == 4:
        yield _plain(match, "sl_y")


def _dotted_date(match: re.Match[str]) -> Iterator[Number]:
    yield from _day(match, match["do_m"], match["do_d"], match.span())
    yield _plain(match, "do_y")


def _month_day(match: re.Match[str]) -> Iterator[Number]:
    yield from _day(match, _month_number(match["md_m"]), match["md_d"], match.span())


def _day_month(match: re.Match[str]) -> Iterator[Number]:
    yield from _day(match, _month_number(match["dm_m"]), match["dm_d"], match.span())


def _month_year(match: re.Match[str]) -> Iterator[Number]:
    yield Number(*match.span("my_m"), "date", _month_number(match["my_m"]))
    yield _plain(match, "my_y")


def _month(match: re.Match[str]) -> Iterator[Number]:
    yield Number(*match.span(), "date", _month_number(match["mo_m"]))


def _weekday(match: re.Match[str]) -> Iterator[Number]:
    named = next(day for day in _WEEKDAYS if day.startswith(match["wd"][:3]))
    yield Number(*match.span(), "date", named)


def _day(match: re.Match[str], month: str, day: str, span: tuple[int, int]) -> Iterator[Number]:
    yield Number(*span, "date", f"{int(month):02d}-{int(day):02d}")


def _plain(match: re.Match[str], group: str) -> Number:
    return Number(*match.span(group), "number", _canonical(Decimal(match[group])))


def _month_number(name: str) -> str:
    return f"{_MONTHS.index(name[:3]) + 1:02d}"


def _span_of_hours(match: re.Match[str]) -> Iterator[Number]:
    until = _time(match["sh_to"], match["sh_m"][0])
    since = _time(match["sh_from"], match["sh_m"][0])
    if since >= until and match["sh_m"][0] == "p":  # "11 to 5 pm" starts in the morning
        since = _time(match["sh_from"], "a")
    yield Number(*match.span("sh_from"), "time", since)
    yield Number(match.start("sh_to"), match.end(), "time", until)


def _meridiem(match: re.Match[str]) -> Iterator[Number]:
    yield Number(*match.span(), "time", _time(match["me_t"], match["me_m"][0]))


def _clock(match: re.Match[str]) -> Iterator[Number]:
    hour, minute = int(match["cl_h"]) % 24, int(match["cl_m"])
    yield Number(*match.span(), "time", f"{hour:02d}:{minute:02d}")


def _noon(match: re.Match[str]) -> Iterator[Number]:
    yield Number(*match.span(), "time", "12:00" if match[0] == "noon" else "00:00")


def _time(clock: str, half: str) -> str:
    hour, _, minute = clock.replace(".", ":").partition(":")
    hours = int(hour) % 12 + (12 if half == "p" else 0)
    return f"{hours:02d}:{int(minute or 0):02d}"


def _ordinal(match: re.Match[str]) -> Iterator[Number]:
    yield Number(*match.span(), "ordinal", _canonical(Decimal(match["or_n"])))


def _amount(match: re.Match[str]) -> Iterator[Number]:
    whole = Decimal((match["am_n"] or "0").replace(",", ""))
    value = whole + _fraction(match["am_part"] or match["am_only"])
    value *= _SCALE.get(match["am_scale"] or "", 1) * (-1 if match["am_minus"] else 1)
    currency = _currency(match["am_sign"] or match["am_unit"])
    kind = "money" if currency else _kind_of_unit(match["am_unit"])
    yield Number(*match.span(), kind, _canonical(value), currency)


def _word_number(match: re.Match[str]) -> Iterator[Number]:
    unit = match["wn_unit"] or ""
    spelled = re.split(r"[ -]", match[0].removesuffix(unit).replace(" and ", " "))
    if spelled != ["one"]:
        kind, value = _kind_of_unit(unit), str(_spelled_value(spelled))
        yield Number(*match.span(), kind, value, _currency(unit))


def _word_ordinal(match: re.Match[str]) -> Iterator[Number]:
    yield Number(*match.span(), "ordinal", str(_ORDINAL_WORDS[match[0]]))


def _fraction(written: str | None) -> Decimal:
    """Return the value of "½" or "1/2", rounded where it has no end."""
    if not written:
        return Decimal(0)
    if len(written) == 1:
        value = Decimal(unicodedata.numeric(written))
    else:
        above, _, below = written.partition("/")
        value = Decimal(above) / Decimal(below)
    return value.quantize(Decimal("0.0001"))


def _currency(written: str | None) -> Currency:
    """Return the currency of a sign or unit; "" where it is a percentage or nothing."""
    marks = (written or "").strip().replace("us$", "$")
    return next((sign for mark, sign in _CURRENCIES.items() if marks.startswith(mark)), "")


def _kind_of_unit(unit: str | None) -> NumberKind:
    if not unit:
        return "number"
    return "percent" if "%" in unit or "cent" in unit else "money"


def _spelled_value(spelled: list[str]) -> int:
    """Return the value of number words: "two hundred fifty thousand" is 250,000."""
    total = group = 0
    for word in spelled:
        if word in _SMALL:
            group += _SMALL[word]
        elif word == "hundred":
            group = max(group, 1) * 100
        else:
            total += max(group, 1) * _SCALE[word]
            group = 0
    return total + group


def _canonical(value: Decimal) -> str:
    """Return a decimal without exponent or trailing zeros: 4.0 and 4 are both "4"."""
    plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") or "0" if "." in plain else plain


_READERS: dict[str, Callable[[re.Match[str]], Iterator[Number]]] = {
    "iso_date": _iso_date,
    "slash_date": _slash_date,
    "dotted_date": _dotted_date,
    "month_day": _month_day,
    "day_month": _day_month,
    "month_year": _month_year,
    "month": _month,
    "weekday": _weekday,
    "span_of_hours": _span_of_hours,
    "meridiem": _meridiem,
    "clock": _clock,
    "noon": _noon,
    "ordinal": _ordinal,
    "amount": _amount,
    "word_number": _word_number,
    "word_ordinal": _word_ordinal,
}
