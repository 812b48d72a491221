"""Figures as bytes: SVG, PDF and PNG, the same bytes from the same numbers.

Drawn on `Figure` objects, never through pyplot, so that no global figure state exists.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.printing.notes import HEURISTIC_JUDGES
from ragmend.analysis.printing.table import Table, round_half_up
from ragmend.analysis.settings import Provenance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# Okabe and Ito's palette, told apart by colour-blind readers; shapes say the same again.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "D", "^", "v", "P")
_INK, _QUIET, _FAINT = "#222222", "#666666", "#E2E2E2"
_FOOTNOTE = "Heuristic judges, no language model: a lower rate does not show a better answer."
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ragmend",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a judge's name is data, not markup
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _QUIET,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
# Dates and program names would make equal figures differ.
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


class Figure(NamedTuple):
    """A finished figure: bytes by format (`svg`, `pdf`, `png`), and its caption."""

    title: str
    caption: str
    images: dict[str, bytes]


def judged_rates_figure(judged: Table, provenance: Provenance) -> Figure:
    """Draw each judge's rate in each condition, with its interval.

    Args:
        judged: The table `table5_judged`; its frame is what is drawn.
        provenance: Where the numbers come from, for the caption.
    """
    import matplotlib as mpl

    title = "Answers judged hallucinated, by condition and judge"
    footnote = _FOOTNOTE if provenance.embedded_judges else ""
    with mpl.rc_context(_STYLE):
        canvas = _draw_rates(judged.frame, title, footnote)
        images = {form: _render(canvas, form) for form in _METADATA}
    caption = "Share of answers in which the judge found at least one unsupported span; bars: "
    caption += next(note for note in judged.notes if note.startswith("interval: "))[10:] + "."
    if provenance.embedded_judges:
        caption += f" {HEURISTIC_JUDGES[0].upper()}{HEURISTIC_JUDGES[1:]}."
    return Figure(title, caption, images)


def figure_files(figures: Mapping[str, Figure]) -> dict[str, bytes]:
    """Return `figures/<name>.<format>` of every figure."""
    return {
        f"figures/{name}.{form}": image
        for name, figure in figures.items()
        for form, image in figure.images.items()
    }


def _draw_rates(frame: pd.DataFrame, title: str, footnote: str) -> Canvas:
    from matplotlib.figure import Figure as Canvas

    judges = list(dict.fromkeys(frame["judge"]))
    conditions = list(dict.fromkeys(frame["condition"]))
    canvas = Canvas(figsize=(7.2, 4.2), layout="constrained")
    axes = canvas.add_subplot()
    dots = [
        _draw_judge(axes, frame[frame["judge"] == judge], j, len(judges))
        for j, judge in enumerate(judges)
    ]
    _dress(axes, conditions, int(frame["n"].iloc[0]))
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", pad=30)
    axes.legend(
        handles=dots, loc="lower left", bbox_to_anchor=(-0.012, 1.0), ncols=min(len(judges), 4),
        frameon=False, handletextpad=0.2, columnspacing=1.4, borderaxespad=0.2,
    )  # fmt: skip
    if footnote:
        canvas.supxlabel(footnote, x=0.01, ha="left", fontsize=8, color=_QUIET)
    return canvas


def _draw_judge(axes: Axes, rows: pd.DataFrame, judge: int, n_judges: int) -> Artist:
    """Draw one judge's dots, intervals and numbers; return the dots for the legend."""
    from matplotlib.patheffects import withStroke

    step = 0.66 / max(n_judges, 3)
    x = [i + (judge - (n_judges - 1) / 2) * step for i in range(len(rows))]
    rates = [float(rate) for rate in rows["rate_pct"]]
    lows, highs = rows["rate_low"].astype(float), rows["rate_high"].astype(float)
    colour, marker = _COLOURS[judge % len(_COLOURS)], _MARKERS[judge % len(_MARKERS)]
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
    axes.grid(axis="y", color=_FAINT, linewidth=0.8, zorder=0)
    axes.tick_params(axis="both", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _render(canvas: Canvas, form: str) -> bytes:
    buffer = io.BytesIO()
    metadata: dict[str, Any] = dict(_METADATA[form])
    canvas.savefig(buffer, format=form, dpi=200, facecolor="white", metadata=metadata)
    return buffer.getvalue()
