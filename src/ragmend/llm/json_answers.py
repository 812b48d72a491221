"""JSON answers: the one object that a model was asked for, found in whatever it wrote around it.

A fault is never a decision. Nothing is repaired or guessed, and nothing is read out of the inside
of something broken: an answer may quote JSON of the text that it is about, or of its own
instructions, and the quote must not be taken for the answer. So prose around the object is
tolerated, for models add it, but the decision itself is read exactly: the object stands on lines
of its own, as no quote within a sentence does, and no brace stands outside of an object, for it
may be what is left of another decision. "Nothing" is what a model also writes before it goes on
to say otherwise: no text may follow it.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn, TypeVar

from pydantic import ValidationError

from ragmend.errors import AnswerFaultError
from ragmend.io import explain, shorten
from ragmend.llm.protocol import Generation
from ragmend.records import Record

M = TypeVar("M", bound=Record)
# Far below where Python's recursion ends, so that an answer reads the same from any depth of calls.
MAX_DEPTH = 100

_THINKING, _END_OF_THINKING = "<think>", "</think>"
_FENCE = re.compile(r"```(?:json\w*+)?", re.IGNORECASE)
_END_OF_LINE = re.compile(r"[\r\n]")
_BRACE = re.compile("[{}｛｝]")
_NOTHING = frozenset({"null", "none", "nil", "nothing", "n/a", "na"})
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_object(
    generation: Generation, model: type[M], *, what: str, seen: Iterable[str] = ()
) -> M:
    r"""Read the one JSON object with a record's keys out of a generated text.

    What a model thought, up to the last "</think>", is no part of its answer. Text and code
    fences on the lines around the object are allowed, and so are keys beside the record's, for
    models add explanations: they are ignored. So are objects that have none of the record's
    keys. A line break may stand in a string as it is. Several equal answers are one.

    Malformed is an answer with

    - an object that has a record's key and does not fit the record, or has the key in other
      letter case or deeper inside;
    - such an object with other text on its first line before it or on its last line behind it:
      a quote, or an echo of the instructions;
    - two different such objects;
    - a brace that begins no JSON, or stands outside of all objects: whatever object lies inside
      or behind it may be part of it;
    - a decision for nothing (every field empty or null) that text follows, for it may say
      otherwise, or that the record's key in quotation marks stands beside.

    A text that was cut at its limit is `truncated` always, even behind a complete object: what
    would have come may have been another answer.

    Args:
        generation: What the model wrote.
        model: The record that the object must be.
        what: What the answer is, for messages: "a rewrite".
        seen: Texts of others that the model was shown. If one of them has a key of the record
            itself, an object with other text around it may be a quote, and is malformed.

    Raises:
        AnswerFaultError: `truncated`, `empty` (nothing but white space), or `malformed`; `raw` is
            the text.
    """
    text = generation.text
    try:
        if generation.finish == "length":
            message = f"cut at its limit of {generation.n_tokens} tokens; raise `max_tokens`"
            raise AnswerFaultError(f"{what}: {message}", status="truncated", raw=text)
        answer = text.rpartition(_END_OF_THINKING)[2]
        if not answer.strip():
            raise AnswerFaultError(f"{what}: no text came", status="empty", raw=text)
        return _only_answer(answer, model, seen)
    except _UnreadableError as error:
        raise AnswerFaultError(f"{what}: {error}", status="malformed", raw=text) from error


def names_nothing(text: str) -> bool:
    """Tell whether a text has no letter or digit, or is a word as "null", "None." or "(n/a)".

    Where a sentence or a part of one was asked for, it is neither.
    """
    first = next((at for at, character in enumerate(text) if character.isalnum()), None)
    if first is None:
        return True
    last = max(at for at, character in enumerate(text) if character.isalnum())
    return text[first : last + 1].casefold() in _NOTHING


class _UnreadableError(ValueError):
    """Why a text is malformed."""


class _Found(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int


def _only_answer(text: str, model: type[M], seen: Iterable[str]) -> M:
    keys = model.model_fields.keys()
    named = " and ".join(repr(key) for key in keys)
    objects = list(_objects(text))
    _check_outside(_outside(text, objects))
    for each in objects:
        _check_keys(each.value, keys)
    found = [each for each in objects if each.value.keys() & keys]
    answers = [_fit(each.value, model) for each in found]
    if not answers:
        raise _UnreadableError(f"expected a JSON object with {named}, found {shorten(text)}")
    if any(answer != answers[0] for answer in answers):
        raise _UnreadableError(f"two different answers: {len(answers)} objects with {named}")
    for each in found:
        _check_lines(text, each)
    if not any(getattr(answers[0], key) for key in keys):
        _check_nothing(text, found, keys)
    if any(_has_key(shown, key) for shown in seen for key in keys) and not _is_bare(text, found):
        raise _UnreadableError(
            f"the text that it is about has {named} in it, so that the object may be a quote: "
            "expected the object and nothing else"
        )
    return answers[0]


def _objects(text: str) -> Iterator[_Found]:
    """Yield the objects of a text, in order, none inside another.

    Each character is read once: what fails ends the search.
    """
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique,
        parse_constant=_refuse_constant,
        parse_float=_finite,
        strict=False,  # control characters in strings
    )
    at = 0
    while (begin := text.find("{", at)) >= 0:
        where = f"the object at character {begin}"
        try:
            value, at = decoder.raw_decode(text, begin)
            _check_strings_and_depth(value)
        except RecursionError as error:
            raise _UnreadableError(f"{where} is nested too deeply") from error
        except ValueError as error:  # also a number of more digits than Python reads
            raise _UnreadableError(f"{where} cannot be read ({error})") from error
        yield _Found(value, begin, at)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{shorten(digits)} is too large for a number")
    return number


def _check_strings_and_depth(value: object) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH}")
        inner: list[object] = []
        for each in level:
            if isinstance(each, str) and _LONE_SURROGATE.search(each):
                raise ValueError("a lone surrogate, half of a UTF-16 pair, is not text")
            if isinstance(each, dict):
                inner += each.keys()
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        level = inner


def _outside(text: str, found: list[_Found], at: int = 0) -> str:
    """Return what stands outside of objects, from a character on."""
    parts: list[str] = []
    for each in found:
        parts.append(text[at : each.start])
        at = each.end
    return "\n".join([*parts, text[at:]])


def _check_outside(outside: str) -> None:
    if brace := _BRACE.search(outside):
        raise _UnreadableError(f"a {brace[0]!r} stands outside of any JSON object")
    if _THINKING in outside:
        raise _UnreadableError(f"expected {_END_OF_THINKING!r} behind {_THINKING!r}, found none")


def _check_keys(value: dict[str, Any], keys: Collection[str]) -> None:
    """Refuse a record's key that is not read: in other case, or deeper in an object."""
    known = {key.casefold() for key in keys}
    level: list[object] = [value]
    is_top = True
    while level:
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                for key in each:
                    if key.strip().casefold() in known and not (is_top and key in keys):
                        raise _UnreadableError(
                            f"the key {key!r} is not spelled or placed as it was asked for"
                        )
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        level, is_top = inner, False


