"""Findings about what stands between sentences: stops that are glued, doubled or lost."""

import re
from collections import Counter

from ragmend.text.abbreviations import (
    BRANDS_WITH_A_MARK,
    LAST_BEFORE_A_STARTER,
    NEVER_BEFORE_A_DIGIT,
    NEVER_BEFORE_LOWER_CASE,
    NEVER_LAST,
)

_ABBREVIATIONS = (
    NEVER_LAST
    | LAST_BEFORE_A_STARTER
    | NEVER_BEFORE_A_DIGIT
    | NEVER_BEFORE_LOWER_CASE
    | BRANDS_WITH_A_MARK
    | {"etc", "al", "min", "max", "avg"}
)
_NAME_ENDS = "com|org|net|edu|gov|info|io|co|html?|php|aspx?|pdf|exe|txt|csv|js|py|json|zip"
_FUSED = re.compile(
    r"(?:[a-z]{2}|\d)[\"”)]*[.!?][\"“(]*[A-Z](?:[a-z]+|\b(?!\.))|[a-z]{2}[,;][a-z]{2,}"
    rf"|(?<![\w./@`-])[A-Za-z]?[a-z]{{2,}}[.!?](?!(?:{_NAME_ENDS})\b)[a-z]+(?=[\s,;])"
)
_DOUBLED = re.compile(
    r"[,;:]\s*[,;:.](?!\w)|(?<!\.)\.\s*,\s*\.|(?<!\.)\.\.(?!\.)|[.!?]\s+[.,;](?!\.)"
)
_STOP_AND_COMMA = re.compile(r"(?P<word>\b[^\W\d_]{3,}|\d)[.!?][,;]")
_SMALL_AFTER_STOP = re.compile(
    r"(?P<word>\b[^\W\d_]{3,}|\d\d)[\"”)]*[.!?][\"”)]*[^\S\n]+(?P<next>[a-z]{2,})\b(?![./@:])"
)
_ITEM_INSIDE = re.compile(
    r"[.!?:;,][\"”)*_]*[^\S\n]*[-•*–][^\S\n]+(?P<bullet>[^\W_]+)"
    r"|\S[^\S\n]*[•◦▪][^\S\n]*(?P<sign>[^\W_]+)"
    r"|[.!?:;][\"”)*_]*[^\S\n]*\(?\b\d{1,2}[.)][^\S\n]+(?P<counted>[^\W_]+)"
    r"|[.!?][\"”)*_]*[^\S\n]+\d{1,2}[^\S\n]+(?P<bare>[A-Z][a-z]+)"
)
_CAPITAL_AFTER_WORD = re.compile(
    r"\b(?P<word>[^\W_]*[^\W\d_])[\"”)]* [\"“(]*(?P<next>[A-Z][a-z]*)\b"
)


def fused_stops(text: str) -> Counter[str]:
    """Count the stops with no space behind them: "in 1990.However, …"."""
    return Counter(match.group() for match in _FUSED.finditer(text))


def doubled_stops(text: str) -> Counter[str]:
    """Count the punctuation that stands twice, or a comma behind a full stop."""
    found = Counter("".join(match.group().split()) for match in _DOUBLED.finditer(text))
    found.update(
        match.group().lower()
        for match in _STOP_AND_COMMA.finditer(text)
        if match["word"].lower() not in _ABBREVIATIONS
    )
    return found


def small_starts_in_line(text: str) -> Counter[str]:
    """Count the full stops before a small letter: "in 1990. it closed"."""
    return Counter(
        f"{match['word']} {match['next']}".lower()
        for match in _SMALL_AFTER_STOP.finditer(text)
        if match["word"].lower() not in _ABBREVIATIONS
    )


def items_inside_lines(text: str) -> Counter[str]:
    """Count the list markers in mid-line, by the word behind them."""
    return Counter(
        (match["bullet"] or match["sign"] or match["counted"] or match["bare"]).lower()
        for match in _ITEM_INSIDE.finditer(text)
    )


def lost_stops(text: str, original: str) -> list[str]:
    """Return where two sentences run on: words between which the original has a stop."""
    there = {match.group() for match in _CAPITAL_AFTER_WORD.finditer(original)}
    return [
        match.group()
        for match in _CAPITAL_AFTER_WORD.finditer(text)
        if match.group() not in there
        and re.search(rf"\b{re.escape(match['word'])}[\"”)]*(?:[.!?]|\n)", original)
        and re.search(rf"(?:\A|[.!?\n][^\w\n]*){re.escape(match['next'])}\b", original)
    ]
