"""One measured figure, and the plain table of all of them."""

import gc
import json
from collections.abc import Callable, Sequence
from time import process_time
from typing import Literal, NamedTuple, TypeVar

Bound = Literal["at least", "at most"]
R = TypeVar("R")


class Figure(NamedTuple):
    """What was measured.

    Attributes:
        what: What it is a figure of.
        measured: None where nothing was; the table tells that too, so that no figure is missing
            silently.
        unit: Of `measured`.
        bound: Which side of the limit is good.
        limit: None where it is told for information only.
        reason: Why nothing was measured.
    """

    what: str
    measured: float | None
    unit: str = ""
    bound: Bound = "at least"
    limit: float | None = None
    reason: str = ""

    @property
    def verdict(self) -> Literal["ok", "short", "not measured", ""]:
        """Whether the limit was reached; a benchmark tells it and fails nothing."""
        if self.measured is None:
            return "not measured"
        if self.limit is None:
            return ""
        reached = (
            self.measured >= self.limit if self.bound == "at least" else self.measured <= self.limit
        )
        return "ok" if reached else "short"


def not_measured(
    what: str, reason: str, *, bound: Bound = "at least", limit: float | None = None
) -> Figure:
    """Return the figure of what cannot be measured here, and why."""
    return Figure(what, None, bound=bound, limit=limit, reason=reason)


def cpu_seconds(work: Callable[[], object], *, repeats: int = 1) -> float:
    """Return the least CPU time of so many runs.

    The garbage collector rests meanwhile, as in `timeit`: its time depends on what else lives.
    """
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = process_time()
        try:
            work()
        finally:
            seconds = process_time() - start
            gc.enable()
        best = min(best, seconds)
    return best


def as_text(figures: Sequence[Figure]) -> str:
    """Return the figures as aligned columns."""
    header = ("what", "measured", "must reach", "")
    rows = [header, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            (what.ljust(widths[0]), value.rjust(widths[1]), limit.ljust(widths[2]), verdict)
        ).rstrip()
        for what, value, limit, verdict in rows
    )


def as_json(figures: Sequence[Figure]) -> str:
    """Return the figures as a JSON list of objects."""
    return json.dumps([{**f._asdict(), "verdict": f.verdict} for f in figures], indent=2)


def _cells(figure: Figure) -> tuple[str, str, str, str]:
    limit = "" if figure.limit is None else f"{figure.bound} {_number(figure.limit)}"
    if figure.measured is None:
        return figure.what, figure.verdict, limit, figure.reason
    value = f"{_number(figure.measured)} {figure.unit}".rstrip()
    return figure.what, value, limit, figure.verdict


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
