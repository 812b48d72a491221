"""The verifier in figures: how it orders the claims, and how its P(support) is spread."""

from __future__ import annotations

from collections.abc import Mapping
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
from ragmend.analysis.printing.table import Table, round_half_up
from ragmend.analysis.study import Study
from ragmend.analysis.tables.verifier_claims import (
    by_task,
    gold_claims,
    has_both_kinds,
    verifier_claims,
)
from ragmend.analysis.tables.verifier_rows import ThresholdRow, threshold_row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

_SUPPORTED, _UNSUPPORTED, _ALL = COLOURS[0], COLOURS[1], QUIET
_PANELS_A_ROW = 3
_LONGEST_TASK = 14  # characters
_MIDDLE = 0.45  # words about points beyond it stand to their left


class _Point(NamedTuple):
    """The threshold in use, on the curves of all claims."""

    threshold: float
    recall: float
    false_positive_rate: float
    precision: float | None


def verifier_roc_figure(study: Study, tables: Mapping[str, Table]) -> Figure:
    """Draw ROC and precision-recall curves of 1 − P(support), pooled and by task.

    Args:
        study: Its claims; and the threshold in use, which is marked.
        tables: The finished tables; `verifier_by_task` has the areas.
    """
    parts = {
        task: gold_claims(part)
        for task, part in by_task(verifier_claims(study).evaluated)
        if has_both_kinds(part)
    }
    areas = dict(
        zip(*(tables["verifier_by_task"].frame[name] for name in ("task", "auc")), strict=True)
    )
    point = _point(parts["pooled"], study.provenance.threshold)
    title = "How well 1 − P(support) finds gold-unsupported claims"
    caption = (
        "Aligned claims with gold; left: receiver operating characteristic, right: precision and "
        f"recall. The dot is the threshold in use, P(support) < {point.threshold:g}, over all "
        "tasks. Dashed: an order by chance. Precision begins at the lowest P(support) that occurs."
    )
    return draw_figure(
        study.settings, title, caption, lambda: _draw_curves(parts, areas, point, title)
    )


def support_figure(study: Study, tables: Mapping[str, Table]) -> Figure:
    """Draw the cumulative distribution of P(support) in each task, by gold where it is known.

    Args:
        study: Its claims.
        tables: The finished tables; `verifier_by_task` has the eligible shares.
    """
    claims = dict(by_task(verifier_claims(study).evaluated))
    rows = tables["verifier_by_task"].frame
    eligible = dict(zip(rows["task"], rows["eligible_pct"], strict=True))
    threshold = study.provenance.threshold
    title = "P(support) of claims, by task"
    caption = (
        "Share of claims with at most this P(support). The vertical line is the threshold in use, "
        f"P(support) < {threshold:g}: what lies to its left is eligible for repair; the dot is "
        "the eligible share of all claims, aligned or not."
    )
    return draw_figure(
        study.settings, title, caption, lambda: _draw_spread(claims, eligible, threshold, title)
    )


def _point(pooled: pd.DataFrame, threshold: float) -> _Point:
    at: ThresholdRow = threshold_row(pooled, threshold)
    n_positive = at.tp + at.fn
    return _Point(
        threshold=threshold,
        recall=at.tp / n_positive,
        false_positive_rate=at.fp / (len(pooled) - n_positive),
        precision=None if at.precision is None else float(at.precision),
    )


def _draw_curves(
    parts: Mapping[str, pd.DataFrame], areas: Mapping[str, float], point: _Point, title: str
) -> Canvas:
    canvas = new_canvas(7.2, 4.3)
    roc, pr = canvas.subplots(1, 2)
    handles = []
    tasks = [task for task in parts if task != "pooled"]
    for task in (*tasks, "pooled"):
        colour = INK if task == "pooled" else COLOURS[tasks.index(task) % len(COLOURS)]
        label = f"{drawable(task)}, AUC {round_half_up(areas[task], 3)}"
        handles.append(_draw_curve(roc, pr, parts[task], colour, label, is_main=task == "pooled"))
    _draw_chance(roc, pr, parts["pooled"])
    _mark_point(roc, pr, point)
    _dress_square(roc, "false-positive rate", "recall")
    _dress_square(pr, "recall", "precision")
    _frame(canvas, title, [handles[-1], *handles[:-1]])
    return canvas


def _draw_curve(
    roc: Axes, pr: Axes, gold: pd.DataFrame, colour: str, label: str, *, is_main: bool
) -> Artist:
    from sklearn.metrics import precision_recall_curve, roc_curve

    positive, score = gold["gold_unsupported"], -gold["p_support"]
    false_positive_rate, recall, _ = roc_curve(positive, score)
    width, order = (2.2, 4.0) if is_main else (1.2, 3.0)
    (line,) = roc.plot(
        false_positive_rate, recall, color=colour, linewidth=width, zorder=order, label=label
    )
    precision, recall, _ = precision_recall_curve(positive, score, drop_intermediate=True)
    # The last point, precision 1 at recall 0, is a convention and no threshold's.
    pr.plot(recall[:-1], precision[:-1], color=colour, linewidth=width, zorder=order)
    return line


