"""Opening hours in words: "9:0-22:30" is "9 am to 10:30 pm", and days that share their hours.

Source: the hours of the Yelp Open Dataset, of which RAGTruth's data-to-text sources are made.
They write a day on which a business stays shut as "0:0-0:0", and RAGTruth's annotators read it
so. Yelp writes round-the-clock opening the same way, so where no day has other hours the code
says nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.text.quantities.numbers import clock_words

WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS, _WEEKEND = WEEK[:5], WEEK[5:]
_SHUT = "0:0-0:0"
_WHOLE_DAYS = {_SHUT: "closed", "0:0-24:0": "open 24 hours"}
_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})-(\d{1,2}):(\d{1,2})", re.ASCII)
_NAMED_TIMES = {"12 am": "12 am (midnight)", "12 pm": "12 pm (noon)"}


class OpenDays(NamedTuple):
    """A statement about several days: a name that tells it from the others, words, the days."""

    name: str
    text: str
    days: tuple[str, ...]


def hours_words(value: str) -> str:
    """Return one day's hours in words, the code behind them; a value of another form as it is."""
    if value in _WHOLE_DAYS:
        return f"{_WHOLE_DAYS[value]} ({value})"
    span = _span(value)
    return value if span is None else f"{span} ({value})"


def opens_ever(hours: Mapping[str, JsonValue]) -> bool:
    """Tell whether any day has hours, so that "0:0-0:0" on the others means closed."""
    return any(map(_is_open, hours.values()))


def open_days(hours: Mapping[str, JsonValue]) -> Iterator[OpenDays]:
    """Yield what a week's hours say about several days at once.

    A day that is missing or null is unknown: it is said neither to be open nor to be closed.

    Args:
        hours: The name of a day to its hours.
    """
    if not opens_ever(hours):
        return
    open_on = [day for day in WEEK if _is_open(hours.get(day))]
    shut_on = [day for day in WEEK if hours.get(day) == _SHUT]
    if open_on:
        yield OpenDays("", _count(open_on, shut_on), (*open_on, *shut_on))
    spans = {day: said for day in open_on if (said := _said(hours[day])) is not None}
    yield from _shared_spans(spans)


def _is_open(value: JsonValue) -> bool:
    return isinstance(value, str) and value not in ("", _SHUT)


def _said(value: JsonValue) -> str | None:
    if not isinstance(value, str):
        return None
    return "24 hours" if value == "0:0-24:0" else _span(value)


def _span(value: str) -> str | None:
    match = _HOURS.fullmatch(value)
    if match is None:
        return None
    opening, closing = (int(match[1]), int(match[2])), (int(match[3]), int(match[4]))
    if any(hour * 60 + minute > 24 * 60 or minute > 59 for hour, minute in (opening, closing)):
        return None
    since, until = (clock_words(f"{hour % 24}:{minute}") for hour, minute in (opening, closing))
    return f"{_NAMED_TIMES.get(since, since)} to {_NAMED_TIMES.get(until, until)}"


def _count(open_on: Sequence[str], shut_on: Sequence[str]) -> str:
    """Say on which days it is open and shut; on how many a week only if all seven are known."""
    number = f"{len(open_on)} day{'s' if len(open_on) != 1 else ''} a week"
    if len(open_on) + len(shut_on) == len(WEEK):
        said = f"open {number}: {', '.join(open_on)}"
    else:
        said = f"open on {_listed(open_on)}"
    if not shut_on:
        return said
    shut = "weekends" if tuple(shut_on) == _WEEKEND else _listed([f"{day}s" for day in shut_on])
    return f"{said}; closed on {shut}"


def _shared_spans(spans: Mapping[str, str]) -> Iterator[OpenDays]:
    for span in dict.fromkeys(spans.values()):
        days = tuple(day for day in WEEK if spans.get(day) == span)
        if len(days) == len(WEEK):
            yield OpenDays("every-day", f"open every day, Monday to Sunday, {span}", days)
            yield OpenDays("daily", f"open daily, on weekdays and weekends, {span}", days)
            return
        if len(days) > 1:
            yield OpenDays("-".join(day[:3] for day in days), f"open {_runs(days)} {span}", days)
        if set(_WEEKDAYS) <= set(days):
            yield OpenDays("weekdays", f"open on weekdays {span}", _WEEKDAYS)
        if set(_WEEKEND) <= set(days):
            yield OpenDays("weekends", f"open on weekends {span}", _WEEKEND)


def _runs(days: Sequence[str]) -> str:
    """Say days in order, three or more in a row as a run: "Monday to Thursday and Sunday"."""
    said: list[str] = []
    numbered = enumerate(map(WEEK.index, days))
    for _, group in groupby(numbered, key=lambda pair: pair[1] - pair[0]):
        run = [WEEK[at] for _, at in group]
        said.extend(run if len(run) < 3 else [f"{run[0]} to {run[-1]}"])
    return _listed(said)


def _listed(said: Sequence[str]) -> str:
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)
