"""Structured fields as readable lines: one a value, and those that follow from several values.

A null or empty value gives a line marked unknown: unknown is not absent.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.text.fields.addresses import whole_addresses
from ragmend.text.fields.categories import category_names, category_words
from ragmend.text.fields.field_words import label_of, scalar_text, value_words
from ragmend.text.fields.opening_hours import open_days, opens_ever

_PYTHON_STRING = re.compile(r"u?'(.*)'|u?\"(.*)\"", re.DOTALL)
_PYTHON_DICT = re.compile(r"\{([^{}]*)\}")
_PYTHON_WORDS: dict[str, bool | None] = {"True": True, "False": False, "None": None}
# Groups of flags of which none being true says something of its own.
_NONE_OF = {"BusinessParking": "no parking", "Music": "no music"}


class FieldLine(NamedTuple):
    """A field, or what follows from fields, as a line.

    Attributes:
        name: Unique but for keys with dots in them: "attributes.WiFi", "hours=weekdays".
        text: The line, never empty.
        path: The field, or the one that it is derived from.
        is_unknown: Whether it says that nothing is known.
        parts: Names of the lines that it is derived from or that go into it; empty if none.
    """

    name: str
    text: str
    path: str
    is_unknown: bool = False
    parts: tuple[str, ...] = ()


def value_lines(path: str, value: JsonValue) -> Iterator[FieldLine]:
    """Yield one line for each value at or below a path, in the data's order."""
    waiting = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        value = _plain_value(value)
        if isinstance(value, dict) and value:
            if path == "hours" and not opens_ever(value):
                yield from _unclear_hours(value)
            else:
                waiting.extend((f"{path}.{key}", value[key]) for key in reversed(value))
        elif isinstance(value, list) and value:
            waiting.extend((f"{path}[{n}]", value[n]) for n in reversed(range(len(value))))
        else:
            yield _value_line(path, value)


def derived_lines(fields: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    """Yield the lines that follow from several values or say one in another way.

    Only what the data say: neither the scale behind "3.5 stars" nor the dollars behind price
    range 2.
    """
    yield from _whole_stars(fields)
    yield from _categories(fields)
    yield from _addresses(fields)
    yield from _hours(fields)
    yield from _groups(fields)


def _value_line(path: str, value: JsonValue) -> FieldLine:
    is_unknown = value is None or value in ("", {}, [])
    text = f"{label_of(path)}: unknown" if is_unknown else value_words(path, value)
    # Only a list of categories is made of other lines: one for each.
    parts = tuple(line.name for line in _categories({path: value}))
    return FieldLine(path, text, path, is_unknown, parts)


def _plain_value(value: JsonValue) -> JsonValue:
    """Read a value that is a Python literal written as a string: "u'free'", "{dj: False}"."""
    if not isinstance(value, str):
        return value
    if braced := _PYTHON_DICT.fullmatch(value.strip()):
        pairs = [item.partition(":") for item in braced[1].split(",") if item.strip()]
        if all(colon for _, colon, _ in pairs):
            return {scalar_text(_scalar(key)): _scalar(inner) for key, _, inner in pairs}
    return _scalar(value)


def _scalar(written: str) -> str | bool | None:
    plain = written.strip()
    if plain in _PYTHON_WORDS:
        return _PYTHON_WORDS[plain]
    quoted = _PYTHON_STRING.fullmatch(plain)
    return (quoted[1] or quoted[2] or "").strip() if quoted else plain


def _unclear_hours(hours: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    """Yield the days of a week that never opens: "0:0-0:0" need not mean closed there."""
    for day, value in hours.items():
        path = f"hours.{day}"
        if isinstance(value, str) and value:
            yield FieldLine(path, f"{label_of(path)}: unknown ({value})", path, is_unknown=True)
        else:
            yield from value_lines(path, value)


def _whole_stars(fields: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    """Yield "rated 4 stars" for 4.0."""
    for key, value in fields.items():
        if key.endswith("stars") and isinstance(value, float) and value.is_integer():
            text = f"rated {value:.0f} star{'s' if value != 1 else ''}"
            yield FieldLine(f"{key}=whole", text, key, parts=(key,))


def _categories(fields: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    names = category_names(_text_at(fields, "categories"))
    for name in names if len(names) > 1 else ():
        text = category_words(name, among=names)
        yield FieldLine(f"categories={name}", text, "categories")


def _addresses(fields: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    """Yield the address with city and state as one line, if at least two are known."""
    known = {key: _text_at(fields, key) for key in ("address", "city", "state")}
    parts = tuple(key for key, text in known.items() if text)
    if len(parts) > 1:
        for name, text in whole_addresses(*known.values()):
            suffix = f"={name}" if name else ""
            yield FieldLine(f"address+city+state{suffix}", text, "address", parts=parts)


def _text_at(fields: Mapping[str, JsonValue], key: str) -> str:
    value = _plain_value(fields.get(key))
    return value if isinstance(value, str) else ""


def _hours(fields: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    hours = _plain_value(fields.get("hours"))
    if isinstance(hours, dict):
        for name, text, days in open_days(hours):
            parts = tuple(f"hours.{day}" for day in days)
            yield FieldLine(f"hours={name}" if name else "hours", text, "hours", parts=parts)


def _groups(fields: Mapping[str, JsonValue]) -> Iterator[FieldLine]:
    """Yield what a group of flags says as a whole: nothing known of it, or none of it there."""
    attributes = _plain_value(fields.get("attributes"))
    for key, value in attributes.items() if isinstance(attributes, dict) else ():
        group, path = _plain_value(value), f"attributes.{key}"
        if not isinstance(group, dict) or not group:
            continue
        flags = list(map(_plain_value, group.values()))
        parts = tuple(f"{path}.{member}" for member in group)
        if all(flag is None for flag in flags):
            yield FieldLine(path, f"{label_of(path)}: unknown", path, True, parts)
        elif key in _NONE_OF and all(flag is False for flag in flags) and not _has_inverse(group):
            yield FieldLine(path, _NONE_OF[key], path, parts=parts)


def _has_inverse(group: Mapping[str, JsonValue]) -> bool:
    """Tell whether a flag says that there is none of the others: "no_music"."""
    return any(member.startswith("no_") for member in group)
