"""The F1 of every detector run, by model and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragmend.analysis.figures.style import (
    COLOURS,
    INK,
    QUIET,
    Figure,
    clear_frame,
    draw_figure,
    drawable,
    new_canvas,
    set_title,
)
from ragmend.analysis.inputs.runs import DetectorRun, by_model
from ragmend.analysis.printing.table import Table, round_half_up
from ragmend.analysis.study import Study
from ragmend.analysis.tables.seed_tables import are_excluded_by_health, mean, unscored_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_LONGEST_MODEL, _LONGEST_SEED = 18, 16  # characters
_GAP = 1.1  # rows left empty between two models
_DASHES = (0, (3, 2))


def seed_f1_figure(study: Study, tables: Mapping[str, Table]) -> Figure:
    """Draw the F1 of every run, those unusable hollow, with each model's two means.

    Args:
        study: Its runs.
        tables: The finished tables; none is read, for the runs are shown one by one.
    """
    del tables
    runs = study.runs
    title = "Detector runs: F1 by model and seed"
    why = "excluded as unusable after their outcome was seen"
    if are_excluded_by_health(runs):
        why = "unusable by the verdict on their training"
    caption = (
        f"F1 over responses, in percent. Hollow: runs {why}. Lines: mean of the usable runs "
        "(solid) and of all runs (dashed)."
    )
    if any(run.is_population for run in runs):
        caption += " Bold: the run whose flags are the population."
    if study.unscored:
        caption += f" Not drawn, {unscored_note(study.unscored)}."
    return draw_figure(study.settings, title, caption, lambda: _draw(runs, title))


def _draw(runs: Sequence[DetectorRun], title: str) -> Canvas:
    models = list(by_model(runs))
    canvas = new_canvas(7.2, 1.5 + 0.24 * (len(runs) + _GAP * len(models)))
    axes = canvas.add_subplot()
    top, places, names = 0.0, [], []
    for m, (model, own) in enumerate(models):
        rows = [top + i for i in range(len(own))]
        _draw_model(axes, own, rows, COLOURS[m % len(COLOURS)])
        axes.annotate(
            drawable(model, _LONGEST_MODEL), (0, top - 0.75),
            xycoords=axes.get_yaxis_transform(), xytext=(-6, 0),
            textcoords="offset points", ha="right", va="center", fontweight="bold",
            color=COLOURS[m % len(COLOURS)],
        )  # fmt: skip
        places += rows
        names += [f"seed {drawable(run.seed, _LONGEST_SEED)}" for run in own]
        top = rows[-1] + 1 + _GAP
    axes.set_yticks(places, names)
    for label, run in zip(axes.get_yticklabels(), runs, strict=True):
        label.set_fontweight("bold" if run.is_population else "normal")
    _dress(axes, bottom=top - _GAP - 0.4, title=title)
    return canvas


def _draw_model(axes: Axes, own: Sequence[DetectorRun], rows: Sequence[float], colour: str) -> None:
    ends = (rows[0] - 0.4, rows[-1] + 0.4)
    usable = [run.f1 for run in own if run.usable]
    for scores, dashes in ((usable, "-"), ([run.f1 for run in own], _DASHES)):
        middle = mean(scores)
        if middle is not None:
            axes.vlines(
                float(middle), *ends, color=colour, linewidth=1.2, linestyle=dashes, alpha=0.7,
                zorder=2,
            )  # fmt: skip
    for run, row in zip(own, rows, strict=True):
        axes.plot(
            [float(run.f1)], [row], marker="o", markersize=6.5, markeredgewidth=1.4, zorder=3,
            color=colour if run.usable else "white", markeredgecolor=colour, linestyle="none",
        )  # fmt: skip
        axes.annotate(
            round_half_up(run.f1, 1), (1, row), xycoords=axes.get_yaxis_transform(),
            xytext=(32, 0), textcoords="offset points", ha="right", va="center_baseline",
            fontsize=8.5,
            color=INK if run.usable else QUIET,
            fontweight="bold" if run.is_population else "normal",
        )  # fmt: skip


def _dress(axes: Axes, *, bottom: float, title: str) -> None:
    from matplotlib.lines import Line2D

    axes.set_xlim(-1.5, 101.5)
    axes.set_ylim(bottom, -1.2)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("F1 (%)", labelpad=6)
    clear_frame(axes, grid="x")
    set_title(axes, title, pad=30)
    axes.legend(
        handles=[
            Line2D([], [], label="usable run", **_dot(QUIET)),
            Line2D([], [], label="unusable run", **_dot("white")),
            Line2D([], [], color=QUIET, label="mean, usable runs"),
            Line2D([], [], color=QUIET, linestyle=_DASHES, label="mean, all runs"),
        ],
        loc="lower left", bbox_to_anchor=(-0.012, 1.0), ncols=4, frameon=False, fontsize=8.5,
        handlelength=1.6, columnspacing=1.4, borderaxespad=0.2,
    )  # fmt: skip


def _dot(fill: str) -> dict[str, Any]:
    return {
        "marker": "o", "linestyle": "none", "color": fill,
        "markeredgecolor": QUIET, "markeredgewidth": 1.4,
    }  # fmt: skip
