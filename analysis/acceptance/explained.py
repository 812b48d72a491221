"""The published numbers that no data can give, each with the reason in our own values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from ragmend.analysis.acceptance.readings import reduction_ratios
from ragmend.analysis.printing.table import Table, round_half_up


def explain(tables: Mapping[str, Table], number_id: str, *, published: str) -> str | None:
    """Return why a published number cannot come out; None where nothing excuses it.

    An excuse holds for one printed string, and only where our own values bear it.

    Args:
        tables: The tables of an analysis; the number's own is there.
        number_id: The number's id.
        published: The published string.
    """
    excuse = _EXCUSES.get((number_id, published))
    return None if excuse is None else excuse(tables, published)


def _difference_of_printed_rates(tables: Mapping[str, Table], published: str) -> str | None:
    """Excuse a difference taken between rates that were rounded first."""
    frame = tables["contrasts"].frame
    is_it = (frame["judge"] == "qwen") & (frame["contrast"] == "extractive-generative")
    row = frame[is_it].iloc[0]
    rate_a, rate_b = (round_half_up(100 * row[name], 2) for name in ("rate_a", "rate_b"))
    if round_half_up(abs(Fraction(rate_b) - Fraction(rate_a)), 2) != published:
        return None
    exact = round_half_up(abs(row["diff_pp"]), 4)
    return (
        f"{abs(row['c'] - row['b'])} of {row['n']} answers are {exact} points; {published} is "
        f"the difference of the rounded rates, {rate_b} − {rate_a}"
    )


def _one_of_several_ratios(tables: Mapping[str, Table], published: str) -> str | None:
    """Excuse a factor that is given as one number and holds in some arms only."""
    ratios = reduction_ratios(tables)
    if ratios is None:
        return None
    fitting = [arm for arm, ratio in ratios.items() if round_half_up(ratio, 0) == "9"]
    if not fitting:
        return None
    where = "every arm" if len(fitting) == len(ratios) else f"{', '.join(fitting)} only"
    each = ", ".join(f"{arm} {round_half_up(ratio, 1)}" for arm, ratio in ratios.items())
    return f"Qwen's reductions over Gemma's: {each}; {published} holds for {where}"


_EXCUSES: dict[tuple[str, str], Callable[[Mapping[str, Table], str], str | None]] = {
    ("contrast.qwen.ext-gen.diff", "3.27"): _difference_of_printed_rates,
    ("rel.factor", "approximately nine"): _one_of_several_ratios,
}
