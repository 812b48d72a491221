"""JSON answers: the one object that a model was asked for, found in whatever it wrote around it.

A fault is never a decision. Nothing is repaired or guessed, and nothing is read out of the inside
of something broken: an answer may quote JSON of the text that it is about, and the quote must
not be taken for the answer.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, NoReturn, TypeVar

from pydantic import ValidationError

from ragmend.errors import AnswerFaultError
from ragmend.io import explain, shorten
from ragmend.llm.protocol import Generation
from ragmend.records import Record

M = TypeVar("M", bound=Record)
# Far below where Python's recursion ends, so that an answer reads the same from any depth of calls.
MAX_DEPTH = 100

# What begins as an object, in JSON or in the manner of other languages. Other braces are prose.
_BEGINS_AN_OBJECT = re.compile(r"""\{(?=\s*+(?:["'{]|\w++\s*+:))""")
_FENCE = re.compile(r"```[\w-]*+")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_object(
    generation: Generation, model: type[M], *, what: str, seen: Iterable[str] = ()
) -> M:
    r"""Read the one JSON object with a record's keys out of a generated text.

    Text and code fences around it are allowed, and so are keys beside the record's, for models
    add explanations: they are ignored. So are objects that have none of the record's keys. An
    object that has one of them and does not fit the record is malformed. A line break may stand
    in a string as it is. Several equal answers are one; two different ones are none. What begins
    as an object and is no JSON makes the whole answer malformed, wherever it stands: whatever
    object lies inside or behind it may be part of it.

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
        if not text.strip():
            raise AnswerFaultError(f"{what}: no text came", status="empty", raw=text)
        return _only_answer(text, model, seen)
    except _UnreadableError as error:
        raise AnswerFaultError(f"{what}: {error}", status="malformed", raw=text) from error


class _UnreadableError(ValueError):
    """Why a text is malformed."""


class _Found(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int


def _only_answer(text: str, model: type[M], seen: Iterable[str]) -> M:
    keys = model.model_fields.keys()
    named = " and ".join(repr(key) for key in keys)
    found = [each for each in _objects(text) if each.value.keys() & keys]
    answers = [_fit(each.value, model) for each in found]
    if not answers:
        raise _UnreadableError(f"expected a JSON object with {named}, found {shorten(text)}")
    if any(answer != answers[0] for answer in answers):
        raise _UnreadableError(f"two different answers: {len(answers)} objects with {named}")
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
    while begin := _BEGINS_AN_OBJECT.search(text, at):
        where = f"the object at character {begin.start()}"
        try:
            value, at = decoder.raw_decode(text, begin.start())
            _check_strings_and_depth(value)
        except RecursionError as error:
            raise _UnreadableError(f"{where} is nested too deeply") from error
        except ValueError as error:  # also a number of more digits than Python reads
            raise _UnreadableError(f"{where} cannot be read ({error})") from error
        yield _Found(value, begin.start(), at)


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
    at = 0
    for each in found:
        if _FENCE.sub("", text[at : each.start]).strip():
            return False
        at = each.end
    return not _FENCE.sub("", text[at:]).strip()
