"""An analysis as it is printed: what a report needs, without a number to compute."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragmend.analysis.printing.table import Table, print_rows
from ragmend.records import Count, Name, Record


class Section(Record):
    """A part of the explanation in plain words: each sentence built from computed values."""

    heading: Name
    sentences: tuple[Name, ...]


class PrintedTable(Record):
    """A table's title, cells and notes as text."""

    name: Name
    title: Name
    headings: tuple[str, ...]
    is_number: tuple[bool, ...]
    """Which columns stand flush right."""
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


class PrintedFigure(Record):
    """A figure's title and caption; its images lie in `figures/<name>.<format>`."""

    name: Name
    title: Name
    caption: Name
    svg_sha256: Name
    """Hash of the drawing: whoever shows it depends on the drawing through this file."""


class LongTable(Record):
    """A table that is too long for a report and stands in its files alone."""

    name: Name
    title: Name
    n_rows: Count


class PrintedAnalysis(Record):
    """What an analysis printed, in report order."""

    schema_version: Literal[1] = 1
    sections: tuple[Section, ...]
    figures: tuple[PrintedFigure, ...]
    tables: tuple[PrintedTable, ...]
    long_tables: tuple[LongTable, ...] = ()
    left_out: dict[str, str] = Field(default_factory=dict)
    """Tables that were not made, each with the reason."""


def print_table(table: Table) -> PrintedTable:
    """Return a table as text."""
    return PrintedTable(
        name=table.name,
        title=table.title,
        headings=tuple(column.heading for column in table.columns),
        is_number=tuple(column.style != "text" for column in table.columns),
        rows=tuple(tuple(row) for row in print_rows(table)),
        notes=table.notes,
    )
