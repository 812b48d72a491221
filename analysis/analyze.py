"""The whole analysis: tidy frames in, tables and figures out; no model is ever called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ragmend.analysis.figures.recipes import drawn_figures
from ragmend.analysis.figures.style import Figure
from ragmend.analysis.inputs.agreeing import refuse_contradictions
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.notes import mark_judges
from ragmend.analysis.printing.printed import (
    LongTable,
    PrintedAnalysis,
    PrintedFigure,
    Section,
    print_table,
)
from ragmend.analysis.printing.table import Table
from ragmend.analysis.prose.explain import explain
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.provenance_table import provenance_table
from ragmend.analysis.tables.recipes import TABLES, Recipe, reason_to_leave_out
from ragmend.errors import RagmendError, StatisticsError


class Analysis(NamedTuple):
    """What an analysis found, in report order."""

    sections: tuple[Section, ...]
    """What was found, in plain words."""
    tables: dict[str, Table]
    figures: dict[str, Figure]
    left_out: dict[str, str]
    """Tables that were not made, each with the reason."""


def analyze(
    frames: Frames,
    *,
    settings: Settings | None = None,
    provenance: Provenance | None = None,
    keep_going: bool = False,
) -> Analysis:
    """Make every table and figure that the given frames allow.

    Args:
        frames: Tidy frames, from a run's records or from anyone's files.
        settings: How to compute; None: as in the paper.
        provenance: Where the numbers come from; None: unknown.
        keep_going: Whether what cannot be made for a fault in what it is made from is left out
            with the error's message, as a table is whose inputs were not given; then there may be
            no table at all.

    Raises:
        StatisticsError: No table can be made from the frames, an input is not what its table
            needs, or inputs contradict each other.
        AccountingError: Counts that must agree do not.
    """
    study = Study(frames, settings or Settings(), provenance or Provenance())
    refuse_contradictions(frames, study.provenance, incomplete=study.settings.incomplete)
    tables: dict[str, Table] = {}
    left_out: dict[str, str] = {}
    for name, recipe in TABLES.items():
        with _fault_named(left_out, name, keep_going=keep_going):
            reason = reason_to_leave_out(study, recipe)
            if reason is None:
                tables[name] = _with_notes(recipe.make(study), recipe, study)
            else:
                left_out[name] = reason
    if keep_going and not tables:
        return Analysis((), {}, {}, left_out)
    if not tables:
        given = [name for name in Frames._fields if frames.has(name)]
        raise StatisticsError(
            f"no input, no table: of {', '.join(given) or 'nothing'} alone none can be made; give "
            "at least one of labels, claims, arms, selection, runs, published"
        )
    tables["provenance"] = provenance_table(tables, TABLES, study)
    figures: dict[str, Figure] = {}
    sections: tuple[Section, ...] = ()
    with _fault_named(left_out, "figures", keep_going=keep_going):
        figures = drawn_figures(study, tables)
    with _fault_named(left_out, "explanation", keep_going=keep_going):
        sections = explain(study, tables)
    return Analysis(sections, tables, figures, left_out)


@contextmanager
def _fault_named(left_out: dict[str, str], name: str, *, keep_going: bool) -> Iterator[None]:
    """Name what cannot be made with the error's message, where the rest is to be made anyway."""
    try:
        yield
    except RagmendError as error:
        if not keep_going:
            raise
        left_out[name] = f"cannot be made: {error}"


def _with_notes(table: Table, recipe: Recipe, study: Study) -> Table:
    """Return the table with what a reader of judges' labels must know of them."""
    table = mark_judges(table, study.provenance)
    reads_labels = any(
        need.partition(".")[0] == "labels" for need in (*recipe.needs, *recipe.also_reads)
    )
    if not (reads_labels and study.n_dropped):
        return table
    records = "record lacks" if study.n_dropped == 1 else "records lack"
    note = f"{study.n_dropped:,} {records} a label: left out of all that is judged"
    return table._replace(notes=(*table.notes, note))


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
        long_tables=tuple(
            LongTable(name=name, title=table.title, n_rows=len(table.frame))
            for name, table in analysis.tables.items()
            if table.is_lookup
        ),
        left_out=analysis.left_out,
    )
