"""Findings about the lines of an answer: empty items, headings, lead-ins, ends."""

import re
from collections import Counter

from ragmend.repair.wellformed.reading import (
    COLON_LINE,
    LINE_END,
    followed,
    is_listed,
    label,
    text_lines,
)

_EMPTY_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,3}|[a-z])[.)]|[*_]{1,4}|#{1,6}|>+)\s*\Z")
_UNSTOPPED = re.compile(r"[^\W_][\"”’)\]*_`]*\Z|[,;–—-]\Z")
_NOTE = re.compile(r"[.!?…][\"”’*_]*\s*\([^()]*\)\Z")  # "… fell. (Passage 3)"
_TAIL = 24
_LONGEST_NOTE = 80


def empty_items(text: str) -> Counter[str]:
    """Count the markers with nothing behind them."""
    return Counter(
        line.strip()[:2].strip("0123456789") for line in text_lines(text) if _EMPTY_ITEM.match(line)
    )


def bare_heads(text: str) -> Counter[str]:
    """Count the headings with nothing below but the end or a heading as high."""
    bare: Counter[str] = Counter()
    for line, below in followed(text):
        is_bare = below is None or 0 < below.rank <= line.rank
        if line.rank and is_bare:
            bare[label(line.text)] += 1
        elif line.is_colon and line.item and below and below.item == line.item:
            bare[label(line.text)] += not below.is_colon
    return bare


def bare_lead_ins(text: str, original: str) -> list[str]:
    """Return the lines ending in a colon that have lost the list behind them."""
    had_list = {
        label(line.text)
        for line, below in followed(original)
        if line.is_colon and below and is_listed(below) and below.item != line.item
    }
    return [
        line.text
        for line, below in followed(text)
        if line.is_colon and label(line.text) in had_list
        if below is None or not is_listed(below)
    ]


def unfinished_lines(text: str, original: str) -> list[str]:
    """Return the lines that end without a stop where the original has one."""
    ends = {label(line)[-_TAIL:] for line in text_lines(original)}
    lowered = original.lower()
    found = []
    for line in (line.rstrip() for line in text_lines(text)):
        tail = label(line)[-_TAIL:]
        is_unstopped = _UNSTOPPED.search(line) and not _NOTE.search(line[-_LONGEST_NOTE:])
        if not is_unstopped or tail in ends or COLON_LINE.match(line):
            continue
        at = lowered.find(tail)
        rest = LINE_END.split(lowered[at:], maxsplit=1)[0].rstrip() if at >= 0 else ""
        if at < 0 or not _UNSTOPPED.search(rest):
            found.append(line)
    return found
