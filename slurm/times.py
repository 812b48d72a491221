"""SLURM's time limits: the forms that `sbatch --time` takes, and no others."""

import re

from ragmend.errors import ConfigError

FORMS = "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes[:seconds]"
UNLIMITED = frozenset({"UNLIMITED", "INFINITE", "NONE"})
_DAYS = re.compile(r"(\d{1,4})-(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,6})(?::(\d{1,2})(?::(\d{1,2}))?)?", re.ASCII)
_UNITS = re.compile(
    r"(\d+)\s*(d|day|days|h|hr|hours?|m|min|minutes?|s|sec|seconds?)", re.IGNORECASE
)


def parse_time(text: str) -> int:
    """Return a time limit in seconds.

    Args:
        text: As SLURM takes it: "30" and "30:00" are thirty minutes, "1-12" is 36 hours.

    Raises:
        ConfigError: SLURM would not take it, or take it for nothing; "90m" is no time.
    """
    text = text.strip()
    seconds = _seconds(text)
    if seconds is None:
        raise ConfigError(f"{text!r} is no time of SLURM's ({FORMS}){_advice(text)}")
    if seconds == 0:
        raise ConfigError(f"{text!r}: a job without time ends before it begins")
    return seconds


def format_time(seconds: int) -> str:
    """Return seconds as SLURM writes them: "1-12:00:00"."""
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def parse_limit(text: str) -> int | None:
    """Return the seconds of a limit that SLURM prints; None: there is no limit.

    Raises:
        ConfigError: It is no time.
    """
    return None if text.upper() in UNLIMITED else parse_time(text)


def _seconds(text: str) -> int | None:
    if found := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    first, second, third = found.groups()
    if third is not None:
        return (int(first) * 60 + int(second)) * 60 + int(third)
    return int(first) * 60 + int(second or 0)


def _advice(text: str) -> str:
    found = _UNITS.fullmatch(text)
    if found is None:
        return ""
    number, unit = int(found.group(1)), found.group(2)[0].lower()
    seconds = number * {"d": 86_400, "h": 3600, "m": 60, "s": 1}[unit]
    return f": write {format_time(seconds)!r}" if seconds else ""
