"""What is not well formed in a repaired answer, seen from its text and the original's alone.

An independent check of assembly: it shares no rule with it and knows neither claims nor
actions. Only what the original did not have counts, for answers are not flawless either.
What lies outside is the truth of what is said.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Literal, get_args

from ragmend.repair.wellformed.flow import orphaned_connectives, orphaned_pronouns
from ragmend.repair.wellformed.lines import (
    bare_heads,
    bare_lead_ins,
    empty_items,
    unfinished_lines,
)
from ragmend.repair.wellformed.marks import unmatched_marks
from ragmend.repair.wellformed.numbers import false_counts, false_references, number_breaks
from ragmend.repair.wellformed.reading import text_lines
from ragmend.repair.wellformed.remains import dangling_words, fragments
from ragmend.repair.wellformed.stops import (
    doubled_stops,
    fused_stops,
    items_inside_lines,
    lost_stops,
    small_starts_in_line,
)
from ragmend.repair.wellformed.tables import broken_tables
from ragmend.text.sentences import sentence_spans
from ragmend.text.words import words

FindingKind = Literal[
    "unbalanced_pair",
    "doubled_punctuation",
    "fused_stop",
    "space_before_stop",
    "double_space",
    "lower_case_start",
    "missing_stop",
    "hanging_end",
    "dangling_word",
    "fragment",
    "empty_item",
    "item_inside_line",
    "list_numbers",
    "false_reference",
    "false_count",
    "heading_without_content",
    "lead_in_without_items",
    "broken_table",
    "orphaned_connective",
    "orphaned_pronoun",
    "doubled_word",
    "doubled_sentence",
    "blank_lines",
    "colon_at_end",
]

_SPACED_STOP = re.compile(r"(?<=\S)\s+[.,;:!?](?=\s|\Z)")
_DOUBLE_SPACE = re.compile(r"(?<=[^\s|]) {2,}(?=[^\s|])")
_DOUBLED_WORD = re.compile(r"\b([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_BLANK_RUN = re.compile(r"\n(?:[^\S\n]*\n){2,}")
_LOWER_START = re.compile(r"[\"'“‘(*_]*(?P<word>[a-z][a-z'’-]+)(?![\w.:/@])")
_SHORTEST_SENTENCE = 4  # words; shorter ones may well be said twice

_Counted = Counter[str]


def well_formedness_findings(text: str, *, original: str | None = None) -> tuple[FindingKind, ...]:
    """Name what is not well formed in a text.

    Args:
        text: An answer, repaired or not.
        original: The answer before repair: what is found in it does not count. None: `text`
            is looked at by itself.

    Returns:
        The kinds of findings, each once, in the order of `FindingKind`.
    """
    if text in ("", original):
        return ()
    before = original or ""
    found: list[FindingKind] = [
        kind for kind, count in _COUNTS.items() if count(text) - count(before)
    ]
    if original is not None:
        found += _against(text, original)
    if text.rstrip().endswith(":") and not before.rstrip().endswith(":"):
        found.append("colon_at_end")
    return tuple(kind for kind in _ORDER if kind in found)


def _against(text: str, original: str) -> Iterator[FindingKind]:
    """Yield what only a comparison with the original shows."""
    for is_hanging in sorted({line[-1:] in ",;-–—" for line in unfinished_lines(text, original)}):
        yield "hanging_end" if is_hanging else "missing_stop"
    yield from (kind for kind, find in _COMPARISONS if find(text, original))


def _matches(pattern: re.Pattern[str]) -> Callable[[str], _Counted]:
    def count(text: str) -> _Counted:
        return Counter(" ".join(match.group().lower().split()) for match in pattern.finditer(text))

    return count


def _number_of(pattern: re.Pattern[str]) -> Callable[[str], _Counted]:
    def count(text: str) -> _Counted:
        return Counter({"": sum(1 for _ in pattern.finditer(text))})

    return count


def _doubled_words(text: str) -> _Counted:
    """Return the pairs, each once: a name like "paw paw" may be said more often than before."""
    return Counter(dict.fromkeys(_matches(_DOUBLED_WORD)(text), 1))


def _lower_starts(text: str) -> _Counted:
    starts = (_LOWER_START.match(text, start, end) for start, end in sentence_spans(text))
    found = Counter(" ".join(text[m.start() :].split(maxsplit=3)[:3]) for m in starts if m)
    return found + small_starts_in_line(text)


def _doubled_sentences(text: str) -> _Counted:
    norms = Counter(
        " ".join(norms)
        for start, end in sentence_spans(text)
        if len(norms := [word.norm for word in words(text[start:end])]) >= _SHORTEST_SENTENCE
    )
    return Counter({sentence: n for sentence, n in norms.items() if n > 1})


_COUNTS: Mapping[FindingKind, Callable[[str], _Counted]] = {
    "unbalanced_pair": unmatched_marks,
    "doubled_punctuation": doubled_stops,
    "fused_stop": fused_stops,
    "space_before_stop": _number_of(_SPACED_STOP),
    "double_space": _number_of(_DOUBLE_SPACE),
    "lower_case_start": _lower_starts,
    "dangling_word": dangling_words,
    "empty_item": empty_items,
    "item_inside_line": items_inside_lines,
    "list_numbers": number_breaks,
    "heading_without_content": bare_heads,
    "broken_table": lambda text: broken_tables(text_lines(text)),
    "doubled_word": _doubled_words,
    "doubled_sentence": _doubled_sentences,
    "blank_lines": _number_of(_BLANK_RUN),
}
_COMPARISONS: tuple[tuple[FindingKind, Callable[[str, str], Sized]], ...] = (
    ("missing_stop", lost_stops),
    ("fragment", fragments),
    ("false_reference", false_references),
    ("false_count", false_counts),
    ("lead_in_without_items", bare_lead_ins),
    ("orphaned_connective", orphaned_connectives),
    ("orphaned_pronoun", orphaned_pronouns),
)
_ORDER: tuple[FindingKind, ...] = get_args(FindingKind)