def _check_lines(text: str, found: _Found) -> None:
    """Refuse an object that does not stand on lines of its own."""
    begin = max(text.rfind(sign, 0, found.start) for sign in "\r\n") + 1
    line_end = _END_OF_LINE.search(text, found.end)
    end = line_end.start() if line_end else len(text)
    for beside in (text[begin : found.start], text[found.end : end]):
        if _FENCE.sub("", beside).strip():
            raise _UnreadableError(
                f"expected the object on lines of its own, found {shorten(beside.strip())} beside "
                "it: it may be a quote"
            )


def _check_nothing(text: str, found: list[_Found], keys: Iterable[str]) -> None:
    """Refuse a decision for nothing that other words may take back."""
    after = _outside(text, found[1:], at=found[0].end)
    if rest := _FENCE.sub("", after).strip():
        raise _UnreadableError(f"{shorten(rest)} follows an object that decides for nothing")
    before = text[: found[0].start]
    for key in keys:
        if re.search(rf"""["'“”]{re.escape(key)}\\?["'“”]\s*+[:：]""", before, re.IGNORECASE):
            raise _UnreadableError(f"the key {key!r} stands before an object that has nothing")


def _fit(value: dict[str, Any], model: type[M]) -> M:
    own = {key: inner for key, inner in value.items() if key in model.model_fields}
    try:
        return model.model_validate_json(json.dumps(own))
    except ValidationError as error:
        raise _UnreadableError(explain(error, "the object")) from error


def _has_key(text: str, key: str) -> bool:
    return re.search(rf"\b{re.escape(key)}\b\W{{0,3}}:", text) is not None


def _is_bare(text: str, found: list[_Found]) -> bool:
    """Tell whether nothing stands around objects but white space and fences."""
    return not _FENCE.sub("", _outside(text, found)).strip()
