"""What a claim says about opening hours, held against the structured source.

"Open seven days a week from 7 am to 10 pm" shares every word with its evidence whether it is
true or not. Here the days and the span of hours are read from the claim, joined, and compared
with the source's hours of each day ("9:0-22:30").
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.text.words import fold

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
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
    r"|\b(?P<shut>closed)\b|\b(?P<besides>except(?:ion)?|excluding)\b"
)
# What may stand between a span of hours and the days that follow and belong to it.
_ON = re.compile(r"[\s,(]*(?:on|from|every|each|during|for)(?: the)?\s*")
_NEXT = re.compile(r"[\s,(]*(?:the\s*)?")
_AND = re.compile(r"\s*(?:,|,? and|&)\s*(?:on )?")
_TOPIC = re.compile(r"\b(?:open\w*|hours?|operat\w+|clos(?:e|es|ed|ing)|business hours)\b")
_OTHER_TOPIC = re.compile(r"\bhappy hour|\b(?:within|in|after|for) (?:an|\d+) hours?\b")
_YELP_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})-(\d{1,2}):(\d{1,2})")
_CLOCK_PARTS = re.compile(r"(\d{1,2})(?::(\d{1,2}))?(?::\d{1,2})?\s*([ap])?")
_NOON, _DAY_MINUTES = 12 * 60, 24 * 60

PieceKind = Literal["span", "days", "weekdays", "closed", "besides", "count", "longer", "vary"]
Hours = tuple[int, int]

_PLAIN: dict[str | None, PieceKind] = {
    "longer": "longer", "vary": "vary", "besides": "besides", "shut": "closed",
}  # fmt: skip


class _Piece(NamedTuple):
    """A part of a statement on hours: some days, a span of hours, "closed", a number of days."""

    kind: PieceKind
    start: int
    end: int
    days: frozenset[str] = frozenset()
    hours: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    n_days: int = 0


class HoursFindings(NamedTuple):
    """How many statements on opening hours agree with the source, and how many conflict."""

    n_agreeing: int
    n_conflicting: int


def hours_findings(text: str, hours: Mapping[str, JsonValue]) -> HoursFindings:
    """Compare what a text says about opening days and hours with a source.

    Args:
        text: A claim; one that does not talk about opening hours has no findings.
        hours: The source's hours, a day's name to "9:0-22:30"; a day that is missing, null or
            "0:0-0:0" is closed.
    """
    folded = fold(text)
    if not _TOPIC.search(folded) or _OTHER_TOPIC.search(folded):
        return HoursFindings(0, 0)
    known = _read_hours(hours)
    outcomes = list(_outcomes(folded, known)) if known else []
    return HoursFindings(sum(outcomes), len(outcomes) - sum(outcomes))


def _read_hours(hours: Mapping[str, JsonValue]) -> dict[str, Hours]:
    """Return the open days with opening and closing minute; what cannot be read is left out."""
    known: dict[str, Hours] = {}
    for day, value in hours.items():
        match = _YELP_HOURS.fullmatch(value) if isinstance(value, str) else None
        if match and value != "0:0-0:0":
            since, until = (
                60 * int(hour) + int(minute)
                for hour, minute in ((match[1], match[2]), (match[3], match[4]))
            )
            known[day.lower()] = (since % _DAY_MINUTES, until % _DAY_MINUTES)
    return known


def _pieces(folded: str) -> Iterator[_Piece]:
    for match in _PIECES.finditer(folded):
        text, kind = match.group(), match.lastgroup
        start, end = match.span()
        if kind == "span":
            if span := _span(text):
                yield _Piece("span", start, end, hours=span)
        elif kind == "count":
            count = match["count"]
            yield _Piece("count", start, end, n_days=_NUMBER.get(count) or int(count))
        elif kind in _PLAIN:
            yield _Piece(_PLAIN[kind], start, end)
        elif kind == "weekdays":
            yield _Piece("weekdays", start, end, frozenset(WEEK[:5]))
        else:
            yield _Piece("days", start, end, _days(text, kind))


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
        return frozenset({_NOON})
    match = _CLOCK_PARTS.match(clock)
    if match is None or int(match[1]) > 24 or int(match[2] or 0) > 59:
        return frozenset()
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3] is None or hour > 12:
        both = {hour % 24, (hour + 12) % 24} if hour <= 12 else {hour % 24}
        return frozenset(60 * each + minute for each in both)
    half = 12 if match[3] == "p" else 0
    return frozenset({60 * (hour % 12 + half) + minute})


def _outcomes(folded: str, known: Mapping[str, Hours]) -> Iterator[bool]:
    """Yield for each statement whether it agrees."""
    pieces = list(_pieces(folded))
    n = 0
    before: set[str] = set()  # days that no span has claimed yet
    while n < len(pieces):
        piece = pieces[n]
        n += 1
        if piece.kind == "besides":
            return  # "except on Fridays, when it closes at 5" takes days out again
        if piece.kind == "count":
            yield piece.n_days == len(known)
        elif piece.kind == "vary":
            yield len(set(known.values())) > 1
        elif piece.kind == "longer":
            yield _is_longer_on_weekends(known)
        elif piece.kind in ("days", "weekdays"):
            before |= _meant(piece, known)
        elif piece.kind == "closed":
            days, n = _following_days(folded, piece, pieces, n, known, has_days=bool(before))
            if days or before:
                yield not any(day in known for day in days or before)
            before = set() if not days else before
        else:
            days, n = _following_days(folded, piece, pieces, n, known, has_days=bool(before))
            yield _agrees(piece, days or before or set(known), known)
            before = before if days else set()
    if before and not any(piece.kind == "span" for piece in pieces):
        yield all(day in known for day in before)


def _following_days(
    folded: str,
    piece: _Piece,
    pieces: list[_Piece],
    n: int,
    known: Mapping[str, Hours],
    *,
    has_days: bool,
) -> tuple[set[str], int]:
    """Return the days right behind a piece, "on Fridays and Saturdays", and where they end.

    A piece that has days before it takes those behind it only by a word: in "Monday 9 to 5,
    Friday 9 to 8" it does not.
    """
    days: set[str] = set()
    end = piece.end
    while n < len(pieces) and pieces[n].kind in ("days", "weekdays"):
        joint = _AND if days else _ON
        is_next = not days and not has_days and _NEXT.fullmatch(folded, end, pieces[n].start)
        if not is_next and not joint.fullmatch(folded, end, pieces[n].start):
            break
        days |= _meant(pieces[n], known)
        end = pieces[n].end
        n += 1
    return days, n


def _meant(piece: _Piece, known: Mapping[str, Hours]) -> set[str]:
    """Return the days that a piece means; "weekdays" are those on which the business opens."""
    if piece.kind == "weekdays":
        return {day for day in piece.days if day in known} or set(piece.days)
    return set(piece.days)


def _is_longer_on_weekends(known: Mapping[str, Hours]) -> bool:
    spans = {day: (until - since) % _DAY_MINUTES for day, (since, until) in known.items()}
    weekend = [spans[day] for day in WEEK[4:] if day in spans]
    return bool(weekend) and max(weekend) > min(spans[day] for day in spans)


def _agrees(piece: _Piece, days: set[str], known: Mapping[str, Hours]) -> bool:
    since, until = piece.hours
    return all(day in known and known[day][0] in since and known[day][1] in until for day in days)
