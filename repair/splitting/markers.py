"""List markers: at the head of a line, and of items that run on inside a paragraph.

A marker is a bullet (`-`, `*`, `+`, `•`, …), a number or a letter with `.` or `)`, or one in
brackets, followed by white space and text; a box to tick ("- [x] ") belongs to its bullet, and
"1.Heat it" may lack the space. A capital or Roman number with a full stop ("B. King went")
counts only beside its neighbour. "Step 4:" is text.
"""

import re

from ragmend.text.lines import INVISIBLE

_BLANKS = rf"[{INVISIBLE}]*\s[\s{INVISIBLE}]*"
_BULLET = re.compile(rf"(?:[-*+–—]{_BLANKS}|[•◦▪‣·●○]\s*)(?:\[[ xX]\]\s+)?")
_COUNTER = re.compile(
    r"(?:\((?:\d{1,3}|[A-Za-z]|[ivx]{2,4}|[IVX]{2,4})\)|(?:\d{1,3}|[a-z]|[ivx]{2,4})[.)]"
    rf"|(?:[A-Z]|[IVX]{{2,4}})\)|(?P<capital>[A-Z]|[IVX]{{2,4}})\.)(?:{_BLANKS}|\Z)"
    r"|\d{1,2}[.)](?=[A-Z][a-z])"
)
_NUMBER = re.compile(r"\s*\(?\d{1,2}[.)](?:\s+(?=\S)|(?=[A-Z][a-z]))")
_LONE_COUNTER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)]\s*\Z")
_INLINE_NUMBER = re.compile(r"(?<=\s)\(?(\d{1,2})[.)]\s+(?=[\W\d_]{0,8}[A-Z])")
_MAY_RUN_ON = re.compile(r"[•◦▪‣●:：]")
_INLINE_BULLET = re.compile(r"[•◦▪‣●]\s+(?<=\s[•◦▪‣●]\s)")
_WORD = re.compile(r"[^\W_]")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_MOST_MARKERS = 3


def skip_markers(text: str, start: int, end: int, capitals: frozenset[str]) -> int:
    """Return where the text of a line begins behind at most three markers ("- 1. a) text").

    Args:
        text: The answer.
        start: Where the line's text begins, markers included.
        end: Where the line ends.
        capitals: What may count with a full stop (`listed_capitals`).
    """
    position = start
    for _ in range(_MOST_MARKERS):
        marker = _BULLET.match(text, position, end) or _COUNTER.match(text, position, end)
        if marker is None or not _WORD.search(text, marker.end(), end):
            break
        capital = marker.groupdict().get("capital")
        if capital and capital not in capitals:
            break
        position = marker.end()
    return position


def listed_capitals(text: str, spans: list[tuple[int, int]]) -> frozenset[str]:
    """Return the capitals that head one of these lines beside a neighbour: "B." with "A."."""
    found = {
        match["capital"]
        for start, end in spans
        if (match := _COUNTER.match(text, start, end)) and match["capital"]
    }
    return frozenset(capital for capital in found if not found.isdisjoint(_neighbours(capital)))


def is_lone_counter(text: str, start: int, end: int) -> bool:
    """Whether a line is nothing but the number or letter of an item."""
    return _LONE_COUNTER.match(text, start, end) is not None


def skip_number(text: str, start: int, end: int) -> int:
    """Return where the text begins behind a number that counts an item inside a paragraph."""
    number = _NUMBER.match(text, start, end)
    return number.end() if number and _WORD.search(text, number.end(), end) else start


def inline_items(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a paragraph where a list that it introduces runs on in the line.

    "Do this: 1) Heat it 2) Stir it" is three, "It has: • a bar • a pool" too. Numbers count up
    from 1 behind a colon. The markers stay outside the spans.
    """
    if not _MAY_RUN_ON.search(text, start, end):
        return [(start, end)]
    markers = _numbers_in_turn(text, start, end) or _bullets(text, start, end)
    edges = [start, *(edge for marker in markers for edge in marker), end]
    pieces = list(zip(edges[::2], edges[1::2], strict=True))
    return pieces if all(_WORD.search(text, *piece) for piece in pieces) else [(start, end)]


def _numbers_in_turn(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of inline numbers that count 1, 2, … before capitals."""
    found: list[tuple[int, int]] = []
    for number in _INLINE_NUMBER.finditer(text, start, end):
        is_behind_colon = text[number.start() - 2 : number.start()].rstrip()[-1:] in (":", "：")
        if (found or is_behind_colon) and int(number[1]) == len(found) + 1:
            found.append(number.span())
    return found if len(found) > 1 else []


def _bullets(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the inline bullets, if there are two or more."""
    found = [bullet.span() for bullet in _INLINE_BULLET.finditer(text, start, end)]
    return found if len(found) > 1 else []


def _neighbours(capital: str) -> list[str]:
    """Return what counts before and behind a capital, as letters and as Roman numbers."""
    beside = [chr(ord(capital) - 1), chr(ord(capital) + 1)] if len(capital) == 1 else []
    if capital in _ROMAN:
        place = _ROMAN.index(capital)
        beside += _ROMAN[max(0, place - 1) : place] + _ROMAN[place + 1 : place + 2]
    return beside
