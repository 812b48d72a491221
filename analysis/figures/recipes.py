"""Every figure of an analysis, in report order: one literal mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ragmend.analysis.figures.agreement import agreement_heatmap_figure
from ragmend.analysis.figures.flow import flow_figure
from ragmend.analysis.figures.rates import judged_rates_figure
from ragmend.analysis.figures.seeds import seed_f1_figure
from ragmend.analysis.figures.style import Figure
from ragmend.analysis.figures.tradeoff import tradeoff_figure
from ragmend.analysis.figures.verifier import support_figure, verifier_roc_figure
from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study


class FigureFunction(Protocol):
    """Draws one figure from finished tables, and frames where a table is too coarse."""

    def __call__(self, study: Study, tables: Mapping[str, Table], /) -> Figure | None:
        """Return the figure; None where the tables have nothing that it could show."""
        ...


class FigureRecipe(NamedTuple):
    """How a figure is drawn, and the tables without which it is left out."""

    draw: FigureFunction
    needs: tuple[str, ...]


FIGURES: dict[str, FigureRecipe] = {
    "seed_f1": FigureRecipe(seed_f1_figure, needs=("table1_detectors",)),
    "verifier_roc": FigureRecipe(
        verifier_roc_figure, needs=("table2_verifier", "verifier_by_task")
    ),
    "support_by_task": FigureRecipe(support_figure, needs=("verifier_by_task",)),
    "flow": FigureRecipe(flow_figure, needs=()),
    "judged_rates": FigureRecipe(judged_rates_figure, needs=("table5_judged",)),
    "agreement_heatmap": FigureRecipe(agreement_heatmap_figure, needs=("agreement",)),
    "tradeoff": FigureRecipe(tradeoff_figure, needs=("table3_arms", "contrasts")),
}


def drawn_figures(study: Study, tables: Mapping[str, Table]) -> dict[str, Figure]:
    """Return every figure for which the tables are there, in report order."""
    drawn = {
        name: recipe.draw(study, tables)
        for name, recipe in FIGURES.items()
        if all(need in tables for need in recipe.needs)
    }
    return {name: figure for name, figure in drawn.items() if figure is not None}
