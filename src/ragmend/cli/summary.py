"""What a finished run prints: its main tables in aligned columns, and where the files are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragmend.paths import RunPaths

if TYPE_CHECKING:
    from ragmend.analysis.analyze import Analysis

# The tables printed at the end of a run, in this order.
PRINTED_TABLES = ("selection", "table3_arms", "acceptance", "table5_judged", "contrasts")

# Of anyone's tables: those printed, where there are not more rows than a screen or two hold.
SHOWN_TABLES = (
    "selection", "table1_detectors", "table2_verifier", "table3_arms", "table5_judged",
    "contrasts", "judge_reliability", "agreement",
)  # fmt: skip
MOST_ROWS = 48


def summarize_run(paths: RunPaths) -> str:
    """Return the main tables as plain text, each note once, and the places of the files."""
    notes: dict[str, None] = {}
    texts = [(paths.tables / f"{name}.md").read_text("utf-8") for name in PRINTED_TABLES]
    blocks = [_block(text, notes) for text in texts]
    places = [
        f"tables   {paths.tables}",
        f"figures  {paths.figures}",
        f"report   {paths.report}",
    ]
    return "\n\n".join([*blocks, _notes(notes), "\n".join(places)])


def describe_analysis(
    analysis: Analysis, out: Path, given: Collection[str], *, is_brief: bool = False
) -> str:
    """Return an analysis of anyone's tables as text: main tables, what is missing, the places.

    Args:
        analysis: What was made.
        out: The folder that it was written to.
        given: The frames that were given, by name.
        is_brief: Whether to leave the tables themselves out.
    """
    places = [f"tables   {out / 'tables'}", f"report   {out / 'report.md'}"]
    if analysis.figures:
        places.insert(1, f"figures  {out / 'figures'}")
    if is_brief:
        return "\n".join(places)
    from ragmend.analysis.printing.write import table_markdown

    shown = [analysis.tables[name] for name in SHOWN_TABLES if name in analysis.tables]
    texts = [table_markdown(table) for table in shown if len(table.frame) <= MOST_ROWS]
    long = [
        f"long     {table.name}: {len(table.frame)} rows, in {out / 'tables' / table.name}.md"
        for table in shown
        if len(table.frame) > MOST_ROWS
    ]
    missing = _missing_tables(analysis.left_out, given)
    return "\n\n".join([print_tables(texts), "\n".join([*long, *missing]), "\n".join(places)])


def _missing_tables(left_out: Mapping[str, str], given: Collection[str]) -> list[str]:
    """Say what the given tables could have had; what others alone make is counted."""
    from ragmend.analysis.tables.recipes import TABLES

    own = {
        name: why
        for name, why in left_out.items()
        if {need.partition(".")[0] for need in TABLES[name].needs} <= set(given)
    }
    lines = [
        f"without  {', '.join(name for name, why in own.items() if why == reason)}: {reason}"
        for reason in dict.fromkeys(own.values())
    ]
    n_others = len(left_out) - len(own)
    if n_others:
        lines.append(f"without  {n_others} tables of other inputs; the report lists them")
    return lines


def print_tables(texts: Iterable[str]) -> str:
    """Return Markdown tables in aligned columns, each note once at the end."""
    notes: dict[str, None] = {}
    blocks = [_block(text, notes) for text in texts]
    return "\n\n".join([*blocks, _notes(notes)])


def _notes(notes: Iterable[str]) -> str:
    return "\n".join(f"* {note}" for note in notes)


def _block(text: str, notes: dict[str, None]) -> str:
    """Turn a Markdown table into aligned columns; collect its notes."""
    lines = [_plain(line) for line in text.splitlines() if line]
    title, *rest = lines
    rows = [_cells(line) for line in rest if line.startswith("|")]
    header, alignment, *body = rows
    notes.update(dict.fromkeys(line.removeprefix("- ") for line in rest if line.startswith("- ")))
    printed = [header, *body]
    widths = [max(len(row[i]) for row in printed) for i in range(len(header))]
    is_number = [mark.endswith(":") for mark in alignment]
    return "\n".join([title, *(_aligned(row, widths, is_number) for row in printed)])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def _aligned(row: list[str], widths: list[int], is_number: list[bool]) -> str:
    cells = [
        cell.rjust(width) if number else cell.ljust(width)
        for cell, width, number in zip(row, widths, is_number, strict=True)
    ]
    return "  ".join(cells).rstrip()


def _plain(line: str) -> str:
    return line.strip("*").replace("\\", "").replace("&lt;", "<")
