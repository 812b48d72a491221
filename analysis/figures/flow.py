"""The flow of a run in boxes: from responses to records, claims, arms and labels (Fig. 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.figures.flow_counts import (
    ArmFlow,
    Claims,
    Judging,
    arm_counts,
    claim_counts,
    judging_counts,
    population_counts,
)
from ragmend.analysis.figures.style import (
    COLOURS,
    INK,
    QUIET,
    Figure,
    draw_figure,
    drawable,
    heuristic_footnote,
    new_canvas,
    set_footnote,
    set_title,
)
from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_TITLE = "What became of the answers and their claims"
# Inches; the axes are drawn to this measure.
_LONGEST_ARM = 18  # characters
_WIDTH, _GAP, _RAIL = 7.0, 0.3, 0.42
_LOW, _TALL = 0.72, 1.5
_FATE_COLOURS = {
    "unchanged": "#A9BCCB",
    "substituted": COLOURS[4],
    "rewritten": COLOURS[2],
    "dropped": COLOURS[1],
}


class Box(NamedTuple):
    """A count in the flow, and what it counts; an arm's box shows its claims instead."""

    number: str
    label: str
    arm: ArmFlow | None = None


class _Placed(NamedTuple):
    """A box on the canvas, in inches from the lower left."""

    box: Box
    left: float
    top: float
    width: float
    height: float

    @property
    def centre(self) -> float:
        """The middle from left to right."""
        return self.left + self.width / 2


def flow_figure(study: Study, tables: Mapping[str, Table]) -> Figure | None:
    """Draw this study's counts as a flow of boxes, what is not known left out.

    Args:
        study: The threshold, and its claims, if no table counts them.
        tables: The finished tables; those of `flow_counts` are what is drawn.

    Returns:
        None where neither selection nor claims nor arms are known.
    """
    claims = claim_counts(study, tables)
    if claims is None and "selection" not in tables:
        return None
    rows = _rows(claims, tables, f"{study.provenance.threshold:g}")
    caption = (
        f"Claims with P(support) below {study.provenance.threshold:g} are eligible for repair; "
        "each arm deals with them in its own way and keeps all others as they are. Every count "
        "is of this input."
    )
    footnote = heuristic_footnote(study.provenance) if "table5_judged" in tables else ""
    return draw_figure(study.settings, _TITLE, caption, lambda: _draw(rows, footnote))


def _rows(claims: Claims | None, tables: Mapping[str, Table], threshold: str) -> list[list[Box]]:
    """Return the boxes row by row; the first row is a chain, and each row leads to the next."""
    population, judging = population_counts(tables), judging_counts(tables)
    chain = [
        (population.responses, "responses"),
        (population.flagged, "flagged"),
        (population.records, "answers to repair"),
        (None if claims is None else claims.claims, "claims"),
    ]
    rows = [[Box(f"{count:,}", label) for count, label in chain if count is not None]]
    if claims is not None:
        eligible = Box(f"{claims.eligible:,}", f"eligible: P(support) < {threshold}")
        rows.append([eligible, Box(f"{claims.claims - claims.eligible:,}", "not eligible, kept")])
    rows.append([Box("", arm.arm, arm) for arm in arm_counts(tables)])
    if judging is not None:
        rows.append([_judging_box(judging)])
    return [row for row in rows if row]


def _judging_box(judging: Judging) -> Box:
    answers = judging.labels // (judging.judges * judging.conditions)
    parts = [(judging.judges, "judge"), (judging.conditions, "condition"), (answers, "answer")]
    label = " × ".join(f"{n:,} {word}{'s' if n != 1 else ''}" for n, word in parts)
    return Box(f"{judging.labels:,}", f"labels: {label}")


