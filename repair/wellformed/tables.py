"""Findings about markdown tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

_ROW = re.compile(r"\s*\|.*\|")
_RULE = re.compile(r"\s*\|?\s*:?-+[-|:\s]*\Z")
_ESCAPED_BAR = r"\|"


def broken_tables(lines: Sequence[str]) -> Counter[str]:
    """Count the tables without a header and its rule, or without rows, and the uneven rows."""
    found: Counter[str] = Counter()
    for table in _tables(lines):
        is_headed = len(table) > 1 and _RULE.match(table[1]) is not None
        found["no header"] += not is_headed
        found["no rows"] += is_headed and len(table) == len(("header", "rule"))
        width = _n_cells(table[0])
        found["uneven row"] += sum(_n_cells(row) != width for row in table[1:])
    return found


def _tables(lines: Sequence[str]) -> Iterator[list[str]]:
    for is_row, rows in groupby(lines, key=lambda line: _ROW.match(line) is not None):
        if is_row:
            yield list(rows)


def _n_cells(row: str) -> int:
    inner = row.strip().replace(_ESCAPED_BAR, "").removeprefix("|").removesuffix("|")
    return inner.count("|") + 1
