"""Dates, months, days of the week, years and decades.

"Jan. 5", "5 January" and "01/25" are days; "01/05" is one whose order nobody knows, so that it
is stated by "01/05" alone. A year belongs to its day: "March 26, 2016" is not stated by
"March 26, 2015 … in 2016".
"""

import re
from collections.abc import Iterator

from ragmend.text.quantities.number_words import DECADE_WORD, decade_in_words
from ragmend.text.quantities.types import Number

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
SHORT_DAY = "mon|tues?|wed|thu(?:rs?)?|fri|sat|sun"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_TH = r"(?: ?(?:st|nd|rd|th)\b)?"
_YEAR = r"(?:1\d|20)\d\d"
# Behind another capital a month is a surname: "Theresa May", but "Last May" and "Monday, May 5".
_BEFORE_A_DATE = (
    "After|Around|As|Before|Between|By|During|Early|Every|For|From|In|Last|Late|Mid|Next|Of|On"
    "|Since|Spring|The|This|Through|Till|To|Until"
)
SURNAME_MONTH = (
    rf"(?=[A-Z])(?!(?:{_BEFORE_A_DATE})\b)[A-Z][a-z]+ (?=[AJM])"
    r"(?P<surname>April|August|June|March|May)\b(?!,? \d)"
)
_OWNER = re.compile(r"\b(?:his|her|their|our|my|your) (?:early |late |mid-?)?\Z")
DATE_PATTERNS = {
    "iso_date": r"(?P<iso_y>\d{4})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b",
    "slash_date": r"(?P<sl_1>\d{1,2})/(?P<sl_2>\d{1,2})/(?P<sl_y>\d{4}|\d\d)\b",
    "short_date": rf"(?:(?P<ss_1>0[1-9])/(?P<ss_2>{_DAY})|(?P<ss_3>{_DAY})/(?P<ss_4>0[1-9]))"
    r"(?![\d/])",
    "dotted_date": r"(?P<do_1>\d{1,2})\.(?P<do_2>0?[1-9]|1[0-2])\.(?P<do_y>\d{4})\b",
    "day_month": rf"(?:(?P<dm_from>{_DAY}){_TH}(?:-| - | to | and ))?(?P<dm_d>{_DAY}){_TH}"
    rf"(?: of)?[ -](?P<dm_m>{_MONTH})(?!\w)(?:,? (?P<dm_y>{_YEAR})\b)?",
    "decade": r"(?:(?P<de_y>(?:1\d|20)\d0)|'?(?P<de_n>\d0))'?s\b",
}
DATE_WORD_PATTERNS = {
    "month_day": rf"(?P<md_m>{_MONTH}) (?:the )?(?P<md_d>{_DAY}){_TH}(?!:?\d)"
    rf"(?:(?:-| - | to | through )(?P<md_to>{_DAY}){_TH}(?!:?\d))?"
    rf"(?:,? (?P<md_y>{_YEAR})\b)?",
    "month_year": rf"(?P<my_m>{_MONTH}),? (?:of )?(?P<my_y>\d{{4}})\b",
    "month": rf"(?P<mo_m>{'|'.join(_FULL_MONTHS)})\b",
    "weekday": rf"(?P<wd>(?:{'|'.join(_WEEKDAYS)})s?\b"
    rf"|(?:{SHORT_DAY})\b(?=\.?[ ]?[-:,&/])|(?<=-)(?:{SHORT_DAY})\b)",
    "spelled_decade": rf"the (?:early |late |mid-)?(?P<sd>{DECADE_WORD})\b",
}


def iso_date(match: re.Match[str]) -> Iterator[Number]:
    """Read "2015-03-26"."""
    yield _day(match.span(), match["iso_m"], match["iso_d"], match["iso_y"])


def slash_date(match: re.Match[str]) -> Iterator[Number]:
    """Read "3/26/2015" and "26/3/2015"; a year of two digits is left out."""
    year = match["sl_y"] if len(match["sl_y"]) == 4 else None
    yield _day_in_some_order(match.span(), match["sl_1"], match["sl_2"], year)