def _draw(rows: Sequence[Sequence[Box]], footnote: str) -> Canvas:
    placed = _layout(rows)
    height = placed[0][0].top
    canvas = new_canvas(_WIDTH + 0.2, height + (0.7 if footnote else 0.5))
    axes = canvas.add_subplot()
    axes.set(xlim=(-0.02, _WIDTH + 0.02), ylim=(-0.02, height + 0.02))
    axes.axis("off")
    for own in (own for row in placed for own in row):
        _draw_box(axes, own)
    chain = placed[0]
    for one, other in pairwise(chain):
        middle = one.top - one.height / 2
        _arrow(axes, (one.left + one.width, middle), (other.left, middle))
    for above, below in pairwise([chain[-1:], *placed[1:]]):
        _join(axes, above, below)
    set_title(axes, _TITLE)
    set_footnote(canvas, footnote)
    return canvas


def _layout(rows: Sequence[Sequence[Box]]) -> list[list[_Placed]]:
    """Place the rows under one another, from the bottom, each over the whole width."""
    placed: list[list[_Placed]] = []
    top = 0.0
    for row in reversed(rows):
        height = _LOW if row[0].arm is None else _TALL
        top += height + (_RAIL if placed else 0)
        width = (_WIDTH - _GAP * (len(row) - 1)) / len(row)
        placed.append(
            [_Placed(box, i * (width + _GAP), top, width, height) for i, box in enumerate(row)]
        )
    return placed[::-1]


def _join(axes: Axes, above: Sequence[_Placed], below: Sequence[_Placed]) -> None:
    """Lead from every box above to every box below, over a rail between them."""
    top, bottom = above[0].top - above[0].height, below[0].top
    rail = (top + bottom) / 2
    line: dict[str, Any] = {"color": QUIET, "linewidth": 1}
    for own in above:
        axes.vlines(own.centre, rail, top, **line)
    centres = [own.centre for own in (*above, *below)]
    axes.hlines(rail, min(centres), max(centres), **line)
    for own in below:
        _arrow(axes, (own.centre, rail), (own.centre, bottom))


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(
        "", end, start,
        arrowprops={"arrowstyle": "-|>", "color": QUIET, "linewidth": 1, "shrinkA": 0,
                    "shrinkB": 0, "mutation_scale": 9},
    )  # fmt: skip


def _draw_box(axes: Axes, own: _Placed) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (own.left, own.top - own.height), own.width, own.height,
            boxstyle="round,pad=0,rounding_size=0.08", facecolor="white", edgecolor=QUIET,
            linewidth=0.8, zorder=2,
        )
    )  # fmt: skip
    if own.box.arm is not None:
        _draw_arm(axes, own, own.box.arm)
        return
    text: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 3}
    axes.text(own.centre, own.top - 0.27, own.box.number, fontsize=13, weight="bold", **text)
    axes.text(own.centre, own.top - 0.53, own.box.label, fontsize=8.5, color=QUIET, **text)


def _draw_arm(axes: Axes, own: _Placed, arm: ArmFlow) -> None:
    """Write an arm's counts under a bar of their shares."""
    left, right = own.left + 0.14, own.left + own.width - 0.14
    axes.text(
        left, own.top - 0.22, drawable(arm.arm, _LONGEST_ARM), weight="bold", va="center", zorder=3
    )
    counts = {fate: int(getattr(arm, fate)) for fate in _FATE_COLOURS}
    scale = (right - left) / max(1, sum(counts.values()))
    start, line = left, own.top - 0.66
    for fate, count in counts.items():
        colour = _FATE_COLOURS[fate]
        axes.barh(own.top - 0.43, count * scale, 0.1, start, color=colour, zorder=3)
        axes.plot(left + 0.05, line + 0.008, marker="s", markersize=5, color=colour, zorder=3)
        ink = INK if count else QUIET
        text: dict[str, Any] = {"va": "center", "fontsize": 8.5, "color": ink, "zorder": 3}
        axes.text(left + 0.17, line, fate, **text)
        axes.text(right, line, f"{count:,}", ha="right", **text)
        start, line = start + count * scale, line - 0.21
