"""The trade-off: how much text an arm leaves against how far the judged rate falls."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragmend.analysis.figures.style import (
    COLOURS,
    MARKERS,
    QUIET,
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
from ragmend.analysis.printing.table import Table
from ragmend.analysis.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

_TITLE = "Text that is left against the fall of the judged rate"
_MOST_NAMED_TASKS = 12


class _Side(NamedTuple):
    offset: tuple[float, float]
    """In points."""
    ha: Literal["left", "center", "right"]
    va: Literal["bottom", "center", "top"]


_SIDES = (
    _Side((0, 4), "center", "bottom"),
    _Side((0, -4), "center", "top"),
    _Side((5, 0), "left", "center"),
    _Side((-5, 0), "right", "center"),
)


class Point(NamedTuple):
    """One arm on all answers: retained length in percent, fall of the rate in points."""

    arm: str
    length: float
    length_low: float
    length_high: float
    fall: float
    fall_low: float
    fall_high: float


class Name(NamedTuple):
    """A name on the canvas, and the data point it is written from on each of the `_SIDES`."""

    text: str
    colour: str
    anchors: Sequence[tuple[float, float]]
    size: float = 9.5
    must_stand: bool = False


class TaskPoint(NamedTuple):
    """One arm on the answers of one task."""

    arm: str
    task: str
    length: float
    fall: float


def tradeoff_figure(study: Study, tables: Mapping[str, Table]) -> Figure | None:
    """Draw each arm's retained length against the fall of the primary judge's rate.

    Args:
        study: Which judge is the primary one, and which condition the reference.
        tables: The finished tables: `table3_arms` and `contrasts`, and for single tasks
            `table6_tasks`, if there.

    Returns:
        None where no arm was judged, or no condition is the untouched answers.
    """
    points = _points(study, tables)
    if not points:
        return None
    settings, reference = study.settings, study.design.reference
    contrasts = tables["contrasts"]
    judge = contrasts.marks.get(study.primary_judge, study.primary_judge)
    caption = (
        "Each arm: mean length of the repaired answers, against how far the rate of answers that "
        f"{judge}, the primary judge, calls hallucinated falls below that of "
        f"{reference}. Bars: {100 * settings.confidence:g} % percentile bootstrap intervals over "
        f"answers ({settings.n_resamples} resamples, seed {settings.seed}); small: single tasks."
    )
    if judge != study.primary_judge:
        caption += f" {next(n for n in contrasts.notes if n.startswith(FAMILY_MARK))}."
    footnote, heuristic = "", heuristic_note(study.provenance)
    if heuristic is not None and study.provenance.is_heuristic(study.primary_judge):
        caption += f" {heuristic[0].upper()}{heuristic[1:]}."
        footnote = heuristic_footnote(study.provenance)
    of_tasks = _task_points(tables.get("table6_tasks"), {point.arm for point in points})
    return draw_figure(
        study.settings,
        _TITLE,
        caption,
        lambda: _draw(points, of_tasks, str(reference), judge, footnote),
    )


def _points(study: Study, tables: Mapping[str, Table]) -> list[Point]:
    reference = study.design.reference
    rows = tables["contrasts"].frame.to_dict("records")
    contrast_of = {row["contrast"]: row for row in rows if row["judge"] == study.primary_judge}
    points = []
    for arm in tables["table3_arms"].frame.to_dict("records"):
        # A family as given may hold a contrast either way round.
        for name, sign in ((f"{reference}-{arm['arm']}", -1), (f"{arm['arm']}-{reference}", 1)):
            if name in contrast_of:
                points.append(_point(arm, contrast_of[name], sign))
    return points


def _point(arm: Mapping[Hashable, Any], contrast: Mapping[Hashable, Any], sign: int) -> Point:
    low, high = sorted(sign * float(contrast[end]) for end in ("ci_low", "ci_high"))
    return Point(
        arm=arm["arm"],
        length=arm["retention_pct"],
        length_low=arm["retention_low"],
        length_high=arm["retention_high"],
        fall=sign * float(contrast["diff_pp"]),
        fall_low=low,
        fall_high=high,
    )


def _task_points(table: Table | None, arms: set[str]) -> list[TaskPoint]:
    if table is None:
        return []
    return [
        TaskPoint(row["condition"], row["task"], row["retention_pct"], -float(row["diff_pp"]))
        for row in table.frame.to_dict("records")
        if row["task"] != "all" and row["condition"] in arms
    ]


def _draw(
    points: Sequence[Point],
    of_tasks: Sequence[TaskPoint],
    reference: str,
    judge: str,
    footnote: str,
) -> Canvas:
    canvas = new_canvas(7.2, 4.6)
    axes = canvas.add_subplot()
    colour_of = {point.arm: COLOURS[i % len(COLOURS)] for i, point in enumerate(points)}
    axes.plot(100, 0, marker="o", markersize=6, color="white", markeredgecolor=QUIET, zorder=3)
    for point, marker in zip(points, MARKERS * len(points), strict=False):
        _draw_point(axes, point, colour_of[point.arm], marker)
    for own in of_tasks:
        axes.plot(
            own.length, own.fall, marker="o", markersize=3.5, linestyle="none",
            color=colour_of[own.arm], alpha=0.5, markeredgewidth=0, zorder=2,
        )  # fmt: skip
    axes.set_xlabel("text left (% of the original's characters, mean over answers)", labelpad=6)
    axes.set_ylabel(f"fall of the judged rate (points, {drawable(judge)})")
    axes.margins(0.12)
    clear_frame(axes, grid="both")
    set_title(axes, _TITLE)
    set_footnote(canvas, footnote)
    _name_points(canvas, axes, points, of_tasks, reference, colour_of)
    return canvas


def _draw_point(axes: Axes, point: Point, colour: str, marker: str) -> None:
    bars: dict[str, Any] = {"color": colour, "linewidth": 5, "alpha": 0.35, "zorder": 2}
    axes.hlines(point.fall, point.length_low, point.length_high, **bars)
    axes.vlines(point.length, point.fall_low, point.fall_high, **bars)
    axes.plot(
        point.length, point.fall, marker=marker, markersize=8, linestyle="none", color=colour,
        markeredgecolor="white", markeredgewidth=0.8, zorder=4,
    )  # fmt: skip


def _name_points(
    canvas: Canvas,
    axes: Axes,
    points: Sequence[Point],
    of_tasks: Sequence[TaskPoint],
    reference: str,
    colour_of: Mapping[str, str],
) -> None:
    """Write each name where it covers nothing; a task's name that finds no place is left out."""
    canvas.draw_without_rendering()  # so that places on the canvas are known
    taken = [
        *(box for p in points for box in _bars_of(axes, p)),
        *(_box(axes, (own.length, own.fall), (own.length, own.fall)) for own in of_tasks),
        _box(axes, (100, 0), (100, 0)),
    ]
    for p in points:
        top, bottom = (p.length, p.fall_high), (p.length, p.fall_low)
        right, left = (p.length_high, p.fall), (p.length_low, p.fall)
        name = Name(p.arm, colour_of[p.arm], (top, bottom, right, left), must_stand=True)
        _write(axes, name, taken)
    _write(axes, Name(reference, QUIET, ((100, 0),) * 4, must_stand=True), taken)
    if len(of_tasks) <= _MOST_NAMED_TASKS:
        for own in of_tasks:
            anchors = ((own.length, own.fall),) * 4
            _write(axes, Name(own.task, colour_of[own.arm], anchors, size=7), taken)


