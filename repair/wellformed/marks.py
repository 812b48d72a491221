"""Findings about marks that come in pairs: brackets, quotes, emphasis, code."""

import re
from collections import Counter
from typing import NamedTuple

_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"))
_EVEN = ('"', "**", "```", "`")
_MARKER = re.compile(r"^\s*(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]|[*•-](?=\s))", re.MULTILINE)
_STAR = re.compile(r"(?<!\s)\*|\*(?!\s|\Z)")  # "5 * 3" multiplies
_APOSTROPHE_OPENS = re.compile(r"(?<![\w'])'(?=[^\W\d_])")
_APOSTROPHE_CLOSES = re.compile(r"(?<=[\w.,!?])'(?!\w)")
_PLURAL = "s'"  # "the dogs' food" closes nothing


class _Unmatched(NamedTuple):
    n_open: int
    n_closed: int


def unmatched_marks(text: str) -> Counter[str]:
    """Count the marks without a partner, by mark; list markers ("a)") need none."""
    bare = _MARKER.sub("", text)
    found: Counter[str] = Counter()
    for opener, closer in _PAIRS:
        unmatched = _unmatched(bare, opener, closer)
        found.update({opener: unmatched.n_open, closer: unmatched.n_closed})
    found.update({mark: bare.count(mark) % 2 for mark in _EVEN})
    found["*"] = len(_STAR.findall(bare.replace("**", ""))) % 2
    found["‘"] = max(0, bare.count("‘") - bare.count("’"))
    found.update(_unmatched_apostrophes(bare))
    return found


def _unmatched(text: str, opener: str, closer: str) -> _Unmatched:
    n_open = n_closed = 0
    for character in text:
        if character == opener:
            n_open += 1
        elif character == closer and n_open:
            n_open -= 1
        elif character == closer:
            n_closed += 1
    return _Unmatched(n_open, n_closed)


def _unmatched_apostrophes(text: str) -> dict[str, int]:
    """Count straight single quotes: what closes may be an apostrophe, what opens hardly ever."""
    n_open = len(_APOSTROPHE_OPENS.findall(text))
    closing = [text[m.start() - 1 : m.end()] for m in _APOSTROPHE_CLOSES.finditer(text)]
    n_sure = sum(one != _PLURAL for one in closing)
    return {"'…": max(0, n_open - len(closing)), "…'": max(0, n_sure - n_open)}
