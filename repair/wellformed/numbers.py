"""Findings about list numbers, and about what is said of them: gaps, references, counts."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ragmend.repair.wellformed.reading import (
    COUNTED,
    Line,
    front_end,
    label,
    read_lines,
    text_lines,
)

_NOUN = "(?:step|item|point|option|method|tip|reason|way|rule|choice|stage)s?"
_BY_NUMBER = re.compile(
    rf"(?:(?<!passage \d, )\b(?:{_NOUN}|nos?\.|numbers?)\s*[#(]?|(?<!\w)#)"
    r"(?P<first>\d{1,2})\b(?![.,:]\d|%)"
    r"(?:\s*(?P<range>-|–|to|through)\s*(?P<end>\d{1,2})\b"
    r"|\s*(?:and|,|or|&)\s*(?P<other>\d{1,2})\b(?!\s+[a-z]))?",
    re.IGNORECASE,
)
_AS_NOTED = re.compile(
    r"\b(?:as|see|noted|mentioned|described|listed)\s+(?:(?:\w+\s+)?(?:in|under|at)\s+)?[#(]?"
    r"(?P<first>\d{1,2})(?=\s*(?:[.,;:)](?!\d)|\Z))",
    re.IGNORECASE,
)
_BY_ORDER = re.compile(
    rf"\bthe (?P<order>first|second|third|fourth|fifth|sixth|seventh|eighth) {_NOUN}\b",
    re.IGNORECASE,
)
_ORDERS = "first second third fourth fifth sixth seventh eighth".split()
_NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_SAID_NUMBER = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBER_WORDS)}|[2-9]|1\d|20)(?= (?:[\w'’-]+ ){{0,3}}?[\w'’-]+s\b)",
    re.IGNORECASE,
)


def number_breaks(text: str) -> Counter[str]:
    """Count the list numbers that neither go on from the one before nor begin with 1."""
    last: dict[tuple[int, str], int] = {}
    breaks: Counter[str] = Counter()
    for line in text_lines(text):
        match = COUNTED.match(line)
        if match is None:
            continue
        indent, number = len(match["indent"].expandtabs(4)), int(match["number"])
        last = {key: value for key, value in last.items() if key[0] <= indent}
        style = f"{match['step'] or match['front']}{match['open']}{match['close']}".lower()
        if number not in (1, last.get((indent, style), 0) + 1):
            breaks["number"] += 1
        last[indent, style] = number
    return breaks


def false_references(text: str, original: str) -> list[int]:
    """Return the numbers of which the text speaks although they no longer count the same item."""
    then, now = _numbered(original), _numbered(text)
    labels_then = set().union(*then.values()) if then else set()
    found = []
    for number in _references(text):
        meant, counted = then.get(number, set()), now.get(number, set())
        is_other = bool(counted) and not counted & meant and bool(counted & labels_then)
        if meant and (not counted or is_other):
            found.append(number)
    return found


def false_counts(text: str, original: str) -> list[str]:
    """Return the lines that name how many items follow, rightly in the original only."""
    right = {label(line.text): n for line, n in _counted_heads(original) if n in _said(line)}
    return [
        line.text
        for line, n in _counted_heads(text)
        if (expected := right.get(label(line.text))) is not None and n != expected
    ]


def _numbered(text: str) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for line in text_lines(text):
        if match := COUNTED.match(line):
            found.setdefault(int(match["number"]), set()).add(label(line))
    return found


def _references(text: str) -> Iterator[int]:
    for line in text_lines(text):
        start = front_end(line) if COUNTED.match(line) else 0
        for match in _BY_NUMBER.finditer(line, start):
            first, end = int(match["first"]), int(match["end"] or match["first"])
            yield from range(first, end + 1)
            if match["other"]:
                yield int(match["other"])
        yield from (int(match["first"]) for match in _AS_NOTED.finditer(line, start))
        for match in _BY_ORDER.finditer(line, start):
            yield _ORDERS.index(match["order"].lower()) + 1


def _said(line: Line) -> set[int]:
    said = (match["number"].lower() for match in _SAID_NUMBER.finditer(line.text))
    return {int(n) if n.isdecimal() else _NUMBER_WORDS.index(n) + 2 for n in said}


def _counted_heads(text: str) -> Iterator[tuple[Line, int]]:
    """Yield the lines that name a number above items, and how many items there are."""
    lines = read_lines(text)
    for n, line in enumerate(lines):
        if _said(line) and (n_items := _n_items(lines[n + 1 :], under=line)):
            yield line, n_items


def _n_items(below: Sequence[Line], *, under: Line) -> int:
    """Count the items right below a line; text between numbered ones does not end them."""
    kind = _item_kind(below[0]) if below else ""
    if not kind or kind == _item_kind(under):
        return 0
    n_items, last = 0, 0
    for line in below:
        match = COUNTED.match(line.text)
        if _item_kind(line) != kind:
            if match is None and not line.item and last == 0:
                break
            continue
        if match and int(match["number"]) <= last:
            break
        n_items, last = n_items + 1, int(match["number"]) if match else 0
    return n_items


def _item_kind(line: Line) -> str:
    match = COUNTED.match(line.text)
    return f"{len(match['indent'])}{match['step'] or ''}{match['close']}" if match else line.item
