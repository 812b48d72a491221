"""The rows of one foreign file as rows of one table of ours."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import DataError
from ragmend.foreign.cells import CellReader, Cells, Take, cell_reader, place_taker, text_of
from ragmend.foreign.map import TableSource
from ragmend.foreign.melting import Melting
from ragmend.foreign.readers import Row
from ragmend.foreign.targets import TARGETS, TableName
from ragmend.values import Cell


class _Filter(NamedTuple):
    """One condition of `where`; `seen` are the wanted values that some row had."""

    key: str
    take: Take
    wanted: frozenset[str]
    seen: set[str]


class _Fixed(NamedTuple):
    """A column that a foreign row fills once, however many rows of ours it becomes."""

    place: int
    name: str
    read: CellReader


class Conversion:
    """One section of a map at work on its file."""

    def __init__(
        self, table: TableName, source: TableSource, columns: Sequence[str], *, is_flat: bool
    ) -> None:
        """Prepare for the rows of one file.

        Args:
            table: Our table.
            source: The section of the map.
            columns: The columns to fill, in order.
            is_flat: Whether the file's rows are flat, so that a name with dots is one name.

        Raises:
            ConfigError: A place that a flat row cannot have.
        """
        target = TARGETS[table]
        self._table = table
        self._width = len(columns)
        self._filters = [
            _Filter(key, place_taker(key, is_flat=is_flat), _texts(wanted), set())
            for key, wanted in source.where.items()
        ]
        self._fixed = [
            _Fixed(
                columns.index(name),
                name,
                cell_reader(
                    target.column(name),
                    origin,
                    values=source.values.get(name),
                    missing=source.missing.get(name, ()),
                    is_flat=is_flat,
                ),
            )
            for name, origin in source.columns.items()
        ]
        self._melting: Melting | None = None
        if source.melt is not None:
            self._melting = Melting(source.melt, source, target, is_flat=is_flat)
            self._melt_places = (columns.index(source.melt.column), columns.index(source.melt.into))

    def keeps(self, row: Row) -> bool:
        """Tell whether a row fulfils all conditions of `where`.

        Raises:
            DataError: It lacks a column that a condition is about.
        """
        keeps = True
        for condition in self._filters:
            try:
                text = text_of(condition.take(row.cells))
            except DataError as error:
                raise DataError(f"{row.where}: {self._table}.where: {error}") from error
            if text in condition.wanted:
                condition.seen.add(text)
            else:
                keeps = False
        return keeps

    def convert(self, row: Row) -> list[tuple[Cell, ...]]:
        """Return the rows of ours that a foreign row becomes.

        Raises:
            DataError: A value that is not there or does not fit; names row and column.
        """
        cells: list[Cell] = [None] * self._width
        for place, name, read in self._fixed:
            try:
                cells[place] = read(row.cells)
            except DataError as error:
                raise DataError(f"{row.where}: {self._table}.{name}: {error}") from error
        if self._melting is None:
            return [tuple(cells)]
        try:
            return self._melt(self._melting, row.cells, cells)
        except DataError as error:
            raise DataError(f"{row.where}: {self._table}.{error}") from error

    def refuse_idle_filters(self, file: Path) -> None:
        """Refuse a wanted value that no row had: it is rather misspelt than absent.

        Args:
            file: The file that was read, for the message.

        Raises:
            DataError: There is one.
        """
        for condition in self._filters:
            if idle := sorted(condition.wanted - condition.seen):
                raise DataError(
                    f"{file}: {self._table}.where: no row has {idle[0]!r} in {condition.key!r}"
                )

    def _melt(self, melting: Melting, row: Cells, fixed: list[Cell]) -> list[tuple[Cell, ...]]:
        column, into = self._melt_places
        found = []
        for name, read in melting.entries(row):
            cells = fixed.copy()
            cells[column] = name
            try:
                cells[into] = read(row)
            except DataError as error:
                raise DataError(f"{melting.into} of {name}: {error}") from error
            found.append(tuple(cells))
        return found


def _texts(wanted: object) -> frozenset[str]:
    values = wanted if isinstance(wanted, tuple) else (wanted,)
    return frozenset(text_of(value) for value in values)
