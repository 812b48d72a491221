"""The judged rates by judge and condition (Fig. 2 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragmend.analysis.figures.many_rates import draw_many_rates
from ragmend.analysis.figures.style import (
    COLOURS,
    MARKERS,
    Figure,
    clear_frame,
    draw_figure,
    drawable,
    heuristic_footnote,
    new_canvas,
    set_footnote,
    set_title,
)
from ragmend.analysis.printing.notes import FAMILY_MARK, heuristic_note
from ragmend.analysis.printing.table import Table, round_half_up
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_MOST_NUMBERED_JUDGES = 4
_MOST_JUDGES_ABREAST = 10
_MOST_CONDITIONS_ABREAST = 8
# Characters.
_LONGEST_JUDGE, _LONGEST_LEGEND, _LONGEST_CONDITION = 26, 56, 16


def judged_rates_figure(study: Study, tables: Mapping[str, Table]) -> Figure:
    """Draw each judge's rate in each condition, with its interval.

    Args:
        study: Where the numbers come from, for the caption.
        tables: The finished tables; the frame of `table5_judged` is what is drawn.
    """
    judged = tables["table5_judged"]
    heuristic = heuristic_note(study.provenance)
    conditions = judged.frame["condition"].unique()
    title = "Answers judged hallucinated, by condition and judge"
    if len(conditions) == 1:
        title = f"Answers judged hallucinated, by judge ({drawable(conditions[0])})"
    caption = "Share of answers in which the judge found at least one unsupported span; bars: "
    caption += next(note for note in judged.notes if note.startswith("interval: "))[10:] + "."
    if _is_crowded(judged):
        caption += " The numbers are in the table."
    for note in judged.notes:
        if note.startswith(FAMILY_MARK):
            caption += f" {note}."
    if heuristic is not None:
        caption += f" {heuristic[0].upper()}{heuristic[1:]}."
    footnote = heuristic_footnote(study.provenance)
    has_rows = (
        judged.frame["judge"].nunique() > _MOST_JUDGES_ABREAST
        or len(conditions) > _MOST_CONDITIONS_ABREAST
    )
    draw = draw_many_rates if has_rows else _draw_rates
    return draw_figure(study.settings, title, caption, lambda: draw(judged, title, footnote))


def _is_crowded(judged: Table) -> bool:
    """Tell whether there are too many judges for numbers beside the dots."""
    return judged.frame["judge"].nunique() > _MOST_NUMBERED_JUDGES


def _draw_rates(judged: Table, title: str, footnote: str) -> Canvas:
    frame, is_crowded = judged.frame, _is_crowded(judged)
    judges = list(dict.fromkeys(frame["judge"]))
    conditions = list(dict.fromkeys(frame["condition"]))
    names = {judge: drawable(judged.marks.get(judge, judge), _LONGEST_JUDGE) for judge in judges}
    # Beside the axes where the names are too many or too long for one line above them.
    is_beside = is_crowded or sum(map(len, names.values())) > _LONGEST_LEGEND
    canvas = new_canvas(max(7.2, 1.4 * len(conditions)) + (2.2 if is_beside else 0), 4.2)
    axes = canvas.add_subplot()
    dots = [
        _draw_judge(axes, frame[frame["judge"] == judge], j, names, is_crowded=is_crowded)
        for j, judge in enumerate(judges)
    ]
    _dress(axes, conditions, int(frame["n"].iloc[0]))
    set_title(axes, title, pad=10 if is_beside else 30)
    _add_legend(axes, dots, is_beside=is_beside)
    set_footnote(canvas, footnote)
    return canvas


def _draw_judge(
    axes: Axes, rows: pd.DataFrame, judge: int, names: Mapping[str, str], *, is_crowded: bool
) -> Artist:
    """Draw one judge's dots, intervals and numbers; return the dots for the legend."""
    step = (0.8 if is_crowded else 0.66) / max(len(names), 3)
    x = [i + (judge - (len(names) - 1) / 2) * step for i in range(len(rows))]
    lows, highs = rows["rate_low"].astype(float), rows["rate_high"].astype(float)
    colour = COLOURS[judge % len(COLOURS)]
    # Shifted once a round, so that no two judges share both.
    marker = MARKERS[(judge + judge // len(COLOURS)) % len(MARKERS)]
    width, size = (2.5, 4) if is_crowded else (5, 6)
    axes.vlines(x, lows, highs, color=colour, linewidth=width, alpha=0.35, zorder=2)
    (dots,) = axes.plot(
        x, [float(rate) for rate in rows["rate_pct"]], linestyle="none", marker=marker,
        markersize=size, color=colour, markeredgecolor="white", markeredgewidth=0.1 * size,
        label=names[rows["judge"].iloc[0]], zorder=3,
    )  # fmt: skip
    if not is_crowded:
        _write_numbers(axes, x, rows, colour)
    return dots


def _write_numbers(axes: Axes, x: Sequence[float], rows: pd.DataFrame, colour: str) -> None:
    from matplotlib.patheffects import withStroke

    for place, rate, high in zip(x, rows["rate_pct"], rows["rate_high"], strict=True):
        number = axes.annotate(
            round_half_up(rate, 0), (place, high), xytext=(0, 5), textcoords="offset points",
            ha="center", va="bottom", fontsize=8.5, color=colour, zorder=4,
        )  # fmt: skip
        number.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _add_legend(axes: Axes, dots: Sequence[Artist], *, is_beside: bool) -> None:
    place: dict[str, Any] = (
        {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        if is_beside
        else {"loc": "lower left", "bbox_to_anchor": (-0.012, 1.0), "ncols": len(dots)}
    )
    axes.legend(
        handles=dots, frameon=False, handletextpad=0.2, columnspacing=1.4, borderaxespad=0.2,
        **place,
    )  # fmt: skip


def _dress(axes: Axes, conditions: list[str], n: int) -> None:
    axes.set_ylim(0, 108)
    axes.set_yticks(range(0, 101, 20))
    axes.set_xlim(-0.5, len(conditions) - 0.5)
    names = [drawable(condition, _LONGEST_CONDITION) for condition in conditions]
    axes.set_xticks(range(len(conditions)), names)
    axes.set_xlabel(f"condition (the same {n:,} answers in each)", labelpad=6)
    axes.set_ylabel("answers judged hallucinated (%)")
    clear_frame(axes)
