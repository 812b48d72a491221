"""How numbers stand in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ragmend.analysis.printing.table import print_p_value, round_half_up

MOST_NAMED = 8
"""More judges or conditions than these are counted in a sentence, not named."""


def points(value: float | Fraction) -> str:
    """Print a signed difference in percentage points, as in `−28.4`."""
    sign = "−" if value < 0 else "+"
    return f"{sign}{round_half_up(value if value >= 0 else -value, 1)}"


def percent(value: float | Fraction) -> str:
    """Print a percentage, as in `64.3 %`."""
    return f"{round_half_up(value, 1)} %"


def share(value: float | Fraction) -> str:
    """Print a proportion or coefficient with three decimals."""
    return round_half_up(value, 3).replace("-", "−")


def p_value(p: float, log10_p: float | None = None) -> str:
    """Print a p-value, as in `p = 0.004` or `p < 1e-300`."""
    is_tiny = log10_p is not None and log10_p < -300
    printed = "< 1e-300" if is_tiny else print_p_value(p)
    return f"p {printed}" if printed.startswith("<") else f"p = {printed}"


def listed(names: Sequence[Any]) -> str:
    """Join names as in `a, b and c`."""
    words = [str(name) for name in names]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(n: int, noun: str) -> str:
    """Print a count and its noun, as in `1 judge` and `3 judges`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
