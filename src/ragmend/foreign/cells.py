"""How one cell of ours is read from a foreign row: taken, declared missing, changed, checked.

In this order: the value is taken from its place; one that the map declares as missing leaves the
cell blank, and so does nothing (null or an empty text) where the column allows that and the map
does not translate it; a number is compared or scaled; the map translates; the column checks.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ragmend.errors import ConfigError, DataError
from ragmend.foreign.map import AnyElement, Origin, Place, Scalar
from ragmend.foreign.targets import Column
from ragmend.io import shorten
from ragmend.values import Cell, read_number, read_text

Cells = dict[str, Any]
Take = Callable[[Cells], Any]
CellReader = Callable[[Cells], Cell]
DIGEST_DIGITS = 16


def cell_reader(
    column: Column,
    origin: Origin,
    *,
    values: Mapping[str, Scalar] | None,
    missing: Sequence[str],
    is_flat: bool,
) -> CellReader:
    """Return the function that reads one column of ours from a foreign row.

    Args:
        column: Our column.
        origin: Where its value comes from.
        values: Their values (as text) and ours; None: theirs are ours.
        missing: Their values (as text) for which the cell stays blank.
        is_flat: Whether rows are flat, so that a name with dots is one name.

    Returns:
        A function that raises DataError (without the place) for what does not fit.
    """
    take = value_taker(origin, is_flat=is_flat)
    change = _change(origin)
    translated = {theirs: _parsed(column, ours) for theirs, ours in (values or {}).items()}

    def read(cells: Cells) -> Cell:
        value = take(cells)
        if missing and text_of(value) in missing:
            return None
        if value is None or value == "":
            text = text_of(value)
            return translated[text] if text in translated else _blank(column, value)
        if change is not None:
            value = change(value)
        return column.parse(value) if values is None else _translate(value, translated)

    return read


def value_taker(origin: Origin, *, is_flat: bool) -> Take:
    """Return the function that takes an origin's value from a row, as it stands there."""
    if origin.path is not None:
        return place_taker(origin.path, is_flat=is_flat)
    if origin.join is not None:
        return _joined([place_taker(place, is_flat=is_flat) for place in origin.join], origin.by)
    if origin.digest is not None:
        return _digest(place_taker(origin.digest, is_flat=is_flat))
    if origin.any is not None:
        return _any(origin.any, place_taker(origin.any.path, is_flat=is_flat))
    constant = origin.value
    return lambda cells: constant


def place_taker(place: Place, *, is_flat: bool) -> Take:
    """Return the function that takes what stands at a place.

    Raises:
        ConfigError: As `place_steps`.
    """
    steps = place_steps(place, is_flat=is_flat)
    return lambda cells: step_into(cells, steps)


def place_steps(place: Place, *, is_flat: bool) -> tuple[str, ...]:
    """Return the keys, outermost first, that lead to a place.

    Raises:
        ConfigError: A place inside another, in a file whose rows are flat.
    """
    if isinstance(place, str):
        return (place,) if is_flat else tuple(place.split("."))
    if is_flat and len(place) > 1:
        raise ConfigError(f"{list(place)}: a CSV file has columns, none inside another")
    return place


def step_into(cells: Cells, steps: Sequence[str]) -> Any:  # noqa: ANN401 - any JSON value
    """Return what stands in a row at the end of some keys.

    Raises:
        DataError: There is no such key, or no object that could have it.
    """
    value: Any = cells
    for step in steps:
        value = _step(value, step)
    return value


def text_of(value: object) -> str:
    """Return a single value as text, as a map writes it: true, 1, 0.5, null, or itself.

    Raises:
        DataError: A list, an object, or a number that is not finite.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(read_number(value))
    raise DataError(f"expected a single value, found {shorten(value)}")


def _parsed(column: Column, ours: Scalar) -> Cell:
    return None if ours == "" and column.blank == "allowed" else column.parse(ours)


def _blank(column: Column, value: object) -> Cell:
    if column.blank == "allowed":
        return None
    nothing = "null" if value is None else ""
    way = (
        f'; missing.{column.name} = ["{nothing}"] in the map declares it as missing'
        if column.blank == "declared"
        else ""
    )
    raise DataError(f"a value must be there, found {value!r}{way}")


def _translate(value: object, translated: Mapping[str, Cell]) -> Cell:
    text = text_of(value)
    if text not in translated:
        known = ", ".join(map(repr, translated))
        raise DataError(f"expected one of the map's values {known}, found {shorten(value)}")
    return translated[text]


def _step(cells: object, name: str) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(cells, dict):
        if name in cells:
            return cells[name]
        there = shorten(", ".join(map(str, cells)), limit=300)
        raise DataError(f"no column {name!r} here; there are {there}")
    raise DataError(f"expected an object with {name!r}, found {shorten(cells)}")


def _change(origin: Origin) -> Callable[[Any], float] | None:
    if (least := origin.at_least) is not None:
        return lambda value: int(read_number(value) >= least)
    if (limit := origin.below) is not None:
        return lambda value: int(read_number(value) < limit)
    if (times := origin.times) is not None:
        # In decimal, so that .785 becomes 78.5 and not its binary neighbour.
        return lambda value: float(Decimal(repr(read_number(value))) * Decimal(repr(times)))
    return None


def _joined(takes: Sequence[Take], by: str) -> Take:
    def joined(cells: Cells) -> str:
        parts = [read_text(take(cells)) for take in takes]
        for part in parts:
            # a-b with c, and a with b-c, would become one.
            if by in part:
                raise DataError(
                    f"{shorten(part)} holds {by!r}, which stands between the parts; "
                    'put another `by` beside `join`, as in by = "|"'
                )
        return by.join(parts)

    return joined


def _digest(take: Take) -> Take:
    def digest(cells: Cells) -> str:
        return hashlib.sha256(read_text(take(cells)).encode()).hexdigest()[:DIGEST_DIGITS]

    return digest


def _any(wanted: AnyElement, take: Take) -> Take:
    def fits(cells: Cells) -> int | None:
        elements = take(cells)
        if not isinstance(elements, list):
            raise DataError(f"expected a list, found {shorten(elements)}")
        if wanted.field is None or wanted.starts_with is None:
            return int(bool(elements))
        texts = [_texts(_step(element, wanted.field)) for element in elements]
        if any(text.startswith(wanted.starts_with) for each in texts for text in each):
            return 1
        # An element that says nothing might have fitted: then nobody knows.
        return 0 if all(texts) else None

    return fits


def _texts(value: object) -> list[str]:
    elements = value if isinstance(value, list) else [value]
    texts = [element for element in elements if isinstance(element, str) and element]
    if len(texts) < len(elements):
        raise DataError(f"expected a text or a list of texts, found {shorten(value)}")
    return texts
