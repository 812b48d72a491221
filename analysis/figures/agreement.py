"""κ of every two raters as a heat map, one panel a condition."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragmend.analysis.figures.style import (
    COLOURS,
    FAINT,
    INK,
    QUIET,
    Figure,
    draw_figure,
    drawable,
    new_canvas,
)
from ragmend.analysis.inputs.labels import ALL, GOLD
from ragmend.analysis.printing.table import UNDEFINED, Table, round_half_up
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

_MOST_PANELS = 6
_MOST_NUMBERED = 12
_LONGEST_RATER, _LONGEST_OF_MANY = 16, 40  # characters
_MOST_LETTERS = 32  # of names that stand side by side under a panel
_DARK = 0.65  # |κ| above which a cell is too dark for black text


class _Panel(NamedTuple):
    """One condition's κ between its raters; NaN where it is undefined."""

    condition: str
    raters: list[str]
    kappas_KK: NDArray[np.float64]  # noqa: N815


def agreement_heatmap_figure(study: Study, tables: Mapping[str, Table]) -> Figure:
    """Draw Cohen's κ between judges, and with gold where gold holds.

    Args:
        study: Where the numbers come from.
        tables: The finished tables; the frame of `agreement` is what is drawn.
    """
    table = tables["agreement"]
    panels = _panels(table.frame)
    title = "Agreement between raters: Cohen's κ"
    caption = (
        "Cohen's κ of each two raters: 1 is full agreement, 0 what their rates of labels give by "
        f"chance, below 0 less than that; {UNDEFINED} where a rater gave one label only. A low κ "
        "may be all that two raters' rates allow: the table has each pair's largest κ."
    )
    if any(GOLD in panel.raters for panel in panels):
        caption += " gold: human annotation of the untouched answers."
    if len(panels) > _MOST_PANELS:
        caption += f" The first {_MOST_PANELS} of {len(panels)} conditions."
    return draw_figure(
        study.settings,
        title,
        caption,
        lambda: _draw_panels(panels[:_MOST_PANELS], title, table.marks),
    )


def _panels(frame: pd.DataFrame) -> list[_Panel]:
    pairs = frame[frame["rater_a"] != ALL]
    return [
        _panel(str(condition), rows) for condition, rows in pairs.groupby("condition", sort=False)
    ]


def _panel(condition: str, rows: pd.DataFrame) -> _Panel:
    """Return the panel of one condition's pairs; gold comes last."""
    raters = list(dict.fromkeys([*rows["rater_a"], *rows["rater_b"]]))
    raters.sort(key=lambda rater: rater == GOLD)
    place = {rater: i for i, rater in enumerate(raters)}
    kappas_KK = np.full((len(raters), len(raters)), np.nan)
    for a, b, kappa in zip(rows["rater_a"], rows["rater_b"], rows["kappa"], strict=True):
        if kappa is not None:
            kappas_KK[place[a], place[b]] = kappas_KK[place[b], place[a]] = kappa
    return _Panel(condition, raters, kappas_KK)


def _draw_panels(panels: list[_Panel], title: str, marks: Mapping[str, str]) -> Canvas:
    most = max(len(panel.raters) for panel in panels)
    n_columns = 1 if len(panels) == 1 else 2 if len(panels) in (2, 4) else 3
    n_rows = ceil(len(panels) / n_columns)
    side = max(2.6, 0.3 * most if most > _MOST_NUMBERED else 0.62 * most)
    canvas = new_canvas(n_columns * side + 1.8, n_rows * side + 1.0)
    axes_RC = canvas.subplots(n_rows, n_columns, squeeze=False)
    for axes in axes_RC.flat[len(panels) :]:
        axes.set_visible(False)
    longest = _LONGEST_OF_MANY if most > _MOST_NUMBERED else _LONGEST_RATER
    # Names stand alike in all panels, so that the panels stay of one size.
    names = {
        drawable(marks.get(rater, rater), longest) for panel in panels for rater in panel.raters
    }
    is_upright = most * max(map(len, names)) > _MOST_LETTERS
    drawn = [
        _draw_panel(axes, panel, marks, is_upright=is_upright)
        for axes, panel in zip(axes_RC.flat, panels, strict=False)
    ]
    bar = canvas.colorbar(drawn[0], ax=axes_RC, shrink=0.8, aspect=28, pad=0.02)
    bar.set_label("κ")
    least = min(float(np.nanmin(panel.kappas_KK, initial=0)) for panel in panels)
    bar.ax.set_ylim(floor(4 * least) / 4, 1)
    bar.outline.set_visible(False)
    canvas.suptitle(title, x=0.01, ha="left", fontsize=11.5, fontweight="bold")
    return canvas


def _draw_panel(
    axes: Axes, panel: _Panel, marks: Mapping[str, str], *, is_upright: bool
) -> QuadMesh:
    n = len(panel.raters)
    is_small = n > _MOST_NUMBERED
    cells = axes.pcolormesh(
        np.arange(n), np.arange(n), panel.kappas_KK, cmap=_colours(), vmin=-1, vmax=1,
        edgecolors="white", linewidth=0.5 if is_small else 1.5,
    )  # fmt: skip
    axes.set_aspect("equal")
    axes.invert_yaxis()
    longest = _LONGEST_OF_MANY if len(panel.raters) > _MOST_NUMBERED else _LONGEST_RATER
    names = [drawable(marks.get(rater, rater), longest) for rater in panel.raters]
    size = 6.5 if is_small else 8.5
    axes.set_xticks(range(n), names, rotation=90 if is_upright else 0, fontsize=size)
    axes.set_yticks(range(n), names, fontsize=size)
    axes.tick_params(length=0)
    axes.spines[:].set_color(FAINT)
    axes.set_title(drawable(panel.condition, _LONGEST_RATER), loc="left", fontsize=9.5)
    for i, k in np.argwhere(~np.eye(n, dtype=bool)):
        _write_cell(axes, int(i), int(k), float(panel.kappas_KK[i, k]), is_numbered=not is_small)
    return cells


def _write_cell(axes: Axes, row: int, column: int, kappa: float, *, is_numbered: bool) -> None:
    """Write a cell's κ where there is room, and the sign of undefined ones everywhere."""
    if np.isnan(kappa):
        text, colour = UNDEFINED, QUIET
    elif is_numbered:
        text, colour = round_half_up(kappa, 2), "white" if abs(kappa) > _DARK else INK
    else:
        return
    axes.text(
        column, row, text, ha="center", va="center", color=colour,
        fontsize=8.5 if is_numbered else 6,
    )  # fmt: skip


def _colours() -> Colormap:
    """Return orange below 0, white at 0, blue above: apart for the colour-blind, and in print."""
    from matplotlib.colors import LinearSegmentedColormap

    orange, blue = COLOURS[4:6]
    steps = [(0, "#8A3B00"), (0.25, orange), (0.5, "white"), (0.75, blue), (1, "#00335C")]
    return LinearSegmentedColormap.from_list("kappa", steps).with_extremes(bad=FAINT)
