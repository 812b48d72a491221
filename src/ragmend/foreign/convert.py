"""From a map to checked tables: nothing is written before everything is read and checked."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import ConfigError, DataError
from ragmend.foreign.conversion import Conversion
from ragmend.foreign.map import LoadedMap, TableSource
from ragmend.foreign.readers import format_of, read_rows
from ragmend.foreign.targets import TARGETS, TableName
from ragmend.io import sha256_of_file
from ragmend.toml_files import expand_variables
from ragmend.values import Cell


class Table(NamedTuple):
    """One table of ours, complete and checked."""

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    """Sorted by the table's key, which no two rows share."""
    n_read: int
    """Foreign rows read."""
    n_left_out: int
    """Of them, rows that `where` left out."""


class _Located(NamedTuple):
    """One section of a map and its file."""

    source: TableSource
    path: Path


class _Placed(NamedTuple):
    """A row of ours and where it came from."""

    where: str
    cells: tuple[Cell, ...]


class Imported(NamedTuple):
    """What a map made of its files."""

    tables: dict[TableName, Table]
    inputs: dict[str, Path]
    """The files that were read, by their path as the map writes it."""
    digests: dict[str, str]
    """Their SHA-256."""


def convert(loaded: LoadedMap, environ: Mapping[str, str] | None = None) -> Imported:
    """Read the files that a map names and make its tables.

    Args:
        loaded: The map.
        environ: Variables for `${NAME}`; the process's own when None.

    Raises:
        ConfigError: An unset variable, or a place that the format cannot have.
        MissingInputError: A file that is not there.
        DataError: A row that cannot be read or converted, a key that occurs twice, a table or
            a filter without rows. The message names file and line (or row) and column.
    """
    variables = os.environ if environ is None else environ
    inputs: dict[str, Path] = {}
    tables: dict[TableName, Table] = {}
    for name, sources in loaded.map.tables().items():
        located = [_locate(source, name, loaded, variables) for source in sources]
        inputs |= {source.file: path for source, path in located}
        tables[name] = _make_table(name, located, loaded.name)
    inputs = dict(sorted(inputs.items()))
    digests = {file: sha256_of_file(path) for file, path in inputs.items()}
    return Imported(tables, inputs, digests)


def _locate(
    source: TableSource, table: TableName, loaded: LoadedMap, variables: Mapping[str, str]
) -> _Located:
    file = expand_variables(
        source.file,
        variables,
        whose=f"{loaded.name}: {table}.file",
        otherwise="name the file in a map of your own",
    )
    return _Located(source, loaded.folder / file)


def _make_table(name: TableName, located: Sequence[_Located], map_name: str) -> Table:
    key_names = TARGETS[name].key
    columns = tuple(c for c in TARGETS[name].names if c in located[0].source.given)
    places = [columns.index(part) for part in key_names]
    found: dict[tuple[Cell, ...], _Placed] = {}
    n_read = n_left_out = 0
    for source, path in located:
        kind = source.format or format_of(path)
        conversion = _prepare(name, source, columns, is_flat=kind == "csv", map_name=map_name)
        for row in read_rows(path, kind):
            n_read += 1
            if not conversion.keeps(row):
                n_left_out += 1
                continue
            for cells in conversion.convert(row):
                key = tuple(cells[place] for place in places)
                if key in found:
                    at = ", ".join(map("{} {}".format, key_names, key))
                    raise DataError(f"{row.where}: {name}: {at} was already at {found[key].where}")
                found[key] = _Placed(row.where, cells)
        conversion.refuse_idle_filters(path)
    if not found:
        raise DataError(f"{located[0].path}: {name}: there are no rows")
    return Table(columns, [found[key].cells for key in sorted(found)], n_read, n_left_out)


def _prepare(
    name: TableName, source: TableSource, columns: Sequence[str], *, is_flat: bool, map_name: str
) -> Conversion:
    try:
        return Conversion(name, source, columns, is_flat=is_flat)
    except (ConfigError, DataError) as error:
        raise ConfigError(f"{map_name}: {name}: {error}") from error
