"""What a claim says about opening hours, held against the structured source.

"Open seven days a week from 7 am to 10 pm" shares every word with its evidence whether it is
true or not. Here the days and the span of hours are read from the claim, joined, and compared
with the source's hours of each day ("9:0-22:30"). What cannot be read has no finding.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.repair.lexical.hour_pieces import (
    DAY_MINUTES,
    WEEK,
    Piece,
    has_lone_clock,
    hour_pieces,
)
from ragmend.text.words import fold

_CLOSED = "0:0-0:0"  # how Yelp's data write a day on which a business does not open
_YELP_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})-(\d{1,2}):(\d{1,2})")
_TOPIC = re.compile(r"\b(?:open\w*|hours?|operat\w+|clos(?:e|es|ed|ing)|business hours)\b")
_OTHER_TOPIC = re.compile(r"\bhappy hour|\b(?:within|in|after|for) (?:an|\d+) hours?\b")
# What may stand between a span of hours and the days behind it that belong to it.
_ON = re.compile(r"\s+|[\s,(]*(?:on|from|every|each|during|for)(?: the)?\s*")
_NEXT = re.compile(r"[\s,(]*(?:the\s*)?")
_AND = re.compile(r"\s*(?:,|,? and|&)\s*(?:on )?")


class HoursFindings(NamedTuple):
    """How many statements on opening hours agree with the source, and how many conflict."""

    n_agreeing: int
    n_conflicting: int


class _Week(NamedTuple):
    """The hours of the days of which something is known.

    Attributes:
        hours_of: Opening and closing minute of each open day.
        closed: The days that are known to be closed.
    """

    hours_of: dict[str, tuple[int, int]]
    closed: frozenset[str]

    def is_open(self, day: str) -> bool | None:
        """Tell whether the business opens on a day; None where nobody says."""
        return True if day in self.hours_of else False if day in self.closed else None


def hours_findings(text: str, hours: Mapping[str, JsonValue]) -> HoursFindings:
    """Compare what a text says about opening days and hours with a source.

    Args:
        text: A claim; one that does not talk about opening hours has no findings.
        hours: The source's hours, a day's name to "9:0-22:30"; a day that is "0:0-0:0" or not
            listed is closed, as RAGTruth's annotators read it; of null nothing is known.
    """
    folded = fold(text)
    if not _TOPIC.search(folded) or _OTHER_TOPIC.search(folded):
        return HoursFindings(0, 0)
    week = _read_week(hours)
    pieces = hour_pieces(folded)
    # "Except on Fridays, when it closes at 5" takes days out of what was said before.
    is_read = not any(piece.kind == "besides" for piece in pieces)
    if not week.hours_of or not is_read or has_lone_clock(folded, pieces):
        return HoursFindings(0, 0)
    outcomes = [outcome for outcome in _outcomes(folded, pieces, week) if outcome is not None]
    return HoursFindings(sum(outcomes), len(outcomes) - sum(outcomes))


def _read_week(hours: Mapping[str, JsonValue]) -> _Week:
    """Read each day's hours; what cannot be read is not known."""
    hours_of: dict[str, tuple[int, int]] = {}
    for day, value in hours.items():
        match = _YELP_HOURS.fullmatch(value) if isinstance(value, str) else None
        if match and value != _CLOSED:
            since, until = (
                60 * int(hour) + int(minute)
                for hour, minute in ((match[1], match[2]), (match[3], match[4]))
            )
            hours_of[day.lower()] = (since % DAY_MINUTES, until % DAY_MINUTES)
    listed = {day.lower(): value for day, value in hours.items()}
    closed = frozenset(day for day in WEEK if listed.get(day, _CLOSED) == _CLOSED)
    return _Week(hours_of, closed)


def _outcomes(folded: str, pieces: list[Piece], week: _Week) -> Iterator[bool | None]:
    """Yield for each statement whether it agrees; None: the source does not say."""
    n = 0
    before: set[str] = set()  # days that no span has claimed yet
    while n < len(pieces):
        piece = pieces[n]
        n += 1
        if piece.kind == "count":
            yield _has_open_days(piece.n_days, week)
        elif piece.kind == "vary":
            yield len(set(week.hours_of.values())) > 1
        elif piece.kind == "longer":
            yield _is_longer_on_weekends(week)
        elif piece.kind in ("days", "weekdays"):
            before |= _meant(piece, week)
        else:
            days, n = _following_days(folded, pieces, n, week, has_days=bool(before))
            if piece.kind == "span":
                yield _all(_has_hours(piece, day, week) for day in days or before or week.hours_of)
            elif days or before:
                yield _all(_not(week.is_open(day)) for day in days or before)
            before = before if days else set()
    if before and not any(piece.kind == "span" for piece in pieces):
        yield _all(week.is_open(day) for day in before)


def _following_days(
    folded: str, pieces: list[Piece], n: int, week: _Week, *, has_days: bool
) -> tuple[set[str], int]:
    """Return the days right behind the piece before `n`, and the first piece behind them.

    A piece that has days before it takes those behind it only without a comma or by a word: in
    "Monday 9 to 5, Friday 9 to 8" it does not.
    """
    days: set[str] = set()
    end = pieces[n - 1].end
    while n < len(pieces) and pieces[n].kind in ("days", "weekdays"):
        joint = _AND if days else _ON
        is_next = not days and not has_days and _NEXT.fullmatch(folded, end, pieces[n].start)
        if not is_next and not joint.fullmatch(folded, end, pieces[n].start):
            break
        days |= _meant(pieces[n], week)
        end = pieces[n].end
        n += 1
    return days, n


def _meant(piece: Piece, week: _Week) -> set[str]:
    """Return the days that a piece means; "weekdays" are those on which the business opens."""
    if piece.kind == "weekdays":
        return {day for day in piece.days if day in week.hours_of} or set(piece.days)
    return set(piece.days)


def _has_open_days(n_days: int, week: _Week) -> bool | None:
    n_open = len(week.hours_of)
    n_known = n_open + len(week.closed)
    if n_known == len(WEEK):
        return n_open == n_days
    return None if n_open <= n_days <= n_open + len(WEEK) - n_known else False


def _is_longer_on_weekends(week: _Week) -> bool:
    length = {day: (until - since) % DAY_MINUTES for day, (since, until) in week.hours_of.items()}
    weekend = [length[day] for day in WEEK[4:] if day in length]
    return bool(weekend) and max(weekend) > min(length.values())


def _has_hours(piece: Piece, day: str, week: _Week) -> bool | None:
    if day not in week.hours_of:
        return week.is_open(day)
    since, until = week.hours_of[day]
    return since in piece.hours[0] and until in piece.hours[1]


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Return whether all are so: one that is not decides, else one that is unknown."""
    listed = list(answers)
    return False if False in listed else None if None in listed else True
