"""A sentence of a paper that data can bear or refute, and what code finds of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from ragmend.analysis.study import Study


class Finding(NamedTuple):
    """Whether a sentence holds on the data at hand, and by which numbers."""

    holds: bool | None
    """None: these data do not tell."""
    evidence: str
    """The numbers; where they are lacking, what is needed."""


class Claim(NamedTuple):
    """A sentence, where it stands, and the function that evaluates it."""

    source: str
    where: str
    sentence: str
    """In short paraphrase."""
    evaluate: Callable[[Study], Finding]


def untestable(need: str) -> Finding:
    """Return the finding that something is needed."""
    return Finding(None, f"needs {need}")


def chain(values: Mapping[str, int | float | Fraction], printed: Callable[[Any], str]) -> str:
    """Write values in a row with their relations, as in `removal 52 < extractive 71 = …`."""
    items = list(values.items())
    words = [f"{items[0][0]} {printed(items[0][1])}"]
    for (_, before), (name, value) in pairwise(items):
        sign = "<" if before < value else ">" if before > value else "="
        words.append(f"{sign} {name} {printed(value)}")
    return " ".join(words)
