"""An analysis as it is printed: what a report needs, without a number to compute."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ragmend.analysis.printing.table import Table, print_rows
from ragmend.records import Name, Record

if TYPE_CHECKING:
    from ragmend.analysis.analyze import Analysis


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


class PrintedAnalysis(Record):
    """What an analysis printed, in report order."""

    schema_version: Literal[1] = 1
    sections: tuple[Section, ...]
    figures: tuple[PrintedFigure, ...]
    tables: tuple[PrintedTable, ...]
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


def print_analysis(analysis: Analysis) -> PrintedAnalysis:
    """Return an analysis as text; tables that are for looking up only are left to their files."""
    return PrintedAnalysis(
        sections=analysis.sections,
        figures=tuple(
            PrintedFigure(
                name=name,
                title=figure.title,
                caption=figure.caption,
                svg_sha256=hashlib.sha256(figure.images["svg"]).hexdigest(),
            )
            for name, figure in analysis.figures.items()
        ),
        tables=tuple(
            print_table(table) for table in analysis.tables.values() if not table.is_lookup
        ),
        left_out=analysis.left_out,
    )
