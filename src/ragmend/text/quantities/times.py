"""Times of day: "9:0" is "9 am", and "22:30" is "10:30 pm"."""

import re
from collections.abc import Iterator

from ragmend.text.quantities.types import Number

_CLOCK = r"\d{1,2}(?:[:.]\d{1,2})?"
_MERIDIEM = r"(?:[ap]m\b|[ap]\.m\b\.?)"
TIME_PATTERNS = {
    "span_of_hours": (
        rf"(?P<sh_from>{_CLOCK}) ?(?:-|to|until|till) ?(?P<sh_to>{_CLOCK}) ?(?P<sh_m>{_MERIDIEM})"
    ),
    "meridiem": rf"(?P<me_t>{_CLOCK}) ?(?P<me_m>{_MERIDIEM})",
    "clock": r"(?P<cl_h>[01]?\d|2[0-4]):(?P<cl_m>[0-5]?\d)(?::[0-5]\d)?(?![\d:])",
    "oclock": r"(?P<oc_h>1[0-2]|[1-9]) ?o'clock\b",
}
TIME_WORD_PATTERNS = {"noon": r"(?:noon|midnight)\b"}


def clock_words(value: str) -> str:
    """Return a time in words: "22:30" is "10:30 pm", "12:00" is "12 pm"."""
    hour, minute = (int(part) for part in value.split(":"))
    half = "am" if hour < 12 else "pm"
    minutes = f":{minute:02d}" if minute else ""
    return f"{(hour - 1) % 12 + 1}{minutes} {half}"


def hour_on_the_clock(value: str) -> str | None:
    """Return a full hour without its half of the day: "21:00" is "9 o'clock"."""
    hour, _, minute = value.partition(":")
    return f"{(int(hour) - 1) % 12 + 1} o'clock" if minute == "00" else None


def span_of_hours(match: re.Match[str]) -> Iterator[Number]:
    """Read "5 to 9 pm": the first hour takes the half of the day that fits."""
    until = _time(match["sh_to"], match["sh_m"][0])
    since = _time(match["sh_from"], match["sh_m"][0])
    if since >= until and match["sh_m"][0] == "p":  # "11 to 5 pm" starts in the morning
        since = _time(match["sh_from"], "a")
    yield Number(*match.span("sh_from"), "time", since)
    yield Number(match.start("sh_to"), match.end(), "time", until)


def meridiem(match: re.Match[str]) -> Iterator[Number]:
    """Read "9 pm" or "10:30 a.m."."""
    yield Number(*match.span(), "time", _time(match["me_t"], match["me_m"][0]))


def clock(match: re.Match[str]) -> Iterator[Number]:
    """Read "22:30" or "9:0"."""
    hour, minute = int(match["cl_h"]) % 24, int(match["cl_m"])
    yield Number(*match.span(), "time", f"{hour:02d}:{minute:02d}")


def oclock(match: re.Match[str]) -> Iterator[Number]:
    """Read "9 o'clock", in the morning or in the evening."""
    yield Number(*match.span(), "time", f"{match['oc_h']} o'clock")


def noon(match: re.Match[str]) -> Iterator[Number]:
    """Read "noon" and "midnight"."""
    yield Number(*match.span(), "time", "12:00" if match[0] == "noon" else "00:00")


def _time(written: str, half: str) -> str:
    hour, _, minute = written.replace(".", ":").partition(":")
    hours = int(hour) % 12 + (12 if half == "p" else 0)
    return f"{hours:02d}:{int(minute or 0):02d}"
