"""Every figure of an analysis, in report order: one literal mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ragmend.analysis.figures.rates import judged_rates_figure
from ragmend.analysis.figures.style import Figure
from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study


class FigureFunction(Protocol):
    """Draws one figure from finished tables, and frames where a table is too coarse."""

    def __call__(self, study: Study, tables: Mapping[str, Table], /) -> Figure:
        """Return the figure."""
        ...


class FigureRecipe(NamedTuple):
    """How a figure is drawn, and the tables without which it is left out."""

    draw: FigureFunction
    needs: tuple[str, ...]


FIGURES: dict[str, FigureRecipe] = {
    "judged_rates": FigureRecipe(judged_rates_figure, needs=("table5_judged",)),
}
