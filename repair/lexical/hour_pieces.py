"""The pieces of a statement on opening hours: days, spans of hours, "closed", a number of days."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NOON, DAY_MINUTES = 12 * 60, 24 * 60

PieceKind = Literal["span", "days", "weekdays", "closed", "besides", "count", "longer", "vary"]

_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_JOINED_BY = r"\s*(?:-|to|through|thru|till|until)\s*"
_CLOCK = r"(?:\d{1,2}(?::\d{1,2}){0,2}\s*(?:[ap]\.?m\b\.?|o'clock)?|midnight|noon|midday)"
_NUMBER = {"five": 5, "six": 6, "seven": 7, "four": 4, "three": 3, "two": 2, "one": 1}
_PIECES = re.compile(
    rf"\b(?P<span>{_CLOCK}(?:{_JOINED_BY}|\s+and\s+(?:closes? at )?){_CLOCK})"
    rf"|\b(?P<range>{_DAY}{_JOINED_BY}{_DAY})\b"
    rf"|\b(?P<day>{_DAY})\b"
    r"|\b(?P<weekdays>weekdays?)\b"
    r"|\b(?P<longer>(?:extended|longer|later) hours (?:on|during|over)(?: the)? weekends?)\b"
    r"|\b(?P<weekend>weekends?)\b"
    r"|\b(?P<vary>hours (?:that )?var(?:y|ying)|var(?:ying|ied) hours)\b"
    r"|\b(?P<daily>daily|every ?day|all week|each day)\b"
    r"|\b(?P<count>one|two|three|four|five|six|seven|[1-7]) days (?:a|per|each|of the) week\b"
    r"|\b(?P<shut>closed|(?:not|never|\w+n't) (?:be )?open)\b"
    r"|\b(?P<besides>except(?:ion)?|excluding)\b"
)
# A clock by itself says when it opens or closes, which is not read.
_LONE_CLOCK = re.compile(
    r"\b\d{1,2}(?::\d{2})?\s*[ap]\.?m\b|\b\d{1,2}:\d{2}\b|\b(?:midnight|noon|midday)\b"
    r"|(?:(?<=\bat )|(?<=\buntil )|(?<=\btill )|(?<=\bby ))\d{1,2}\b"
)
_CLOCK_PARTS = re.compile(r"(\d{1,2})(?::(\d{1,2}))?(?::\d{1,2})?\s*([ap])?")
_PLAIN: dict[str | None, PieceKind] = {
    "longer": "longer", "vary": "vary", "besides": "besides", "shut": "closed",
}  # fmt: skip


class Piece(NamedTuple):
    """One piece.

    Attributes:
        kind: What it is.
        start: Where it begins in the folded text.
        end: Where it ends.
        days: The days that it names.
        hours: The minutes of the day at which a span may begin, and at which it may end.
        n_days: How many days a week.
    """

    kind: PieceKind
    start: int
    end: int
    days: frozenset[str] = frozenset()
    hours: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    n_days: int = 0


def hour_pieces(folded: str) -> list[Piece]:
    """Return the pieces of a folded text in order."""
    return list(_pieces(folded))


def has_lone_clock(folded: str, pieces: list[Piece]) -> bool:
    """Tell whether a clock stands in the text that belongs to no span."""
    spans = [(piece.start, piece.end) for piece in pieces if piece.kind == "span"]
    return any(
        not any(start <= clock.start() < end for start, end in spans)
        for clock in _LONE_CLOCK.finditer(folded)
    )


def _pieces(folded: str) -> Iterator[Piece]:
    for match in _PIECES.finditer(folded):
        text, kind = match.group(), match.lastgroup
        start, end = match.span()
        if kind == "span":
            if span := _span(text):
                yield Piece("span", start, end, hours=span)
        elif kind == "count":
            count = match["count"]
            yield Piece("count", start, end, n_days=_NUMBER.get(count) or int(count))
        elif kind in _PLAIN:
            yield Piece(_PLAIN[kind], start, end)
        elif kind == "weekdays":
            yield Piece("weekdays", start, end, frozenset(WEEK[:5]))
        else:
            yield Piece("days", start, end, _days(text, kind))


def _days(text: str, kind: str | None) -> frozenset[str]:
    if kind == "daily":
        return frozenset(WEEK)
    if kind == "weekend":
        return frozenset(WEEK[5:])
    if kind == "day":
        return frozenset({_day(text)})
    first, last = (WEEK.index(_day(part)) for part in re.split(_JOINED_BY, text, maxsplit=1))
    return frozenset(WEEK[(first + n) % 7] for n in range((last - first) % 7 + 1))


def _day(text: str) -> str:
    return next(day for day in WEEK if day.startswith(text[:3]))


def _span(text: str) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return the possible minutes of the two clocks of "11 am to midnight", or None."""
    clocks = re.findall(_CLOCK, text)
    if len(clocks) != 2:
        return None
    since, until = (_minutes(clock) for clock in clocks)
    has_mark = any(mark in text for mark in (":", "m", "noon", "midnight"))
    return (since, until) if since and until and has_mark else None


def _minutes(clock: str) -> frozenset[int]:
    """Return the minutes of the day that a clock may mean: two without am or pm."""
    if "midnight" in clock:
        return frozenset({0})
    if "noon" in clock or "midday" in clock:
        return frozenset({NOON})
    match = _CLOCK_PARTS.match(clock)
    if match is None or int(match[1]) > 24 or int(match[2] or 0) > 59:
        return frozenset()
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3] is None or hour > 12:
        both = {hour % 24, (hour + 12) % 24} if hour <= 12 else {hour % 24}
        return frozenset(60 * each + minute for each in both)
    half = 12 if match[3] == "p" else 0
    return frozenset({60 * (hour % 12 + half) + minute})
