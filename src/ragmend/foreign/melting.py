"""Wide to long: the listed columns of one foreign row become rows of ours."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ragmend.errors import ConfigError, DataError
from ragmend.foreign.cells import CellReader, Cells, cell_reader, place_steps, step_into
from ragmend.foreign.map import Melt, Origin, TableSource
from ragmend.foreign.targets import Target
from ragmend.io import shorten
from ragmend.values import Cell


class Entry(NamedTuple):
    """One listed column."""

    name: Cell
    """What stands in our column `melt.column`."""
    read: CellReader
    """Reads our column `melt.into`."""


class Melting:
    """The columns that one source melts; all of its rows must have the same."""

    def __init__(self, melt: Melt, source: TableSource, target: Target, *, is_flat: bool) -> None:
        """Prepare for the rows of one file.

        Raises:
            ConfigError: A place that a flat row cannot have.
            DataError: A name that the map does not translate.
        """
        self.into = melt.into
        self._melt = melt
        self._source = source
        self._target = target
        self._is_flat = is_flat
        if is_flat and melt.inside:
            raise ConfigError("melt.inside: a CSV file has columns, none inside another")
        self._inside = place_steps(melt.inside, is_flat=is_flat) if melt.inside else ()
        self._listed = self._prepare({**self._by_key(melt.of or ()), **(melt.named or {})})
        self._keys: tuple[str, ...] = ()
        self._entries = self._listed

    def entries(self, cells: Cells) -> list[Entry]:
        """Return the columns to melt, in the order of the map.

        Raises:
            DataError: No column that fits the pattern, one that is listed as well, or other
                columns than in the rows before.
        """
        if not self._melt.starts_with:
            return self._entries
        keys = self._matching(cells)
        if not self._keys:
            self._entries = self._listed + self._prepare(self._by_key(keys))
            self._keys = keys
        elif keys != self._keys and set(keys) != set(self._keys):
            other = shorten(sorted(set(keys) ^ set(self._keys)))
            raise DataError(f"melt: not the columns of the first row: they differ in {other}")
        return self._entries

    def _matching(self, cells: Cells) -> tuple[str, ...]:
        starts = tuple(self._melt.starts_with or ())
        unwanted = tuple(self._melt.not_ends_with or ())
        there = step_into(cells, self._inside)
        if not isinstance(there, dict):
            raise DataError(f"melt.inside: expected an object, found {shorten(there)}")
        keys = tuple(key for key in there if key.startswith(starts) and not key.endswith(unwanted))
        if not keys:
            raise DataError(f"melt: no column to melt: none starts with {' or '.join(starts)}")
        if twice := sorted({*(self._melt.of or ()), *(self._melt.named or {})} & set(keys)):
            raise DataError(f"melt: {twice[0]!r} is melted twice")
        return keys

    def _by_key(self, keys: Iterable[str]) -> dict[str, Origin]:
        return {key: Origin(path=(*self._inside, key)) for key in keys}

    def _prepare(self, origins: Mapping[str, Origin]) -> list[Entry]:
        column, into = self._melt.column, self._melt.into
        return [
            Entry(
                name=self._reader(column, Origin(value=name))({}),
                read=self._reader(into, origin),
            )
            for name, origin in origins.items()
        ]

    def _reader(self, name: str, origin: Origin) -> CellReader:
        return cell_reader(
            self._target.column(name),
            origin,
            values=self._source.values.get(name),
            missing=self._source.missing.get(name, ()),
            is_flat=self._is_flat,
        )
