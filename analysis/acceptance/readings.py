"""Our values of published numbers, read from finished tables and printed as the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.analysis.acceptance.cells import THREE, WORDS, Address, Printing
from ragmend.analysis.printing.table import (
    UNDEFINED,
    Cell,
    Table,
    print_p_value,
    round_half_up,
)
from ragmend.analysis.tables.recipes import TABLES
from ragmend.errors import StatisticsError

if TYPE_CHECKING:
    import pandas as pd


class Found(NamedTuple):
    """Our value as printed, or None and what is lacking."""

    ours: str | None
    place: str
    """Where the value stands; where there is none, what it needs."""


def read_address(tables: Mapping[str, Table], address: Address) -> Found:
    """Read one cell.

    Raises:
        StatisticsError: Several rows fit.
    """
    place = f"{address.table}, {_describe(address.row)}, {address.column}"
    if address.table not in tables:
        return Found(None, _lacks(address.table))
    frame = tables[address.table].frame
    rows = _rows(frame, address.row)
    if len(rows) > 1:
        raise StatisticsError(f"{place}: {len(rows)} rows fit")
    if rows.empty:
        return Found(None, f"{address.table} has no row {_describe(address.row)}")
    if address.column not in frame:
        return Found(None, f"{address.table} has no column {address.column}")
    return Found(print_number(rows[address.column].iloc[0], address.printing), place)


def print_number(value: Cell, printing: Printing) -> str:
    """Print a cell by our tables' rules: half-up, p-values in their own way, — if undefined."""
    if value is None:
        return UNDEFINED
    if isinstance(value, str):
        raise StatisticsError(f"expected a number to print, got {value!r}")
    number = -value if printing.is_magnitude and value < 0 else value
    if printing.style == "p_value":
        return print_p_value(number)
    return round_half_up(printing.scale * number, printing.digits)


def reduction_ratios(tables: Mapping[str, Table]) -> dict[str, Fraction] | None:
    """Return how many times Gemma's reduction Qwen's is, arm by arm.

    None: there is no such contrast, or Gemma's is zero.

    **Source**: arXiv 2608.29307, section 8.
    """
    if "contrasts" not in tables:
        return None
    frame = tables["contrasts"].frame
    ratios = {}
    for arm in WORDS["arm"]:
        qwen, gemma = (
            _rows(frame, {"judge": judge, "contrast": f"original-{arm}"})["diff_pp"].tolist()
            for judge in ("qwen", "gemma")
        )
        if not qwen or not gemma or not gemma[0]:
            return None
        ratios[arm] = Fraction(qwen[0]) / Fraction(gemma[0])
    return ratios


def _read_factor(tables: Mapping[str, Table]) -> Found:
    if "contrasts" not in tables:
        return Found(None, _lacks("contrasts"))
    ratios = reduction_ratios(tables)
    if ratios is None:
        return Found(None, "contrasts has no ratio of Qwen's to Gemma's reductions")
    return Found(
        " / ".join(round_half_up(ratio, 1) for ratio in ratios.values()),
        f"contrasts, diff_pp: Qwen's over Gemma's, {', '.join(ratios)}",
    )


def _read_kappa(pick: Callable[[list[Any]], Cell]) -> Callable[[Mapping[str, Table]], Found]:
    """Return what reads the least or greatest κ of two judges in one condition."""

    def read(tables: Mapping[str, Table]) -> Found:
        if "agreement" not in tables:
            return Found(None, _lacks("agreement"))
        pairs = {frozenset(pair) for pair in combinations(WORDS["judge"], 2)}
        kappas = [
            row["kappa"]
            for row in tables["agreement"].frame.to_dict("records")
            if frozenset((row["rater_a"], row["rater_b"])) in pairs
            and row["condition"] in WORDS["condition"]
        ]
        defined = [kappa for kappa in kappas if kappa is not None]
        n_wanted = len(pairs) * len(WORDS["condition"])
        place = f"agreement, kappa of {len(pairs)} pairs in {len(WORDS['condition'])} conditions"
        if len(defined) != n_wanted:
            return Found(None, f"{place}: only {len(defined)} of {n_wanted} are there and defined")
        return Found(print_number(pick(defined), THREE), place)

    return read


READINGS: dict[str, Callable[[Mapping[str, Table]], Found]] = {
    "rel.kappa.min": _read_kappa(min),
    "rel.kappa.max": _read_kappa(max),
    "rel.factor": _read_factor,
}
"""Numbers that are no single cell."""


def _rows(frame: pd.DataFrame, wanted: Mapping[str, str]) -> pd.DataFrame:
    for column, value in wanted.items():
        frame = frame[frame[column].map(str) == value]
    return frame


def _describe(row: Mapping[str, str]) -> str:
    return ", ".join(f"{column}={value}" for column, value in row.items())


def _lacks(table: str) -> str:
    recipe = TABLES[table]
    inputs = " and ".join(recipe.needs) or " or ".join(recipe.also_reads)
    return f"needs the {table} table, made from {inputs}"
