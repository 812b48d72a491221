"""An answer as blocks: paragraphs, headings, list items, table rows, fenced code.

A block is an exact span without the list marker, heading sign or quote prefix in front of
it; what is left out here is white space, markers, markup and lines without a word. Choices
where markdown leaves room:

- A marker is a bullet (`-`, `*`, `+`, `•`, …), a number or a letter with `.` or `)`, or one in
  brackets, followed by white space and text. A capital with a full stop ("B. King went")
  counts only beside its neighbour in the alphabet. "Step 4:" is text.
- A marker with nothing behind it is one only right below another item (a truncated list);
  "12." by itself is an answer.
- A line behind `>` stands by itself, as an item does.
- Fenced code is one block, fences included; without a closing fence it is ordinary lines.
- A line break ends a block, but for a soft wrap and for an indented line below an item that
  did not end in a stop or colon.
"""

import re
from typing import Literal, NamedTuple

from ragmend.text.sentences import ends_line, follows_directly, is_soft_wrap, line_spans

BlockKind = Literal["prose", "item", "heading", "row", "code"]

_INDENT = re.compile(r"\s*")
_QUOTE_PREFIX = re.compile(r"(?:>(?!\d|=)\s*)+")
_HEADING = re.compile(r"#{1,6}\s+")
_BULLET = re.compile(r"[-*+–—]\s+|[•◦▪‣·●○]\s*")
_COUNTER = re.compile(
    r"(?:\((?:\d{1,3}|[A-Za-z]|[ivx]{2,4})\)|(?:\d{1,3}|[a-z]|[ivx]{2,4})[.)]|[A-Z]\)"
    r"|(?P<capital>[A-Z])\.)(?:\s+|\Z)"
)
_NUMBER = re.compile(r"\s*\(?\d{1,2}[.)]\s+(?=\S)")
_LONE_COUNTER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)]\s*\Z")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_WORD = re.compile(r"[^\W_]")
_WINDOW = 48


class Block(NamedTuple):
    """A stretch of the answer that is cut into sentences by itself.

    Attributes:
        kind: What it is; the header row of a table is a heading.
        start: Where its text begins, behind marker or prefix.
        end: Where its text ends.
    """

    kind: BlockKind
    start: int
    end: int


class _Line(NamedTuple):
    """A line that is not blank: `start:end` with indent and marker, `content:end` without."""

    kind: Literal["prose", "item", "heading", "row", "rule"]
    start: int
    content: int
    end: int


def answer_blocks(text: str) -> list[Block]:
    """Cut an answer into its blocks, in order; lines without a word belong to none."""
    lines = _read_lines(text)
    fences = _closed_fences(text, lines)
    blocks: list[Block] = []
    code_end = -1
    for index, line in enumerate(lines):
        if index <= code_end:
            continue
        if index in fences:
            code_end = fences[index]
            if _WORD.search(text, line.start, lines[code_end].end):
                blocks.append(Block("code", line.start, lines[code_end].end))
        elif index and index - 1 != code_end and _goes_on(text, lines[index - 1], line, blocks):
            blocks[-1] = blocks[-1]._replace(end=line.end)
        elif line.kind != "rule":
            is_header = _is_above_rule(text, lines, index) and "|" in text[line.start : line.end]
            blocks.append(Block("heading" if is_header else line.kind, line.content, line.end))
    return [_bare(text, block) for block in blocks]


def skip_number(text: str, start: int, end: int) -> int:
    """Return where the text begins behind a number that counts an item inside a paragraph."""
    number = _NUMBER.match(text, start, end)
    return number.end() if number and _WORD.search(text, number.end(), end) else start


def _read_lines(text: str) -> list[_Line]:
    spans = line_spans(text)
    capitals = _listed_capitals(text, spans)
    lines: list[_Line] = []
    for start, end in spans:
        lines.append(_read_line(text, start, end, lines[-1] if lines else None, capitals))
    return lines


