"""The judged rates of many judges or conditions: a row for each, a colour for the fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragmend.analysis.figures.style import (
    COLOURS,
    FAINT,
    MARKERS,
    clear_frame,
    drawable,
    new_canvas,
    set_footnote,
    set_title,
)
from ragmend.analysis.printing.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_ROW_INCHES, _EDGE_INCHES = 0.24, 1.5
_LONGEST_NAME = 40  # characters
_ROWS_SPREAD = 0.6  # of the room between two rows


def draw_many_rates(judged: Table, title: str, footnote: str) -> Canvas:
    """Return a canvas as high as there are judges, or conditions where these are more.

    Args:
        judged: The table `table5_judged`.
        title: Title of the figure.
        footnote: A line below, or nothing.
    """
    frame = judged.frame.assign(
        judge=[judged.marks.get(judge, judge) for judge in judged.frame["judge"]]
    )
    in_rows, in_colours = "judge", "condition"
    if frame["condition"].nunique() > frame["judge"].nunique():
        in_rows, in_colours = in_colours, in_rows
    names, looks = (list(dict.fromkeys(frame[column])) for column in (in_rows, in_colours))
    canvas = new_canvas(7.2, _EDGE_INCHES + _ROW_INCHES * len(names))
    axes = canvas.add_subplot()
    dots = [
        _draw_series(axes, frame[frame[in_colours] == look], look, place, len(looks))
        for place, look in enumerate(looks)
    ]
    _dress(axes, names, int(frame["n"].iloc[0]))
    set_title(axes, title, pad=10 if len(looks) == 1 else 26)
    if len(looks) > 1:
        axes.legend(
            handles=dots, loc="lower left", bbox_to_anchor=(-0.012, 1.0), ncols=min(len(dots), 5),
            frameon=False, handletextpad=0.2, columnspacing=1.4, borderaxespad=0.2,
        )  # fmt: skip
    set_footnote(canvas, footnote)
    return canvas


def _draw_series(axes: Axes, rows: pd.DataFrame, look: str, place: int, n_looks: int) -> Artist:
    """Draw the dots and intervals of one colour, from top to bottom."""
    shift = _ROWS_SPREAD * ((place + 0.5) / n_looks - 0.5)
    y = [row + shift for row in range(len(rows))]
    lows, highs = rows["rate_low"].astype(float), rows["rate_high"].astype(float)
    colour = COLOURS[place % len(COLOURS)]
    axes.hlines(y, lows, highs, color=colour, linewidth=2.5, alpha=0.35, zorder=2)
    (dots,) = axes.plot(
        [float(rate) for rate in rows["rate_pct"]], y, linestyle="none",
        marker=MARKERS[place % len(MARKERS)], markersize=4, color=colour,
        markeredgecolor="white", markeredgewidth=0.4, label=drawable(look), zorder=3,
    )  # fmt: skip
    return dots


def _dress(axes: Axes, names: list[str], n: int) -> None:
    shown = [drawable(name, _LONGEST_NAME) for name in names]
    axes.set_yticks(range(len(names)), shown, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"answers judged hallucinated (%), of the same {n:,}", labelpad=6)
    clear_frame(axes, grid="x")
    axes.hlines(range(len(names)), 0, 100, color=FAINT, linewidth=0.5, zorder=0)
