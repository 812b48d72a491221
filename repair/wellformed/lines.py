"""Findings about the lines of an answer: items, numbers, headings, lead-ins, tables, ends."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_EMPTY_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,3}|[a-z])[.)]|[*_]{1,4}|#{1,6}|>+)\s*\Z")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•–◦▪]\s|[•◦▪]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]\s)")
_COUNTED = re.compile(
    r"(?P<indent>\s*)(?P<front>[#*_> ]*)(?:(?P<step>step )(?=\d+\s*[:.)*–-]))?(?P<open>\(?)"
    r"(?P<number>\d{1,3})(?P<close>[.):*–-]?)(?(step)|(?<=[.)])(?=\s))",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*(?P<signs>#{1,6})\s")
_BOLD_LINE = re.compile(r"\s*(?:\d{1,3}[.)]\s+|[-•]\s+)?\*\*[^*]+\*\*:?\s*\Z")
_COLON_LINE = re.compile(r".*\w[*_\"”)]*:[*_]*\s*\Z")
_ROW = re.compile(r"\s*\|.*\|")
_RULE = re.compile(r"\s*\|?\s*:?-+[-|:\s]*\Z")
_UNSTOPPED = re.compile(r"[^\W_][\"”’)\]*_`]*\Z|[,;–—-]\Z")
_NOTE = re.compile(r"[.!?…][\"”’*_]*\s*\([^()]*\)\Z")  # "… fell. (Passage 3)"
_FRONT = re.compile(r"\W*(?:step )?(?:\d{1,3}[.):]\s*)?\W*", re.IGNORECASE)
_REFERENCE = re.compile(r"\b(?:steps?|items?|points?) \(?\d", re.IGNORECASE)
_BOLD_RANK = 7
_TAIL = 24
_LONGEST_NOTE = 80


class _Line(NamedTuple):
    text: str
    rank: int  # of a heading: markdown's, then bold lines; 0: none
    item: str  # indent and class of a list item's marker; "": none
    is_colon: bool


def empty_items(text: str) -> Counter[str]:
    """Count the markers with nothing behind them."""
    return Counter(
        line.strip()[:2].strip("0123456789") for line in _lines(text) if _EMPTY_ITEM.match(line)
    )


def number_breaks(text: str) -> Counter[str]:
    """Count the list numbers that neither go on from the one before nor begin with 1.

    Numbers of which the text speaks ("repeat step 3") must be as they were: none counts then.
    """
    last: dict[tuple[int, str], int] = {}
    breaks: Counter[str] = Counter()
    if any(_REFERENCE.search(line, _front_end(line)) for line in _lines(text)):
        return breaks
    for line in _lines(text):
        match = _COUNTED.match(line)
        if match is None:
            continue
        indent, number = len(match["indent"].expandtabs(4)), int(match["number"])
        last = {key: value for key, value in last.items() if key[0] <= indent}
        style = f"{match['step'] or match['front']}{match['open']}{match['close']}".lower()
        if number not in (1, last.get((indent, style), 0) + 1):
            breaks["number"] += 1
        last[indent, style] = number
    return breaks


def bare_heads(text: str) -> Counter[str]:
    """Count the headings with nothing below but the end or a heading as high."""
    bare: Counter[str] = Counter()
    for line, below in _followed(text):
        is_bare = below is None or 0 < below.rank <= line.rank
        if line.rank and is_bare:
            bare[_label(line.text)] += 1
        elif line.is_colon and line.item and below and below.item == line.item:
            bare[_label(line.text)] += not below.is_colon
    return bare


def bare_lead_ins(text: str, original: str) -> list[str]:
    """Return the lines ending in a colon that have lost the list behind them."""
    had_list = {
        _label(line.text)
        for line, below in _followed(original)
        if line.is_colon and below and _is_listed(below) and below.item != line.item
    }
    return [
        line.text
        for line, below in _followed(text)
        if line.is_colon and _label(line.text) in had_list
        if below is None or not _is_listed(below)
    ]


def broken_tables(text: str) -> Counter[str]:
    """Count the tables without a header and its rule."""
    lines = _lines(text)
    rows = {n for n, line in enumerate(lines) if _ROW.match(line)}
    heads = [n for n in sorted(rows) if n - 1 not in rows]
    return Counter({"table": sum(not _RULE.match("".join(lines[n + 1 : n + 2])) for n in heads)})


def unfinished_lines(text: str, original: str) -> list[str]:
    """Return the lines that end without a stop where the original has one."""
    ends = {_label(line)[-_TAIL:] for line in _lines(original)}
    lowered = original.lower()
    found = []
    for line in (line.rstrip() for line in _lines(text)):
        tail = _label(line)[-_TAIL:]
        is_unstopped = _UNSTOPPED.search(line) and not _NOTE.search(line[-_LONGEST_NOTE:])
        if not is_unstopped or tail in ends or _COLON_LINE.match(line):
            continue
        at = lowered.find(tail)
        rest = _LINE_END.split(lowered[at:], maxsplit=1)[0].rstrip() if at >= 0 else ""
        if at < 0 or not _UNSTOPPED.search(rest):
            found.append(line)
    return found


def _lines(text: str) -> list[str]:
    return [line for line in _LINE_END.split(text) if line.strip()]


def _read(text: str) -> list[_Line]:
    return [_read_line(line) for line in _lines(text) if any(map(str.isalnum, line))]


def _read_line(line: str) -> _Line:
    heading, item = _HEADING.match(line), _ITEM.match(line)
    is_bold = _BOLD_LINE.match(line) is not None
    rank = len(heading["signs"]) if heading else _BOLD_RANK if is_bold else 0
    marker = ""
    if item:
        is_counter = any(map(str.isalnum, item.group()))
        marker = f"{len(item['indent'])}{'counter' if is_counter else 'bullet'}"
    return _Line(line, rank, marker, _COLON_LINE.match(line) is not None)


def _followed(text: str) -> Iterator[tuple[_Line, _Line | None]]:
    lines = _read(text)
    yield from zip_longest(lines, lines[1:])


def _is_listed(line: _Line) -> bool:
    is_step = _COUNTED.match(line.text) is not None
    return bool(line.item) or is_step or line.text.lstrip()[:1] in ("|", "`", "~")


def _label(line: str) -> str:
    """Return a line behind its marker, so that a number counted anew makes no other line of it."""
    return line[_front_end(line) :].rstrip("*_ ").lower()


def _front_end(line: str) -> int:
    front = _FRONT.match(line)
    return front.end() if front else 0