def _write(axes: Axes, name: Name, taken: list[Bbox]) -> None:
    """Write a name above, below, right or left of its point, where first it is free."""
    found = [_annotate(axes, name, place) for place in range(len(_SIDES))]
    boxes = [text.get_window_extent() for text in found]
    free = [
        i
        for i, box in enumerate(boxes)
        if axes.bbox.containsx(box.x0)
        and axes.bbox.containsx(box.x1)
        and not box.count_overlaps(taken)
    ]
    chosen = next(iter(free), 0 if name.must_stand else None)
    for i, text in enumerate(found):
        if i == chosen:
            taken.append(boxes[i].padded(4))
        else:
            text.remove()


def _annotate(axes: Axes, name: Name, place: int) -> Annotation:
    from matplotlib.patheffects import withStroke

    side = _SIDES[place]
    text = axes.annotate(
        drawable(name.text), name.anchors[place], xytext=side.offset, textcoords="offset points",
        ha=side.ha, va=side.va, fontsize=name.size, color=name.colour, zorder=5,
    )  # fmt: skip
    text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    text.set_in_layout(False)  # nor may a name move the axes
    return text


def _bars_of(axes: Axes, point: Point) -> Iterator[Bbox]:
    yield _box(axes, (point.length_low, point.fall), (point.length_high, point.fall))
    yield _box(axes, (point.length, point.fall_low), (point.length, point.fall_high))


def _box(axes: Axes, low: tuple[float, float], high: tuple[float, float]) -> Bbox:
    """Return the box between two points on the canvas, a little wider."""
    from matplotlib.transforms import Bbox

    return Bbox(axes.transData.transform([low, high])).padded(3)
