"""Pairs of brackets, quotation marks and inline markdown in running text.

Sentence and claim boundaries must not fall between two marks that belong together, and a
span must not start with a mark whose partner lies outside it. Both need the same pairing.
"""

import re

_MARK = re.compile(
    r"[()\[\]{}«»“”\"]|\*{2,3}|_{2,3}|~~|`+"
    r"|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])|(?<=[^\s_])_(?!\w)"
)
_OPENER_OF = {")": "(", "]": "[", "}": "{", "»": "«", "”": "“"}
_OPENERS = frozenset(_OPENER_OF.values())
_FENCE = "```"
_EMOTICON_EYES = frozenset(":;=")


def paired_marks(text: str, *, start: int = 0, end: int | None = None) -> dict[int, int]:
    r"""Pair the marks of `text[start:end]`, well nested; a mark without a partner is left out.

    Brackets and typographic quotes pair by shape; `"` and markdown's `**`, `*`, `__`, `_`,
    `~~` and backticks open where something but white space follows and close where something
    precedes, code fences anywhere. The bracket of an emoticon such as `:(` is no mark. Runs in
    linear time.

    Returns:
        For the offset where an opening mark starts, the offset where its closing mark ends.
    """
    stop = len(text) if end is None else end
    pairs: dict[int, int] = {}
    open_marks: list[tuple[str, int]] = []
    n_open: dict[str, int] = {}
    for match in _MARK.finditer(text, start, stop):
        mark, position = match.group(), match.start()
        opener = _OPENER_OF.get(mark, mark)
        if n_open.get(opener, 0) and mark not in _OPENERS and _may_close(text, match, start):
            pairs[_pop(open_marks, n_open, opener)] = match.end()
        elif mark not in _OPENER_OF and _may_open(text, match, start, stop):
            open_marks.append((mark, position))
            n_open[mark] = n_open.get(mark, 0) + 1
    return pairs


def mark_at(text: str, position: int) -> str:
    """Return the mark that starts at an offset where `paired_marks` found one.

    Raises:
        ValueError: No mark starts there.
    """
    match = _MARK.match(text, position)
    if match is None:
        raise ValueError(f"no mark starts at offset {position}")
    return match.group()


def _pop(open_marks: list[tuple[str, int]], n_open: dict[str, int], opener: str) -> int:
    """Close the innermost `opener`, giving up marks left open inside it; return its offset."""
    while True:
        mark, position = open_marks.pop()
        n_open[mark] -= 1
        if mark == opener:
            return position


def _may_close(text: str, match: re.Match[str], start: int) -> bool:
    """Whether something but white space precedes a symmetric mark; brackets always close."""
    if match.group() in _OPENER_OF or match.group().startswith(_FENCE):
        return True
    return match.start() > start and not text[match.start() - 1].isspace()


def _may_open(text: str, match: re.Match[str], start: int, stop: int) -> bool:
    """Whether an opening mark stands as one: before text, not inside a word, no emoticon."""
    before = text[match.start() - 1] if match.start() > start else " "
    if match.group() in "([{":
        return before not in _EMOTICON_EYES
    if match.group().startswith(_FENCE):
        return True
    followed = match.end() < stop and not text[match.end()].isspace()
    return followed and not before.isalnum()
