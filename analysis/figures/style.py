"""How every figure looks and becomes bytes: SVG, PDF and PNG, the same from the same numbers.

Drawn on `Figure` objects, never through pyplot, so that no global figure state exists.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.settings import Provenance, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# Okabe and Ito's palette, told apart by colour-blind readers; shapes say the same again.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "D", "^", "v", "P")
INK, QUIET, FAINT = "#222222", "#666666", "#E2E2E2"
HEURISTIC_FOOTNOTE = (
    "Heuristic judges, no language model: a lower rate does not show a better answer."
)
_FONT = "DejaVu Sans"
_LONGEST_FOOTNOTE = 200  # characters
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "ragmend",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a judge's name is data, not markup
    "font.family": _FONT,
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "xtick.color": INK,
    "ytick.color": INK,
}
# Dates and program names would make equal figures differ.
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


class Figure(NamedTuple):
    """A finished figure: bytes by format (`svg`, perhaps `pdf`, `png`), and its caption."""

    title: str
    caption: str
    images: dict[str, bytes]


def heuristic_footnote(provenance: Provenance) -> str:
    """Return what a drawing says of heuristic judges; empty where none is."""
    if provenance.embedded_judges:
        return HEURISTIC_FOOTNOTE
    names = provenance.heuristic_judges
    if not names:
        return ""
    return (
        f"Heuristic, no language model: {', '.join(map(drawable, names))}. A lower rate by "
        f"{'it' if len(names) == 1 else 'them'} does not show a better answer."
    )


def draw_figure(settings: Settings, title: str, caption: str, draw: Callable[[], Canvas]) -> Figure:
    """Call the drawing function in the house style and render what it returns.

    Args:
        settings: Which formats besides SVG.
        title: Title of the figure.
        caption: What it shows, in a sentence or two.
        draw: Returns the finished canvas; called once.
    """
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        canvas = draw()
        images = {form: _render(canvas, form) for form in ("svg", *settings.figure_formats)}
    return Figure(title, caption, images)


def drawable(name: str, longest: int = 28) -> str:
    """Return a name as it may stand in a figure: cut in the middle, □ for what the font lacks."""
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont(_FONT))
    tail = (longest - 1) // 2
    is_long = len(name) > longest
    shown = f"{name[: longest - 1 - tail]}…{name[len(name) - tail :]}" if is_long else name
    return "".join(
        sign if sign.isprintable() and font.get_char_index(ord(sign)) else "□" for sign in shown
    )


def new_canvas(width: float = 7.2, height: float = 4.2) -> Canvas:
    """Return an empty canvas of so many inches, laid out by constraints."""
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(width, height), layout="constrained")


def set_title(axes: Axes, title: str, *, pad: float = 10) -> None:
    """Set the title over the left edge of the axes."""
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", pad=pad)


def set_footnote(canvas: Canvas, text: str) -> None:
    """Write a quiet line under the canvas; an empty text writes none."""
    if text:
        canvas.supxlabel(
            drawable(text, _LONGEST_FOOTNOTE), x=0.01, ha="left", fontsize=8, color=QUIET
        )


def clear_frame(axes: Axes, *, grid: str = "y") -> None:
    """Take ticks and frame away, all but the lower edge; draw a faint grid along one axis."""
    axes.grid(axis=grid, color=FAINT, linewidth=0.8, zorder=0)  # type: ignore[arg-type]
    axes.tick_params(axis="both", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def figure_files(figures: Mapping[str, Figure]) -> dict[str, bytes]:
    """Return `figures/<name>.<format>` of every figure."""
    return {
        f"figures/{name}.{form}": image
        for name, figure in figures.items()
        for form, image in figure.images.items()
    }


def _render(canvas: Canvas, form: str) -> bytes:
    buffer = io.BytesIO()
    metadata: dict[str, Any] = dict(_METADATA[form])
    canvas.savefig(buffer, format=form, dpi=200, facecolor="white", metadata=metadata)
    return buffer.getvalue()
