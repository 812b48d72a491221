"""The judged rates by judge and condition (Fig. 2 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragmend.analysis.figures.style import (
    COLOURS,
    HEURISTIC_FOOTNOTE,
    MARKERS,
    Figure,
    clear_frame,
    draw_figure,
    new_canvas,
    set_footnote,
    set_title,
)
from ragmend.analysis.printing.notes import HEURISTIC_JUDGES
from ragmend.analysis.printing.table import Table, round_half_up
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def judged_rates_figure(study: Study, tables: Mapping[str, Table]) -> Figure:
    """Draw each judge's rate in each condition, with its interval.

    Args:
        study: Where the numbers come from, for the caption.
        tables: The finished tables; the frame of `table5_judged` is what is drawn.
    """
    judged = tables["table5_judged"]
    is_heuristic = study.provenance.embedded_judges
    title = "Answers judged hallucinated, by condition and judge"
    caption = "Share of answers in which the judge found at least one unsupported span; bars: "
    caption += next(note for note in judged.notes if note.startswith("interval: "))[10:] + "."
    if is_heuristic:
        caption += f" {HEURISTIC_JUDGES[0].upper()}{HEURISTIC_JUDGES[1:]}."
    footnote = HEURISTIC_FOOTNOTE if is_heuristic else ""
    return draw_figure(title, caption, lambda: _draw_rates(judged.frame, title, footnote))


def _draw_rates(frame: pd.DataFrame, title: str, footnote: str) -> Canvas:
    judges = list(dict.fromkeys(frame["judge"]))
    conditions = list(dict.fromkeys(frame["condition"]))
    canvas = new_canvas()
    axes = canvas.add_subplot()
    dots = [
        _draw_judge(axes, frame[frame["judge"] == judge], j, len(judges))
        for j, judge in enumerate(judges)
    ]
    _dress(axes, conditions, int(frame["n"].iloc[0]))
    set_title(axes, title, pad=30)
    axes.legend(
        handles=dots, loc="lower left", bbox_to_anchor=(-0.012, 1.0), ncols=min(len(judges), 4),
        frameon=False, handletextpad=0.2, columnspacing=1.4, borderaxespad=0.2,
    )  # fmt: skip
    set_footnote(canvas, footnote)
    return canvas


def _draw_judge(axes: Axes, rows: pd.DataFrame, judge: int, n_judges: int) -> Artist:
    """Draw one judge's dots, intervals and numbers; return the dots for the legend."""
    from matplotlib.patheffects import withStroke

    step = 0.66 / max(n_judges, 3)
    x = [i + (judge - (n_judges - 1) / 2) * step for i in range(len(rows))]
    rates = [float(rate) for rate in rows["rate_pct"]]
    lows, highs = rows["rate_low"].astype(float), rows["rate_high"].astype(float)
    colour, marker = COLOURS[judge % len(COLOURS)], MARKERS[judge % len(MARKERS)]
    axes.vlines(x, lows, highs, color=colour, linewidth=5, alpha=0.35, zorder=2)
    (dots,) = axes.plot(
        x, rates, linestyle="none", marker=marker, markersize=6, color=colour,
        markeredgecolor="white", markeredgewidth=0.7, label=str(rows["judge"].iloc[0]), zorder=3,
    )  # fmt: skip
    for place, rate, high in zip(x, rates, highs, strict=True):
        number = axes.annotate(
            round_half_up(rate, 0), (place, high), xytext=(0, 5), textcoords="offset points",
            ha="center", va="bottom", fontsize=8.5, color=colour, zorder=4,
        )  # fmt: skip
        number.set_path_effects([withStroke(linewidth=3, foreground="white")])
    return dots


def _dress(axes: Axes, conditions: list[str], n: int) -> None:
    axes.set_ylim(0, 108)
    axes.set_yticks(range(0, 101, 20))
    axes.set_xlim(-0.5, len(conditions) - 0.5)
    axes.set_xticks(range(len(conditions)), conditions)
    axes.set_xlabel(f"condition (the same {n:,} answers in each)", labelpad=6)
    axes.set_ylabel("answers judged hallucinated (%)")
    clear_frame(axes)
