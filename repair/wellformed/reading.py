"""An answer read line by line, as every finding about lines sees it."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
COLON_LINE = re.compile(r".*\w[*_\"”)]*:[*_]*\s*\Z")
# A line's own number: "3. ", "a) " is none, "**Step 3:**".
COUNTED = re.compile(
    r"(?P<indent>\s*)(?P<front>[#*_> ]*)(?:(?P<step>step )(?=\d+\s*[:.)*–-]))?(?P<open>\(?)"
    r"(?P<number>\d{1,3})(?P<close>[.):*–-]?)(?(step)|(?<=[.)])(?=\s))",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•–◦▪]\s|[•◦▪]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]\s)")
_HEADING = re.compile(r"\s*(?P<signs>#{1,6})\s")
_BOLD_LINE = re.compile(r"\s*(?:\d{1,3}[.)]\s+|[-•]\s+)?\*\*[^*]+\*\*:?\s*\Z")
_FRONT = re.compile(r"\W*(?:step )?(?:\d{1,3}[.):]\s*)?\W*", re.IGNORECASE)
_BOLD_RANK = 7


class Line(NamedTuple):
    """A line with something to read on it.

    Attributes:
        text: The line.
        rank: That of a heading: markdown's, then bold lines; 0 is none.
        item: Indent and class of a list item's marker; "" is none.
        is_colon: Whether it ends with a colon.
    """

    text: str
    rank: int
    item: str
    is_colon: bool


def text_lines(text: str) -> list[str]:
    """Return the lines that are not blank."""
    return [line for line in LINE_END.split(text) if line.strip()]


def read_lines(text: str) -> list[Line]:
    """Read the lines that have a letter or digit."""
    return [_read_line(line) for line in text_lines(text) if any(map(str.isalnum, line))]


def followed(text: str) -> Iterator[tuple[Line, Line | None]]:
    """Yield each line and the one below."""
    lines = read_lines(text)
    yield from zip_longest(lines, lines[1:])


def is_listed(line: Line) -> bool:
    """Tell whether a line is an item, a step, a row or code."""
    is_step = COUNTED.match(line.text) is not None
    return bool(line.item) or is_step or line.text.lstrip()[:1] in ("|", "`", "~")


def label(line: str) -> str:
    """Return a line behind its marker, so that a number counted anew makes no other line of it."""
    return line[front_end(line) :].rstrip("*_ ").lower()


def front_end(line: str) -> int:
    """Return where a line's marker ends."""
    front = _FRONT.match(line)
    return front.end() if front else 0


def _read_line(line: str) -> Line:
    heading, item = _HEADING.match(line), _ITEM.match(line)
    is_bold = _BOLD_LINE.match(line) is not None
    rank = len(heading["signs"]) if heading else _BOLD_RANK if is_bold else 0
    marker = ""
    if item:
        is_counter = any(map(str.isalnum, item.group()))
        marker = f"{len(item['indent'])}{'counter' if is_counter else 'bullet'}"
    return Line(line, rank, marker, COLON_LINE.match(line) is not None)
