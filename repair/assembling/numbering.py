"""Numbered lists: which numbers count one list, and what they become when items go.

A list is a run of markers of one style at one indent that count up by one: "1.", "a)", "ii.",
"Step 1:". Only such a list is counted anew; one that skips or repeats keeps its numbers, and
so does one of which the answer names a number that would change ("repeat step 3").
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ragmend.records import Claim, Span
from ragmend.repair.assembling.gaps import Gap

_ORDERS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
# The number with which a claim itself begins: "Step 2: Bake it.", "3. A Title".
LEADING_NUMBER = re.compile(
    r"[*_#\"“\s]*(?:(?P<word>step|tip)\s+(?P<named>\d{1,3})(?=\s*(?:[.:)*_–—-]|\Z))"
    r"|(?P<bare>\d{1,3})(?=[.)](?:\s+|[*_])\S))",
    re.IGNORECASE,
)
_NOUN = "(?:step|item|point|option|method|tip|reason|way|rule|choice|stage)s?"
# "Repeat steps 1-4", "no. 3", "#3", "as noted in 3", "the third option", "option B".
_BY_NUMBER = re.compile(
    rf"(?:(?<!passage \d, )\b(?:{_NOUN}|nos?\.|numbers?)\s*[#(]?|(?<!\w)#)(?P<first>\d{{1,3}})\b"
    r"(?:\s*(?:(?P<joint>-|–|to|through)|and|,|or|&)\s*(?P<last>\d{1,3})\b)?",
    re.IGNORECASE,
)
_AS_NOTED = re.compile(
    r"\b(?:as|see|noted|mentioned|described|listed)\s+(?:(?:\w+\s+)?(?:in|under|at)\s+)?[#(]?"
    r"(?P<first>\d{1,3})(?=\s*(?:[.,;:)]|\Z))",
    re.IGNORECASE,
)
_BY_ORDER = re.compile(rf"\b(?P<order>{'|'.join(_ORDERS)}) {_NOUN}\b", re.IGNORECASE)
_BY_LETTER = re.compile(r"\b(?i:option|choice|item|point|step)s?\s+\(?(?P<letter>[A-H])\b")
_LINE_START = re.compile(r"(?:\A|[\n\r\v\f\x85\u2028\u2029])(?P<indent>[^\S\n\r]*)")
_ROMAN = (
    (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"),
    (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 399
_WIDEST_HEAD = 60  # indent and markers before an item's text
_N_LETTERS = 26

Counting = Literal["number", "letter", "roman"]


class Marker(NamedTuple):
    """A number that counts an item: `answer[at : at + len(token)]`.

    Attributes:
        token: The number as written.
        style: What stands around it, and whether it is a capital.
        indent: How far in its line begins.
        claim: The claim that it counts or with which it begins.
        is_inside: Whether it is part of that claim's text.
    """

    at: int
    token: str
    style: str
    indent: int
    claim: int
    is_inside: bool


class NumberedList(NamedTuple):
    """Markers of one list in order, and how they count."""

    counting: Counting
    first: int
    markers: tuple[Marker, ...]


class _Open(NamedTuple):
    """A list that may still go on."""

    counting: Counting
    first: int
    markers: list[Marker]
    is_broken: list[bool]

    @property
    def following(self) -> int:
        return self.first + len(self.markers)


def numbered_lists(answer: str, claims: Sequence[Claim], gaps: Sequence[Gap]) -> list[NumberedList]:
    """Return the lists of an answer that count up by one from their first number."""
    found: list[_Open] = []
    open_at: dict[tuple[int, str], list[_Open]] = {}
    for marker in _markers(answer, claims, gaps):
        for key in [key for key in open_at if key[0] > marker.indent]:
            del open_at[key]
        candidates = open_at.setdefault((marker.indent, marker.style), [])
        readings = _readings(marker.token)
        if not readings:
            continue
        going_on = next(
            (one for one in candidates if (one.counting, one.following) in readings), None
        )
        if going_on is not None:
            going_on.markers.append(marker)
        elif candidates and all(value != 1 for _, value in readings):
            candidates[-1].is_broken.append(True)
        else:
            counting, value = next((r for r in readings if r[1] == 1), readings[0])
            candidates[:] = [_Open(counting, value, [marker], [])]
            found += candidates
    return [
        NumberedList(one.counting, one.first, tuple(one.markers))
        for one in found
        if not one.is_broken
    ]


def new_numbers(
    lists: Iterable[NumberedList], visible: frozenset[int], texts: Iterable[str]
) -> dict[int, str]:
    """Count lists anew.

    Args:
        lists: Lists that count up by one.
        visible: Offsets of the markers that still stand.
        texts: What is kept of the answer: it may speak of its steps by number.

    Returns:
        The new number of each marker that changes, by its offset.
    """
    named = frozenset(number for text in texts for number in _named_numbers(text))
    changed: dict[int, str] = {}
    for one in lists:
        there = [marker for marker in one.markers if marker.at in visible]
        is_gone = (n for n, marker in enumerate(one.markers) if marker.at not in visible)
        n_same = next(is_gone, len(one.markers))
        moved = range(one.first + n_same, one.first + len(one.markers))
        if named.isdisjoint(moved):
            changed |= {
                marker.at: _written(one.counting, one.first + n, marker.token)
                for n, marker in enumerate(there[n_same:], start=n_same)
            }
    return changed


def leading_number(text: str) -> Span | None:
    """Return the number with which a claim begins, if it begins with one that counts."""
    match = LEADING_NUMBER.match(text)
    if match is None:
        return None
    group = "named" if match["named"] else "bare"
    return Span(start=match.start(group), end=match.end(group), text=match[group])


def _named_numbers(text: str) -> Iterator[int]:
    """Yield the numbers of items that a text speaks of; its own is none of them."""
    own = LEADING_NUMBER.match(text)
    start = own.end() if own else 0
    for match in _BY_NUMBER.finditer(text, start):
        first, last = int(match["first"]), int(match["last"] or match["first"])
        yield from range(first, last + 1) if match["joint"] else (first, last)
    yield from (int(match["first"]) for match in _AS_NOTED.finditer(text, start))
    for match in _BY_ORDER.finditer(text, start):
        yield _ORDERS.index(match["order"].lower()) + 1
    for match in _BY_LETTER.finditer(text, start):
        yield ord(match["letter"]) - ord("A") + 1


def _markers(answer: str, claims: Sequence[Claim], gaps: Sequence[Gap]) -> Iterator[Marker]:
    starts, indents = _line_indents(answer)

    def indent(at: int) -> int:
        return indents[bisect_right(starts, at) - 1]

    for index, gap in enumerate(gaps):
        for piece in gap:
            if piece.kind == "number":
                style = _style(answer, piece.at, piece.at + len(piece.text))
                yield Marker(piece.at, piece.text, style, indent(piece.at), index, is_inside=False)
        claim = claims[index] if index < len(claims) else None
        number = leading_number(claim.text) if claim else None
        if claim and number and _begins_line(answer, starts, claim.start):
            style = _style_inside(claim.text, number.end)
            at = claim.start + number.start
            yield Marker(at, number.text, style, indent(claim.start), index, is_inside=True)


def _line_indents(answer: str) -> tuple[list[int], list[int]]:
    lines = list(_LINE_START.finditer(answer))
    return (
        [line.start("indent") for line in lines],
        [len(line["indent"].expandtabs(4)) for line in lines],
    )


def _begins_line(answer: str, starts: Sequence[int], start: int) -> bool:
    line = starts[bisect_right(starts, start) - 1]
    return start - line < _WIDEST_HEAD and not any(map(str.isalpha, answer[line:start]))


def _style(answer: str, start: int, end: int) -> str:
    bracket = "(" if answer[max(0, start - 1) : start] == "(" else ""
    case = "1" if answer[start:end].isdecimal() else "A" if answer[start:end].isupper() else "a"
    return bracket + case + answer[end : end + 1]


def _style_inside(text: str, end: int) -> str:
    match = LEADING_NUMBER.match(text)
    word = match["word"] if match else None
    return word.lower() if word else f"inside {text[end : end + 1]}"


def _readings(token: str) -> list[tuple[Counting, int]]:
    """Return what a number may mean: "i" is a letter or a Roman one."""
    if token.isascii() and token.isdecimal():
        return [("number", int(token))]
    readings: list[tuple[Counting, int]] = []
    if token.lower() in _ROMAN_VALUES:
        readings.append(("roman", _ROMAN_VALUES[token.lower()]))
    if len(token) == 1 and token.isascii():
        readings.append(("letter", ord(token.lower()) - ord("a") + 1))
    return readings


def _written(counting: Counting, value: int, token: str) -> str:
    if counting == "number":
        return str(value).zfill(len(token)) if token.startswith("0") else str(value)
    is_letter = counting == "letter"
    plain = chr(ord("a") + (value - 1) % _N_LETTERS) if is_letter else _as_roman(value)
    return plain.upper() if token.isupper() else plain


def _as_roman(value: int) -> str:
    written = ""
    for unit, letters in _ROMAN:
        while value >= unit:
            written, value = written + letters, value - unit
    return written


_ROMAN_VALUES: Mapping[str, int] = {_as_roman(n): n for n in range(1, _LARGEST_ROMAN + 1)}