def short_date(match: re.Match[str]) -> Iterator[Number]:
    """Read "03/26" and "26/03", known for a date by its zero."""
    first, second = match["ss_1"] or match["ss_3"], match["ss_2"] or match["ss_4"]
    yield _day_in_some_order(match.span(), first, second, None)


def dotted_date(match: re.Match[str]) -> Iterator[Number]:
    """Read "26.03.2015"."""
    yield _day_in_some_order(match.span(), match["do_1"], match["do_2"], match["do_y"])


def month_day(match: re.Match[str]) -> Iterator[Number]:
    """Read "March 26", "Mar. 26th, 2015" and both days of "March 26-28"."""
    month, year = month_number(match["md_m"]), match["md_y"]
    if match["md_to"] is None:
        yield _day(match.span(), month, match["md_d"], year)
        return
    until = match.start("md_to")
    yield _day((match.start(), match.end("md_d")), month, match["md_d"], year)
    yield _day((until, match.end()), month, match["md_to"], year)


def day_month(match: re.Match[str]) -> Iterator[Number]:
    """Read "26 March", "the 26th of March 2015" and both days of "26-28 March"."""
    month, year = month_number(match["dm_m"]), match["dm_y"]
    if match["dm_from"]:
        yield _day(match.span("dm_from"), month, match["dm_from"], year)
    yield _day((match.start("dm_d"), match.end()), month, match["dm_d"], year)


def month_year(match: re.Match[str]) -> Iterator[Number]:
    """Read "March 2015"."""
    yield Number(*match.span(), "date", f"{match['my_y']}-{month_number(match['my_m'])}")


def month(match: re.Match[str]) -> Iterator[Number]:
    """Read "March"."""
    yield Number(*match.span(), "date", month_number(match["mo_m"]))


def weekday(match: re.Match[str]) -> Iterator[Number]:
    """Read "Mondays" and "Mon-Fri"."""
    named = next(day for day in _WEEKDAYS if day.startswith(match["wd"][:3]))
    yield Number(*match.span(), "date", named)


def decade(match: re.Match[str]) -> Iterator[Number]:
    """Read "1990s" and "'90s"; "'20s" may be of either century, "her 90s" are an age."""
    tens = match["de_n"]
    if tens and _OWNER.search(match.string, max(0, match.start() - 16), match.start()):
        yield Number(*match.span(), "number", f"{tens}s", "year old")
    else:
        yield Number(*match.span(), "year", (match["de_y"] or _century_of(tens)) + "s")


def spelled_decade(match: re.Match[str]) -> Iterator[Number]:
    """Read "the nineties"."""
    yield Number(*match.span(), "year", _century_of(decade_in_words(match["sd"])) + "s")


def split_year(value: str) -> tuple[str, str]:
    """Return the year of a date, "" where it has none, and the rest."""
    return (value[:4], value[5:]) if value[4:5] == "-" else ("", value)


def month_number(name: str) -> str:
    """Return the number of a month's name: "sept." is "09"."""
    return f"{_MONTHS.index(name[:3]) + 1:02d}"


def _century_of(tens: str) -> str:
    return f"19{tens}" if tens >= "30" else tens


def _day_in_some_order(span: tuple[int, int], first: str, second: str, year: str | None) -> Number:
    """Return a day whose parts tell their order, or both parts as they are written."""
    if int(first) > 12 >= int(second):
        return _day(span, second, first, year)
    if int(second) > 12 or int(first) == int(second):
        return _day(span, first, second, year)
    return Number(*span, "date", _with_year(year, f"{int(first):02d}/{int(second):02d}"))


def _day(span: tuple[int, int], month: str, day: str, year: str | None) -> Number:
    return Number(*span, "date", _with_year(year, f"{int(month):02d}-{int(day):02d}"))


def _with_year(year: str | None, rest: str) -> str:
    return f"{year}-{rest}" if year else rest
