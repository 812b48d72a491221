"""Bare numbers that a source's list has left in its sentences: "4 Repeat this step", "pot. 4".

Only where the passage counts up is such a number the list's: "7 Dwarfs live there." keeps its.
"""

import re
from collections.abc import Iterable

from ragmend.text.fragments import Fragment

_LEADING = re.compile(r"(?:[Ss]tep )?(\d{1,2})\s+(?=[A-Z][a-z]|[A-Z] )")
_TRAILING = re.compile(r"(?<=[.!?…])\s+(\d{1,2})\.?\Z")


def listed_numbers(fragments: Iterable[Fragment]) -> dict[str, frozenset[int]]:
    """Return the bare numbers at the ends of sentences that count up, by where they stand.

    Args:
        fragments: The fragments of one source.

    Returns:
        A fragment's path to its numbers; each has a neighbour, one less or one more.
    """
    found: dict[str, set[int]] = {}
    for part in fragments:
        if part.kind == "sentence" and not part.is_window:
            own = (_LEADING.match(part.text), _TRAILING.search(part.text))
            found.setdefault(part.path, set()).update(int(number[1]) for number in own if number)
    return {
        path: frozenset(n for n in numbers if not numbers.isdisjoint((n - 1, n + 1)))
        for path, numbers in found.items()
    }


def without_list_numbers(text: str, counted: frozenset[int]) -> str:
    """Return a sentence without the list's numbers before and behind it."""
    leading = _LEADING.match(text)
    if leading and int(leading[1]) in counted:
        text = text[leading.end() :]
    trailing = _TRAILING.search(text)
    if trailing and int(trailing[1]) in counted:
        text = text[: trailing.start()]
    return text
