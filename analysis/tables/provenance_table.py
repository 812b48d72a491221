"""The provenance table: for every cell of every table, the files and the code it came from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.notes import notes_for
from ragmend.analysis.printing.table import UNDEFINED, Column, Table, print_rows, table_frame
from ragmend.analysis.printing.write import table_csv
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    from types import FunctionType

    # The mapping of all recipes names this package's tables: importing it here would be a circle.
    from ragmend.analysis.tables.recipes import Recipe

IN_MEMORY = "in memory"
_SEPARATOR = "; "

_COLUMNS = (
    Column("table", "table", "text"),
    Column("row", "row", "text"),
    Column("cell", "cell", "text"),
    Column("value", "value", "text"),
    Column("printed", "printed", "text"),
    Column("input", "input", "text"),
    Column("sha256", "SHA-256", "text"),
    Column("function", "function", "text"),
    Column("command", "command", "text"),
)


class ProvenanceRow(NamedTuple):
    """Where one cell came from."""

    table: str
    row: str
    """The row's key, as in `judge=qwen, condition=original`."""
    cell: str
    """The cell's column."""
    value: str | None
    """As in the CSV; None: undefined."""
    printed: str | None
    """As in the printed table, both ends for an interval; None: this column is not printed."""
    input: str
    """The files behind the table, or `in memory`."""
    sha256: str | None
    """Their hashes, in the same order; None: no file."""
    function: str
    """What made the table, `module:function`."""
    command: str
    """What makes it again."""


class _Origin(NamedTuple):
    input: str
    sha256: str | None
    function: str
    command: str


def provenance_table(
    tables: Mapping[str, Table], recipes: Mapping[str, Recipe], study: Study
) -> Table:
    """Tell of every cell of every table which inputs and which function it was made from.

    Args:
        tables: The finished tables, by name.
        recipes: How each of them was made.
        study: What they were made from.

    Raises:
        StatisticsError: There is no table, or one has no recipe.
    """
    rows = [
        row for name, table in tables.items() for row in _table_rows(name, table, recipes, study)
    ]
    notes = notes_for(
        study.provenance,
        "row: the leading columns that tell the rows of a table apart",
        f"value: as in the table's CSV; {UNDEFINED}: undefined",
        f"printed: as in the table, an interval with both ends; {UNDEFINED}: in the CSV only",
        "input: every file that the table's function reads; the hash is of the whole file",
    )
    title = "Provenance: what every cell of every table was made from"
    return Table("provenance", title, table_frame(rows), _COLUMNS, notes, is_lookup=True)


def cell_of(provenance: Table, *, table: str, row: str, cell: str) -> ProvenanceRow:
    """Return where one cell came from.

    Args:
        provenance: A finished provenance table.
        table: The table's name.
        row: The row's key, as in `judge=qwen, condition=original`.
        cell: The cell's column.

    Raises:
        StatisticsError: There is no such cell.
    """
    frame = provenance.frame
    found = frame[(frame["table"] == table) & (frame["row"] == row) & (frame["cell"] == cell)]
    if found.empty:
        raise StatisticsError(f"no cell {cell} in row {row!r} of table {table}")
    return ProvenanceRow(*found.iloc[0])


def _table_rows(
    name: str, table: Table, recipes: Mapping[str, Recipe], study: Study
) -> Iterator[ProvenanceRow]:
    if name not in recipes:
        raise StatisticsError(f"table {name} has no recipe, so that nothing tells its inputs")
    origin = _origin(recipes[name], study)
    # What the CSV says is read from the CSV itself.
    columns, *rows = csv.reader(io.StringIO(table_csv(table).decode(), newline=""))
    places = _printed_places(table.columns)
    for key, values, printed in zip(_row_keys(columns, rows), rows, print_rows(table), strict=True):
        for column, value in zip(columns, values, strict=True):
            shown = printed[places[column]] if column in places else None
            yield ProvenanceRow(name, key, column, value or None, shown, *origin)


def _origin(recipe: Recipe, study: Study) -> _Origin:
    files = [
        file
        for frame in _frames_read(recipe, study.frames)
        for file in study.provenance.inputs.get(frame, ())
    ]
    make = cast("FunctionType", recipe.make)
    hashes = {file.path: file.sha256 for file in files}
    return _Origin(
        input=_SEPARATOR.join(hashes) or IN_MEMORY,
        sha256=_SEPARATOR.join(hashes.values()) or None,
        function=f"{make.__module__}:{make.__qualname__}",
        command=study.provenance.command,
    )


def _frames_read(recipe: Recipe, frames: Frames) -> list[str]:
    """Return the given frames that a recipe needs or would use, each once."""
    named = dict.fromkeys(need.partition(".")[0] for need in (*recipe.needs, *recipe.also_reads))
    given = frames._asdict()
    return [name for name in named if given[name] is not None]


def _printed_places(columns: Sequence[Column]) -> dict[str, int]:
    """Return at which place of a printed row each column of the CSV is shown."""
    places: dict[str, int] = {}
    for place, column in enumerate(columns):
        ends = (f"{column.name}_low", f"{column.name}_high")
        for name in ends if column.style == "interval" else (column.name,):
            places.setdefault(name, place)
    return places


def _row_keys(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Name each row by as many leading columns as it takes, else by its number as well."""
    for width in range(1, len(columns) + 1):
        if len({tuple(row[:width]) for row in rows}) == len(rows):
            return [_describe(columns[:width], row) for row in rows]
    return [f"row={place}, {_describe(columns[:1], row)}" for place, row in enumerate(rows, 1)]


def _describe(columns: Sequence[str], row: Sequence[str]) -> str:
    return ", ".join(f"{column}={value}" for column, value in zip(columns, row, strict=False))
