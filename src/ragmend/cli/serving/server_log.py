"""What a server's log says of its end."""

import re
from pathlib import Path

MOST_LINES = 3
MOST_CHARS = 300
TAIL_BYTES = 256_000
# "(EngineCore pid=123) ERROR 11-30 17:30:44 [core.py:133] " and colours.
_PREFIX = re.compile(r"^(?:\([^)]*pid=\d+\)\s*)?(?:[A-Z]+ \d\d-\d\d [\d:]+ \[[^\]]*\]\s*)?")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ERROR = re.compile(
    r"^(?:[\w.]*(?:Error|Exception|Interrupt)\b|Value error, |\S*: error: |.*\bNo module named )"
)
# What only says that another process said why.
_ELSEWHERE = re.compile(r"See root cause above|See stack trace")
_TAKEN = re.compile(r"address already in use", re.IGNORECASE)


def telling_lines(log: Path, *, start: int = 0) -> str:
    """Return the lines of a log that say what went wrong, else its last ones, in one line.

    Args:
        log: The log.
        start: The byte at which the server's own part begins.
    """
    lines = [_plain(line) for line in _read(log, start).splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if _ERROR.match(line)]
    errors = [line for line in errors if not _ELSEWHERE.search(line)] or errors
    distinct = list(dict.fromkeys(errors or lines))[-MOST_LINES:]
    return " | ".join(line[:MOST_CHARS] for line in distinct)


def says_port_taken(log: Path, *, start: int = 0) -> bool:
    """Tell whether a server ended because its port was taken."""
    return _TAKEN.search(_read(log, start)) is not None


def _read(log: Path, start: int) -> str:
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(start, size - TAIL_BYTES))
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""  # a log that is gone says nothing


def _plain(line: str) -> str:
    text = _PREFIX.sub("", _COLOUR.sub("", line)).strip()
    return "".join(character for character in text if character.isprintable())
