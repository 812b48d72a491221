"""The whole analysis: tidy frames in, tables and figures out; no model is ever called."""

from __future__ import annotations

from typing import NamedTuple

from ragmend.analysis.figures.recipes import FIGURES
from ragmend.analysis.figures.style import Figure
from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import Table
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.analysis.tables.recipes import TABLES, missing_inputs
from ragmend.errors import StatisticsError


class Analysis(NamedTuple):
    """What an analysis found, in report order."""

    tables: dict[str, Table]
    figures: dict[str, Figure]
    left_out: dict[str, str]
    """Tables that were not made, each with the reason."""


def analyze(
    frames: Frames, *, settings: Settings | None = None, provenance: Provenance | None = None
) -> Analysis:
    """Make every table and figure that the given frames allow.

    Args:
        frames: Tidy frames, from a run's records or from anyone's files.
        settings: How to compute; None: as in the paper.
        provenance: Where the numbers come from; None: unknown.

    Raises:
        StatisticsError: No table can be made from the frames, or an input is not what its
            table needs.
        AccountingError: Counts that must agree do not.
    """
    study = Study(frames, settings or Settings(), provenance or Provenance())
    tables, left_out = {}, {}
    for name, recipe in TABLES.items():
        missing = missing_inputs(frames, recipe)
        if missing:
            left_out[name] = f"needs {' and '.join(missing)}"
        else:
            tables[name] = recipe.make(study)
    if not tables:
        raise StatisticsError("no input, no table: give at least one of labels, claims, arms, …")
    figures = {
        name: recipe.draw(study, tables)
        for name, recipe in FIGURES.items()
        if all(need in tables for need in recipe.needs)
    }
    return Analysis(tables, figures, left_out)