def _draw_chance(roc: Axes, pr: Axes, pooled: pd.DataFrame) -> None:
    share = float(pooled["gold_unsupported"].mean())
    for axes, ends in ((roc, (0.0, 1.0)), (pr, (share, share))):
        axes.plot((0, 1), ends, color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)


def _mark_point(roc: Axes, pr: Axes, point: _Point) -> None:
    words = f"P(support) < {point.threshold:g}"
    _mark(
        roc, point.false_positive_rate, point.recall, f"{words}\nrecall {point.recall:.3f}", 8, -8
    )
    if point.precision is not None:
        said = f"{words}\nprecision {point.precision:.3f}"
        _mark(pr, point.recall, point.precision, said, -8 if point.recall > _MIDDLE else 8, -8)


def _mark(axes: Axes, x: float, y: float, words: str, right: int, up: int) -> None:
    """Mark a point; its words stand so many points to the right and up, negative: left, down."""
    from matplotlib.patheffects import withStroke

    axes.plot(
        [x], [y], marker="o", markersize=7, color=INK, markeredgecolor="white",
        markeredgewidth=1.2, zorder=6,
    )  # fmt: skip
    axes.annotate(
        words, (x, y), xytext=(right, up), textcoords="offset points",
        ha="left" if right > 0 else "right", va="bottom" if up > 0 else "top",
        fontsize=8.5, color=INK, zorder=7,
    ).set_path_effects([withStroke(linewidth=3, foreground="white")])  # fmt: skip


def _draw_spread(
    claims: Mapping[str, pd.DataFrame],
    eligible: Mapping[str, float],
    threshold: float,
    title: str,
) -> Canvas:
    n_rows = -(-len(claims) // _PANELS_A_ROW) if len(claims) > 4 else 1
    n_columns = _PANELS_A_ROW if n_rows > 1 else len(claims)
    canvas = new_canvas(max(4.2, 2.35 * n_columns), 0.8 + 2.6 * n_rows)
    panels = canvas.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    handles: dict[str, Artist] = {}
    for axes, (task, part) in zip(panels, claims.items(), strict=False):
        handles |= _draw_panel(axes, part)
        _mark_eligible(axes, threshold, float(eligible[task]))
        _dress_square(axes, "P(support)", "")
        axes.set_title(
            f"{drawable(task, _LONGEST_TASK)} ({len(part):,} claims)", loc="left", fontsize=9.5
        )
    for axes in panels[len(claims) :]:
        axes.set_visible(False)
    for axes in panels[::n_columns]:
        axes.set_ylabel("share of claims at or below")
    _frame(canvas, title, list(handles.values()))
    return canvas


def _draw_panel(axes: Axes, part: pd.DataFrame) -> dict[str, Artist]:
    """Draw the groups that the claims have; return a line of each for the legend."""
    gold = gold_claims(part)
    groups = {
        "unsupported by gold": (gold[gold["gold_unsupported"] == 1], _UNSUPPORTED, 1.8),
        "supported by gold": (gold[gold["gold_unsupported"] == 0], _SUPPORTED, 1.8),
        "all claims": (part, _ALL, 1.1),
    }
    return {
        name: _draw_steps(axes, group["p_support"].to_numpy(), colour, width, name)
        for name, (group, colour, width) in groups.items()
        if len(group)
    }


def _draw_steps(
    axes: Axes, p: NDArray[np.float64], colour: str, width: float, label: str
) -> Artist:
    values, counts = np.unique(p, return_counts=True)
    share = np.cumsum(counts) / len(p)
    (line,) = axes.step(
        [0.0, *values, 1.0], [0.0, *share, 1.0], where="post", color=colour, linewidth=width,
        label=label, zorder=3,
    )  # fmt: skip
    return line


def _mark_eligible(axes: Axes, threshold: float, eligible_pct: float) -> None:
    side = -6 if threshold > _MIDDLE else 6
    axes.axvline(threshold, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)
    _mark(
        axes, threshold, eligible_pct / 100, f"{round_half_up(eligible_pct, 1)} % eligible", side, 6
    )


def _dress_square(axes: Axes, x_label: str, y_label: str) -> None:
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks(ticks, ["0", ".25", ".5", ".75", "1"])
    axes.set_yticks(ticks, ["0", ".25", ".5", ".75", "1"])
    axes.set_xlabel(x_label, labelpad=6)
    axes.set_ylabel(y_label)
    axes.grid(color=FAINT, linewidth=0.8, zorder=0)
    axes.tick_params(axis="both", length=0)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)


def _frame(canvas: Canvas, title: str, handles: list[Artist]) -> None:
    """Set the title above all panels and the legend below them, at the left edge."""
    canvas.suptitle(title, x=0.012, ha="left", fontsize=11.5, fontweight="bold")
    canvas.legend(
        handles=handles, loc="outside lower left", ncols=4, frameon=False, fontsize=8.5,
        handlelength=1.5, columnspacing=1.4, borderaxespad=0.3,
    )  # fmt: skip
