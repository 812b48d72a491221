"""Pairs of brackets, quotation marks and inline markdown in running text.

Sentence and claim boundaries must not fall between two marks that belong together, and a
span must not start with a mark whose partner lies outside it. Both need the same pairing.
"""

import re

_ALWAYS = r"()\[\]{}«»„“”\"「」『』（）【】《》〈〉"
# It opens with a set of characters, which the engine scans for fast; what they need follows.
_MARK = re.compile(
    rf"[{_ALWAYS}'‘’*_~`](?:(?<=[{_ALWAYS}])"
    r"|(?<=['‘])(?<!\w['‘])(?=\w)|(?<=['’])(?!\w)"
    r"|(?<=\*)(?:\*{1,2}|(?<![\w*]\*)(?=[^\s*])|(?<=[^\s*]\*)(?![\w*]))"
    r"|(?<=_)(?:_{1,2}|(?<!\w_)(?=[^\s_])|(?<=[^\s_]_)(?!\w))"
    r"|(?<=~)~{1,2}|(?<=`)`*)"
)
_CLOSED_BY = {
    **dict(zip(")]}»”’」』）】》〉", "([{«“‘「『（【《〈", strict=True)),
    "“": "„",
}
_OPENERS = frozenset("([{«“‘„「『（【《〈")
ELISION = re.compile(r"(?:tis|twas|em|til|cause|n|bout|round|\d\ds?)\b", re.IGNORECASE)
"""Words that an apostrophe begins, and decades: "'tis", "'90s"."""

_CJK = frozenset("「『（【《〈“‘„«")
_FENCES = ("```", "~~~")
_EMOTICON_EYES = frozenset(":;=")


def paired_marks(text: str, *, start: int = 0, end: int | None = None) -> dict[int, int]:
    r"""Pair the marks of `text[start:end]`, well nested; a mark without a partner is left out.

    Brackets and typographic quotes pair by shape; `"` and markdown's `**`, `*`, `__`, `_`,
    `~~` and backticks open where something but white space follows and close where something
    precedes, code fences anywhere. A single quote closes at the end of a word, behind an "s"
    only before punctuation, for "the dogs' bowl" has an apostrophe. The bracket of an
    emoticon such as `:(` is no mark. Runs in linear time.

    Returns:
        For the offset where an opening mark starts, the offset where its closing mark ends.
    """
    stop = len(text) if end is None else end
    pairs: dict[int, int] = {}
    open_marks: list[tuple[str, int]] = []
    n_open: dict[str, int] = {}
    for match in _MARK.finditer(text, start, stop):
        mark, position = match.group(), match.start()
        opener = _CLOSED_BY.get(mark, mark)
        may_close = mark not in _OPENERS or mark in _CLOSED_BY
        if n_open.get(opener, 0) and may_close and _may_close(text, match, start):
            pairs[_pop(open_marks, n_open, opener)] = match.end()
        elif (mark not in _CLOSED_BY or mark in _OPENERS) and _may_open(text, match, start, stop):
            open_marks.append((mark, position))
            n_open[mark] = n_open.get(mark, 0) + 1
    return pairs


def mark_partners(text: str) -> dict[int, int]:
    """Return for each mark of a pair, opening or closing, the offset where the other starts."""
    partners: dict[int, int] = {}
    for opening, end in paired_marks(text).items():
        opener = mark_at(text, opening)
        closing = end - 1 if opener in _OPENERS else end - len(opener)
        partners[opening], partners[closing] = closing, opening
    return partners


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
    mark = match.group()
    if mark.startswith(_FENCES):
        return True
    before = text[match.start() - 1 : match.start()] if match.start() > start else " "
    if mark in "'’":
        after = text[match.end() : match.end() + 1]
        is_apostrophe = before in "sS" and (after.isspace() or not after)
        return not before.isspace() and not is_apostrophe
    return mark in _CLOSED_BY or not before.isspace()


def _may_open(text: str, match: re.Match[str], start: int, stop: int) -> bool:
    """Whether an opening mark stands as one: before text, not inside a word, no emoticon."""
    mark = match.group()
    before = text[match.start() - 1] if match.start() > start else " "
    if mark in "([{":
        return before not in _EMOTICON_EYES
    if mark.startswith(_FENCES):
        return True
    if mark in "'‘" and ELISION.match(text, match.end()):
        return False
    followed = match.end() < stop and not text[match.end()].isspace()
    return followed and (not before.isalnum() or mark in _CJK)
