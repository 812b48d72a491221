"""What a finished run prints: its main tables in aligned columns, and where the files are."""

from collections.abc import Iterable

from ragmend.paths import RunPaths

# The tables printed at the end of a run, in this order.
PRINTED_TABLES = ("selection", "table3_arms", "acceptance", "table5_judged", "contrasts")


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
