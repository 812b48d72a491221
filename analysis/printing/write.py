"""Tables as files: CSV at full precision, Markdown and LaTeX as printed.

Nothing here touches a disk: whoever calls gets names and bytes, and writes them atomically.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ragmend.analysis.printing.printed import PrintedTable, print_table
from ragmend.analysis.printing.table import Cell, Table, print_rows
from ragmend.errors import StatisticsError

# What Markdown would read as a cell border, markup or a tag.
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "|": "\\|", "<": "&lt;", "*": "\\*", "_": "\\_", "`": "\\`"}
)
# What LaTeX would read as a command, and signs that its text fonts lack.
_TEX_ESCAPES = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "→": r"$\rightarrow$",
        "κ": r"$\kappa$",
        "α": r"$\alpha$",
        "λ": r"$\lambda$",
        "φ": r"$\phi$",
        "±": r"$\pm$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "·": r"$\cdot$",
        "–": "--",
        "—": "---",
    }
)


def table_files(tables: Mapping[str, Table]) -> dict[str, bytes]:
    """Return `tables/<name>.csv`, `.md` and `.tex` of every table."""
    files = {}
    for name, table in tables.items():
        files[f"tables/{name}.csv"] = table_csv(table)
        files[f"tables/{name}.md"] = table_markdown(table).encode()
        files[f"tables/{name}.tex"] = table_latex(table).encode()
    return files


def table_csv(table: Table) -> bytes:
    """Write every column; floats as `repr`, undefined cells blank, lines end in a newline."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.frame.columns)
    places = [f"{table.name}.{column}" for column in table.frame.columns]
    for row in table.frame.itertuples(index=False, name=None):
        writer.writerow([_write_cell(*pair) for pair in zip(row, places, strict=True)])
    return buffer.getvalue().encode()


def table_markdown(table: Table) -> str:
    """Write the printed columns as a GitHub table with title and notes."""
    return printed_markdown(print_table(table))


def printed_markdown(table: PrintedTable) -> str:
    """Write a table that is text already as a GitHub table with title and notes."""
    lines = [
        f"**{escape_markdown(table.title)}**",
        "",
        _markdown_row(table.headings),
        f"| {' | '.join('---:' if number else '---' for number in table.is_number)} |",
        *(_markdown_row(row) for row in table.rows),
        "",
        *(f"- {escape_markdown(note)}" for note in table.notes),
    ]
    return "\n".join(lines) + "\n"


def table_latex(table: Table) -> str:
    r"""Write the printed columns as a `table` float, notes below; needs `\usepackage{booktabs}`."""
    align = "".join("l" if column.style == "text" else "r" for column in table.columns)
    lines = [
        r"\begin{table}",
        rf"\caption{{{_escape_latex(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        _latex_row([column.heading for column in table.columns]),
        r"\midrule",
        *(_latex_row(row) for row in print_rows(table)),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_escape_latex(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """Return text that Markdown prints as it is, on one line."""
    return " ".join(text.split()).translate(_ESCAPES)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _latex_row(cells: list[str]) -> str:
    # The braces keep a first cell "[…]" from being read as an argument of the line break before.
    return rf"{{}}{' & '.join(map(_escape_latex, cells))} \\"


def _escape_latex(text: str) -> str:
    return " ".join(text.split()).translate(_TEX_ESCAPES)


def _write_cell(cell: Cell, place: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Fraction):
        cell = float(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        raise StatisticsError(f"{place}: a table cell must be finite, got {cell}")
    return cell if isinstance(cell, str) else repr(cell)