def _listed_capitals(text: str, spans: list[tuple[int, int]]) -> frozenset[str]:
    """Return the capitals that start a line as "B." does beside a line "A." or "C."."""
    found = {
        match["capital"]
        for start, end in spans
        if (match := _COUNTER.match(text, _indented(text, start, end), end)) and match["capital"]
    }
    return frozenset(c for c in found if chr(ord(c) - 1) in found or chr(ord(c) + 1) in found)


def _read_line(
    text: str, start: int, end: int, above: _Line | None, capitals: frozenset[str]
) -> _Line:
    content = _indented(text, start, end)
    prefix = _QUOTE_PREFIX.match(text, content, end)
    content = prefix.end() if prefix else content
    if not _WORD.search(text, content, end):
        return _Line("rule", start, content, end)
    if above and above.kind == "item" and _LONE_COUNTER.match(text, content, end):
        return _Line("rule", start, content, end)
    if heading := _HEADING.match(text, content, end):
        return _Line("heading", start, heading.end(), end)
    if _is_row(text, content, end, above):
        return _Line("row", start, content, end)
    marked = _skip_markers(text, content, end, capitals)
    return _Line("prose" if marked == content and not prefix else "item", start, marked, end)


def _indented(text: str, start: int, end: int) -> int:
    indent = _INDENT.match(text, start, end)
    return indent.end() if indent else start


def _is_row(text: str, start: int, end: int, above: _Line | None) -> bool:
    """Whether a line is a table row: a bar in front and another, or a bar below a row or rule."""
    if text[start] == "|":
        return text.find("|", start + 1, end) > 0
    if above is None or above.kind not in ("row", "rule"):
        return False
    return "|" in text[start:end] and "|" in text[above.start : above.end]


def _skip_markers(text: str, start: int, end: int, capitals: frozenset[str]) -> int:
    """Return where the text begins behind at most three list markers ("- 1. a) text")."""
    position = start
    for _ in range(3):
        marker = _BULLET.match(text, position, end) or _COUNTER.match(text, position, end)
        if marker is None or not _WORD.search(text, marker.end(), end):
            break
        capital = marker.groupdict().get("capital")
        if capital and capital not in capitals:
            break
        position = marker.end()
    return position


def _closed_fences(text: str, lines: list[_Line]) -> dict[int, int]:
    """Return, for the line that opens fenced code, the line that closes it."""
    fences: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    for index, line in enumerate(lines):
        fence = _FENCE.match(text, line.start, line.end)
        if fence is None:
            continue
        if opened is None:
            opened = (index, fence[1])
        elif fence.end() == line.end and fence[1].startswith(opened[1]):
            fences[opened[0]] = index
            opened = None
    return fences


def _goes_on(text: str, above: _Line, line: _Line, blocks: list[Block]) -> bool:
    """Whether a line continues the block of the line above."""
    if line.kind != "prose" or not follows_directly(text, above.end, line.start):
        return False
    before = text[max(above.content, above.end - _WINDOW) : above.end]
    if above.kind == "prose" and blocks[-1].kind == "prose":
        return is_soft_wrap(before, text[line.content : line.content + _WINDOW])
    in_item = blocks != [] and blocks[-1].kind == "item" and blocks[-1].end == above.end
    return in_item and line.content > line.start and not ends_line(before)


def _is_above_rule(text: str, lines: list[_Line], index: int) -> bool:
    """Whether the line below draws the rule that a table has under its header."""
    if index + 1 == len(lines) or lines[index + 1].kind != "rule":
        return False
    return set(text[lines[index + 1].start : lines[index + 1].end]) <= set("|-: \t")


def _bare(text: str, block: Block) -> Block:
    """Take the outer bars off a table row and the closing signs off a heading ("## Title ##")."""
    if block.kind in ("row", "heading") and text[block.start] == "|":
        row = text[block.start : block.end].rstrip("| \t")
        bare = row.lstrip("| \t")
        return block._replace(start=block.start + len(row) - len(bare), end=block.start + len(row))
    if block.kind == "heading" and text[block.end - 1] == "#":
        title = text[block.start : block.end].rstrip("#")
        return block._replace(end=block.start + len(title)) if title[-1].isspace() else block
    return block
