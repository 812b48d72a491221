"""The rows of a finished table, as the sentences read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragmend.analysis.printing.table import Table

Row = dict[str, Any]


def rows_of(tables: Mapping[str, Table], name: str) -> list[Row]:
    """Return a table's rows by column name; none where the table was not made."""
    if name not in tables:
        return []
    return [{str(key): cell for key, cell in row.items()} for row in _records(tables[name])]


def rows_by(tables: Mapping[str, Table], name: str, key: str) -> dict[str, Row]:
    """Return a table's rows by the value of one column."""
    return {str(row[key]): row for row in rows_of(tables, name)}


def _records(table: Table) -> list[dict[Any, Any]]:
    return table.frame.to_dict("records")
