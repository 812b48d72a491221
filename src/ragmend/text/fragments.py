"""A source cut into fragments: the pieces of evidence that a claim can be held against.

Running text gives sentences, structured fields give readable lines, reviews give their
sentences. Some fragments are made of others: windows of neighbouring sentences, and lines that
follow from several fields. A null is a fragment too, marked unknown: unknown is not absent.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.records import Source
from ragmend.text.fields.field_words import scalar_text
from ragmend.text.fields.lines import FieldLine, derived_lines, value_lines
from ragmend.text.sentences import sentence_spans

FragmentKind = Literal["sentence", "field", "review"]
MAX_WINDOW = 3  # sentences

PASSAGE_MARKER = re.compile(r"(?:\A|(?<=\n))[ \t]*passage (\d{1,9}):[ \t]*", re.IGNORECASE)


class Fragment(NamedTuple):
    """One piece of a source.

    Attributes:
        fragment_id: Unique and stable within the source: "p2-s0", "p2-s0+s1", "r1-s3", "s4",
            "f-attributes.WiFi", "f-hours=weekdays".
        text: The piece as it stands, or a readable rendering of a field.
        path: Where it stands or what it is derived from: "passage 2", "attributes.WiFi",
            "review_info[1]", "text".
        kind: A sentence of running text, a field, or a sentence of a review.
        is_unknown: The source holds null here: neither the thing nor its absence is stated.
        parts: Ids of the fragments that it is made of or derived from; empty if of none.
    """

    fragment_id: str
    text: str
    path: str
    kind: FragmentKind
    is_unknown: bool = False
    parts: tuple[str, ...] = ()

    @property
    def is_window(self) -> bool:
        """Whether it is a window of sentences, which states nothing that these do not."""
        return bool(self.parts) and self.kind != "field"


class _Stretch(NamedTuple):
    """A stretch of running text, and what its sentences' ids begin and end with."""

    text: str
    path: str
    kind: FragmentKind
    prefix: str = ""
    twin: str = ""


def source_fragments(source: Source, *, window: int = 1) -> tuple[Fragment, ...]:
    """Cut a source into fragments; the question is never one.

    Args:
        source: Running text or fields.
        window: The most neighbouring sentences that make a further fragment together, from 1
            (none do) to `MAX_WINDOW`; never across passages or reviews, and fields make none.

    Returns:
        Fragments in the source's order, windows of two behind all of them, then those of three:
        a fragment's position does not depend on `window`.
    """
    found = list(_fragments(source, window))
    return tuple(_with_unique_ids(sorted(found, key=_window_size)))


def _window_size(fragment: Fragment) -> int:
    return len(fragment.parts) if fragment.is_window else 1


def _fragments(source: Source, window: int) -> Iterator[Fragment]:
    if source.fields is not None:
        return _field_fragments(source.fields, window)
    text = source.text or ""
    if source.task_type == "QA":
        return _passage_fragments(text, window)
    return _sentences(_Stretch(text, "text", "sentence"), window)


def _with_unique_ids(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Mark the second use of an id, which keys with dots in them can bring about."""
    twins: Counter[str] = Counter()
    taken: set[str] = set()
    for fragment in fragments:
        own = unique = fragment.fragment_id
        while unique in taken:
            twins[own] += 1
            unique = f"{own}#{twins[own] + 1}"
        taken.add(unique)
        yield fragment if unique == own else fragment._replace(fragment_id=unique)


def _passage_fragments(text: str, window: int) -> Iterator[Fragment]:
    """Yield the sentences of each passage; text before the first marker is passage 0."""
    marks = list(PASSAGE_MARKER.finditer(text))
    starts = [(0, 0), *((mark.end(), int(mark[1])) for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    seen: Counter[int] = Counter()
    for (start, number), end in zip(starts, ends, strict=True):
        seen[number] += 1
        twin = f"#{seen[number]}" if seen[number] > 1 else ""
        stretch = _Stretch(text[start:end], f"passage {number}", "sentence", f"p{number}-", twin)
        yield from _sentences(stretch, window)


def _sentences(stretch: _Stretch, window: int) -> Iterator[Fragment]:
    """Yield the sentences of one stretch of text, then its windows."""
    text, path, kind, prefix, twin = stretch
    spans = [
        (f"s{index}", start, end)
        for index, (start, end) in enumerate(sentence_spans(text))
        if text[start:end].strip()
    ]
    for size in range(1, window + 1):
        for first in range(len(spans) - size + 1):
            chosen = spans[first : first + size]
            piece = text[chosen[0][1] : chosen[-1][2]].strip()
            fragment_id = prefix + "+".join(own for own, _, _ in chosen) + twin
            parts = tuple(f"{prefix}{own}{twin}" for own, _, _ in chosen) if size > 1 else ()
            yield Fragment(fragment_id, piece, path, kind, parts=parts)


def _field_fragments(fields: dict[str, JsonValue], window: int) -> Iterator[Fragment]:
    for key, value in fields.items():
        if key == "review_info" and isinstance(value, list):
            yield from _review_fragments(value, window)
        else:
            yield from map(_of_line, value_lines(key, value))
    yield from map(_of_line, derived_lines(fields))


def _of_line(line: FieldLine) -> Fragment:
    parts = tuple(f"f-{part}" for part in line.parts)
    return Fragment(f"f-{line.name}", line.text, line.path, "field", line.is_unknown, parts)


def _review_fragments(reviews: list[JsonValue], window: int) -> Iterator[Fragment]:
    for index, review in enumerate(reviews):
        path = f"review_info[{index}]"
        if not isinstance(review, dict):
            yield from map(_of_line, value_lines(path, review))
            continue
        yield Fragment(f"r{index}-head", _review_head(review), path, "field")
        for key, value in review.items():
            if key == "review_text" and isinstance(value, str):
                yield from _sentences(_Stretch(value, path, "review", f"r{index}-"), window)
            elif key not in ("review_stars", "review_date"):
                yield from map(_of_line, value_lines(f"{path}.{key}", value))


def _review_head(review: dict[str, JsonValue]) -> str:
    stars, date = (scalar_text(review.get(key)) for key in ("review_stars", "review_date"))
    rated = f"review rated {stars} stars" if stars else "review"
    return f"{rated}, written {date.split()[0]}" if date else rated
