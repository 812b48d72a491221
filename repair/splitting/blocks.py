"""An answer as blocks: paragraphs, headings, list items, table rows, fenced code.

A block is an exact span without the list marker, heading sign or quote prefix in front of
it; what is left out here is white space, markers, markup and lines without a word. Choices
where markdown leaves room:

- A marker with nothing behind it is one only right below another item (a truncated list);
  "12." by itself is an answer.
- A short line without verb, stop or colon above `---`, and any above `===`, is a heading.
- A line behind `>` stands by itself, as an item does.
- Fenced code is one block, fences included; without a closing fence it is ordinary lines.
  So is what is indented by four, below a blank line and no item, if some line looks like code.
- A line break ends a block, but for a soft wrap and for an indented line below an item that
  did not end in a stop or colon.
"""

import re
from typing import Literal, NamedTuple

from ragmend.repair.splitting.clauses import has_finite_verb
from ragmend.repair.splitting.markers import is_lone_counter, listed_capitals, skip_markers
from ragmend.text.lines import INVISIBLE, ends_line, follows_directly, is_soft_wrap, line_spans

BlockKind = Literal["prose", "item", "heading", "row", "code"]

_INDENT = re.compile(rf"[\s{INVISIBLE}]*")
_CODE_INDENT = re.compile(r" {0,3}\t| {4}")
_CODE_SIGN = re.compile(r"[{}=]|\(\)|->|::|;\s*\Z|\A\s*(?:\$|>>>|//|#!|<\w)")
_UNDERLINE = re.compile(r"={2,}|-{2,}")
_QUOTE_PREFIX = re.compile(r"(?:>(?!\d|=)\s*)+")
_HEADING = re.compile(r"#{1,6}\s+")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_WORD = re.compile(r"[^\W_]")
_WINDOW = 48
_LONGEST_TITLE = 120


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
    fences = _indented_code(text, lines) | _closed_fences(text, lines)
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
            is_heading = _is_header_row(text, lines, index) or _is_underlined(text, lines, index)
            blocks.append(Block("heading" if is_heading else line.kind, line.content, line.end))
    return [_bare(text, block) for block in blocks]


def _read_lines(text: str) -> list[_Line]:
    spans = line_spans(text)
    capitals = listed_capitals(text, [(_indented(text, *span), span[1]) for span in spans])
    lines: list[_Line] = []
    for start, end in spans:
        lines.append(_read_line(text, start, end, lines[-1] if lines else None, capitals))
    return lines


def _read_line(
    text: str, start: int, end: int, above: _Line | None, capitals: frozenset[str]
) -> _Line:
    content = _indented(text, start, end)
    prefix = _QUOTE_PREFIX.match(text, content, end)
    content = prefix.end() if prefix else content
    if not _WORD.search(text, content, end):
        return _Line("rule", start, content, end)
    if above and above.kind == "item" and is_lone_counter(text, content, end):
        return _Line("rule", start, content, end)
    if heading := _HEADING.match(text, content, end):
        return _Line("heading", start, heading.end(), end)
    if _is_row(text, content, end, above):
        return _Line("row", start, content, end)
    marked = skip_markers(text, content, end, capitals)
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


def _indented_code(text: str, lines: list[_Line]) -> dict[int, int]:
    """Return, for the line that opens indented code, its last line."""
    code: dict[int, int] = {}
    index, is_below_item = 0, False
    while index < len(lines):
        if not _is_indented(text, lines[index]):
            is_below_item = lines[index].kind == "item"
            index += 1
            continue
        begin = index
        while index < len(lines) and _is_indented(text, lines[index]):
            index += 1
        is_below_text = begin > 0 and follows_directly(
            text, lines[begin - 1].end, lines[begin].start
        )
        run = lines[begin:index]
        if is_below_item or is_below_text or any(line.kind == "item" for line in run):
            continue
        if any(_CODE_SIGN.search(text[line.start : line.end]) for line in run):
            code[begin] = index - 1
    return code


def _is_indented(text: str, line: _Line) -> bool:
    return _CODE_INDENT.match(text, line.start, line.end) is not None


def _goes_on(text: str, above: _Line, line: _Line, blocks: list[Block]) -> bool:
    """Whether a line continues the block of the line above."""
    if line.kind != "prose" or not follows_directly(text, above.end, line.start):
        return False
    before = text[max(above.content, above.end - _WINDOW) : above.end]
    if above.kind == "prose" and blocks[-1].kind == "prose":
        return is_soft_wrap(before, text[line.content : line.content + _WINDOW])
    in_item = blocks != [] and blocks[-1].kind == "item" and blocks[-1].end == above.end
    return in_item and text[line.start].isspace() and not ends_line(before)


def _is_header_row(text: str, lines: list[_Line], index: int) -> bool:
    """Whether the line below draws the rule that a table has under its header."""
    rule = _rule_below(text, lines, index)
    return rule != "" and set(rule) <= set("|-: \t") and "|" in text[slice(*lines[index][1::2])]


def _is_underlined(text: str, lines: list[_Line], index: int) -> bool:
    """Whether the line below makes this one a heading, as `===` and `---` do in markdown."""
    title = text[lines[index].content : lines[index].end]
    rule = _rule_below(text, lines, index)
    if lines[index].kind != "prose" or not _UNDERLINE.fullmatch(rule):
        return False
    is_sentence = ends_line(title) or ":" in title or has_finite_verb(title)
    return len(title) <= _LONGEST_TITLE and (rule[0] == "=" or not is_sentence)


def _rule_below(text: str, lines: list[_Line], index: int) -> str:
    """Return the wordless line right below a line, or nothing."""
    if index + 1 == len(lines) or lines[index + 1].kind != "rule":
        return ""
    below = lines[index + 1]
    return (
        text[below.start : below.end]
        if follows_directly(text, lines[index].end, below.start)
        else ""
    )


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
