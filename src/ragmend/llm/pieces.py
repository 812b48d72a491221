"""A source cut into pieces, and shown again with some of them left out.

Pieces are sentences of running text, and values of structured fields; a value that is itself
running text, as a review, gives a piece a sentence. What is kept stands as it stood, in its
order, and `LEFT_OUT` stands where something is missing: the reader of a prompt is told that the
source says more. Where the source itself has that mark, it says the same.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from pydantic import JsonValue

from ragmend.llm.prompts import render_fields
from ragmend.records import Source
from ragmend.text.fields.lines import value_lines
from ragmend.text.fragments import PASSAGE_MARKER
from ragmend.text.sentences import sentence_spans

LEFT_OUT = "[…]"
"""What stands for left-out text; in JSON an item of a list, or the last key of an object."""
_REVIEW_TEXT = "review_text"

_Path: TypeAlias = tuple[str | int, ...]
_Stretch: TypeAlias = tuple[int, int]


class SourcePieces(NamedTuple):
    """The pieces of one source in its order.

    Attributes:
        texts: Each piece in words, never empty; a field with its name.
        show: Renders the source with the pieces of these positions only; with all of them, as
            `ragmend.llm.fitting.source_text` has it.
    """

    texts: tuple[str, ...]
    show: Callable[[Collection[int]], str]


def cut_source(source: Source) -> SourcePieces:
    """Cut a source into pieces; one without a word or a value has none."""
    if source.fields is not None:
        return _cut_fields(source.fields)
    return _cut_text(source.text or "", has_passages=source.task_type == "QA")


class _Sentence(NamedTuple):
    """A stretch of running text, and the marker that stands where any sentence behind it does."""

    stretch: _Stretch
    marker: _Stretch | None


def _cut_text(text: str, *, has_passages: bool) -> SourcePieces:
    sentences = list(_sentences(text, has_passages=has_passages))

    def show(kept: Collection[int]) -> str:
        chosen = [sentences[position] for position in kept]
        markers = {sentence.marker for sentence in chosen if sentence.marker}
        return _joined(text, sorted({*markers, *(sentence.stretch for sentence in chosen)}))

    return SourcePieces(tuple(text[slice(*own.stretch)] for own in sentences), show)


def _sentences(text: str, *, has_passages: bool) -> Iterator[_Sentence]:
    """Yield the sentences of each passage; a marker with nothing behind it stands for itself.

    It goes with the sentences behind it, as the stars and the date of a review go with its text.
    """
    found = PASSAGE_MARKER.finditer(text) if has_passages else ()
    markers = [match.span() for match in found]
    ends = [*(start for start, _ in markers), len(text)]
    for marker, end in zip([None, *markers], ends, strict=True):
        inner = _stretches(text, marker[1] if marker else 0, end)
        yield from (_Sentence(stretch, marker) for stretch in inner)
        if marker and not inner:
            yield _Sentence(marker, None)


def _stretches(text: str, start: int, end: int) -> list[_Stretch]:
    """Cut `text[start:end]` at its sentences, so that only white space lies between them."""
    inner = text[start:end]
    if not inner.strip():
        return []
    first = len(inner) - len(inner.lstrip())
    begins = [first, *(begin for begin, _ in sentence_spans(inner)[1:])]
    ends = [*begins[1:], len(inner)]
    return [
        (start + begin, start + len(inner[:stop].rstrip()))
        for begin, stop in zip(begins, ends, strict=True)
    ]


def _joined(text: str, kept: Iterable[_Stretch]) -> str:
    """Return the kept stretches with what lies between them: white space, or a mark in it."""
    parts: list[str] = []
    at = 0
    for start, end in (*kept, (len(text), len(text))):
        parts += (_gap(text[at:start]), text[start:end])
        at = end
    return "".join(parts)


def _gap(gap: str) -> str:
    """Return a gap as it stands if it is white space, else a mark for what it holds."""
    if not gap.strip():
        return gap
    before, after = len(gap) - len(gap.lstrip()), len(gap.rstrip())
    return gap[:before] + LEFT_OUT + gap[after:]


class _Value(NamedTuple):
    """A value at a path, or a sentence of it."""

    path: _Path
    stretch: _Stretch | None
    text: str


def _cut_fields(fields: dict[str, JsonValue]) -> SourcePieces:
    values = [value for path, leaf in _leaves(fields, ()) for value in _values(path, leaf)]

    def show(kept: Collection[int]) -> str:
        stretches: dict[_Path, list[_Stretch]] = {}
        for position in sorted(kept):
            value = values[position]
            stretches.setdefault(value.path, []).extend([value.stretch] if value.stretch else ())
        return render_fields(dict(_kept_entries(fields, (), stretches)))

    return SourcePieces(tuple(value.text for value in values), show)


def _leaves(value: JsonValue, path: _Path) -> Iterator[tuple[_Path, JsonValue]]:
    """Yield what holds nothing further, but for what goes with the text of a review."""
    for key, inner in _items(value):
        if _items(inner):
            yield from _leaves(inner, (*path, key))
        elif key == _REVIEW_TEXT or not _is_review(value):
            yield (*path, key), inner


def _items(value: JsonValue) -> list[tuple[str | int, JsonValue]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _is_review(value: JsonValue) -> bool:
    text = value.get(_REVIEW_TEXT) if isinstance(value, dict) else None
    return isinstance(text, str) and bool(text.strip())


def _values(path: _Path, leaf: JsonValue) -> Iterator[_Value]:
    stretches = _stretches(leaf, 0, len(leaf)) if isinstance(leaf, str) else []
    if isinstance(leaf, str) and (len(stretches) > 1 or (stretches and path[-1] == _REVIEW_TEXT)):
        for start, end in stretches:
            yield _Value(path, (start, end), leaf[start:end])
    else:
        yield _Value(path, None, " ".join(line.text for line in value_lines(_dotted(path), leaf)))


def _dotted(path: _Path) -> str:
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return "".join(parts).removeprefix(".")


_Kept: TypeAlias = Mapping[_Path, list[_Stretch]]  # by path: its kept sentences, none: it has none


def _kept_entries(
    value: dict[str, JsonValue], path: _Path, kept: _Kept
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the entries of an object that are kept, and at its end the mark for all others."""
    n_kept = 0
    for key, inner in value.items():
        for left in _kept_value(inner, (*path, key), kept):
            n_kept += 1
            yield key, left
    if n_kept < len(value) and LEFT_OUT not in value:
        yield LEFT_OUT, LEFT_OUT


def _kept_items(value: list[JsonValue], path: _Path, kept: _Kept) -> Iterator[JsonValue]:
    """Yield the items of a list that are kept, and a mark for each run of others."""
    is_marked = False
    for index, inner in enumerate(value):
        left = _kept_value(inner, (*path, index), kept)
        if left or not is_marked:
            yield from left or [LEFT_OUT]
        is_marked = not left


def _kept_value(value: JsonValue, path: _Path, kept: _Kept) -> list[JsonValue]:
    """Return what is kept of a value, in a list, or an empty list for nothing."""
    if isinstance(value, dict) and value:
        entries = dict(_kept_entries(value, path, kept))
        return [] if entries == {LEFT_OUT: LEFT_OUT} else [entries]
    if isinstance(value, list) and value:
        items = list(_kept_items(value, path, kept))
        return [] if items == [LEFT_OUT] else [items]
    stretches = kept.get(path)
    if stretches and isinstance(value, str):
        return [_joined(value, stretches)]
    is_beside = bool(kept.get((*path[:-1], _REVIEW_TEXT)))
    return [value] if stretches is not None or is_beside else []
