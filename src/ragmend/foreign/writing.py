"""Imported tables on disk: CSV files and `import.json`, which says what they were made from."""

import csv
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

from ragmend import __version__
from ragmend.errors import DataError, OutputError
from ragmend.foreign.convert import Imported, Table
from ragmend.foreign.map import LoadedMap
from ragmend.foreign.targets import TABLE_NAMES, TableName
from ragmend.io import dump_record, path_text, write_bytes
from ragmend.records import Count, Record

MANIFEST = "import.json"


class TableEntry(Record):
    """One table that an import made."""

    file: str
    sha256: str
    rows: Count
    rows_read: Count
    rows_left_out: Count
    blank: dict[str, Count]
    """How many cells are blank, by column that has any."""


class ImportManifest(Record):
    """What an import read and made; the same inputs give the same bytes."""

    schema_version: Literal[1] = 1
    ragmend_version: str = __version__
    map: str
    map_sha256: str
    inputs: dict[str, str]
    """SHA-256 by the path that the map writes."""
    tables: dict[str, TableEntry]


def write_import(folder: Path, loaded: LoadedMap, imported: Imported) -> None:
    """Write the tables, and their manifest last.

    Raises:
        DataError: A file would replace an input, or the folder holds a table that this map
            does not make, so that nobody could tell what belongs together.
        OutputError: A file cannot be written.
    """
    path_text(folder)
    _refuse_mixture(folder, imported)
    contents = {name: table_csv(table) for name, table in imported.tables.items()}
    manifest = ImportManifest(
        map=loaded.name,
        map_sha256=loaded.sha256,
        inputs=imported.digests,
        tables={
            name: _describe(name, table, contents[name]) for name, table in imported.tables.items()
        },
    )
    _remove(folder / MANIFEST)  # without it, an interrupted import is seen to be one
    for name, content in contents.items():
        write_bytes(folder / table_file(name), content)
    write_bytes(folder / MANIFEST, dump_record(manifest))


def table_file(name: TableName) -> str:
    """Return the name of a table's file."""
    return f"{name}.csv"


def table_csv(table: Table) -> bytes:
    """Return a table as CSV: UTF-8, lines that end in LF, numbers that read back the same."""
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append))
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    # With LF as its own line end, the writer would not quote a carriage return in a text.
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines).encode()


def blank_cells(table: Table) -> dict[str, int]:
    """Return how many cells of a column are blank, for those that have any."""
    counts = {
        column: sum(row[place] is None for row in table.rows)
        for place, column in enumerate(table.columns)
    }
    return {column: count for column, count in counts.items() if count}


def _refuse_mixture(folder: Path, imported: Imported) -> None:
    ours = {(folder / table_file(name)).resolve() for name in imported.tables}
    for path in imported.inputs.values():
        if path.resolve() in ours:
            raise DataError(f"{path}: is an input and would be replaced; choose another folder")
    for name in TABLE_NAMES:
        file = folder / table_file(name)
        if name not in imported.tables and file.exists():
            raise DataError(
                f"{file}: is there already, and this map makes no {name}; choose another folder, "
                "so that all tables in it belong together"
            )


def _describe(name: TableName, table: Table, content: bytes) -> TableEntry:
    return TableEntry(
        file=table_file(name),
        sha256=hashlib.sha256(content).hexdigest(),
        rows=len(table.rows),
        rows_read=table.n_read,
        rows_left_out=table.n_left_out,
        blank=blank_cells(table),
    )


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError.of(file, error) from error
