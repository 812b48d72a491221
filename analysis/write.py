"""Tables as files: CSV at full precision, Markdown as printed.

Nothing here touches a disk: whoever calls gets names and bytes, and writes them atomically.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from fractions import Fraction

from ragmend.analysis.table import Cell, Style, Table, print_rows
from ragmend.errors import StatisticsError

_ALIGNMENT: dict[Style, str] = {
    "text": "---",
    "count": "---:",
    "decimal": "---:",
    "interval": "---:",
    "p_value": "---:",
}
# What Markdown would read as a cell border, markup or a tag.
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "|": "\\|", "<": "&lt;", "*": "\\*", "_": "\\_", "`": "\\`"}
)


def table_files(tables: Mapping[str, Table]) -> dict[str, bytes]:
    """Return `tables/<name>.csv` and `tables/<name>.md` of every table."""
    files = {}
    for name, table in tables.items():
        files[f"tables/{name}.csv"] = table_csv(table)
        files[f"tables/{name}.md"] = table_markdown(table).encode()
    return files


def table_csv(table: Table) -> bytes:
    """Write every column; floats as `repr`, undefined cells blank, lines end in a newline."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.frame.columns)
    for row in table.frame.itertuples(index=False, name=None):
        writer.writerow([_write_cell(cell) for cell in row])
    return buffer.getvalue().encode()


def table_markdown(table: Table) -> str:
    """Write the printed columns as a GitHub table with title and notes."""
    lines = [
        f"**{escape_markdown(table.title)}**",
        "",
        _markdown_row([column.heading for column in table.columns]),
        f"| {' | '.join(_ALIGNMENT[column.style] for column in table.columns)} |",
        *(_markdown_row(row) for row in print_rows(table)),
        "",
        *(f"- {escape_markdown(note)}" for note in table.notes),
    ]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """Return text that Markdown prints as it is, on one line."""
    return " ".join(text.split()).translate(_ESCAPES)


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _write_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Fraction):
        cell = float(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        raise StatisticsError(f"a table cell must be finite, got {cell}")
    return cell if isinstance(cell, str) else repr(cell)
