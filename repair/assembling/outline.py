"""How an answer is laid out: which claims stand under a heading or lead-in, which are items.

A heading reaches to the next one of its own or a higher rank; a lead-in over the list behind
it, or the paragraph, and one that opens an answer without a list over all of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from ragmend.records import Claim
from ragmend.repair.assembling.gaps import Gap, gap_text
from ragmend.repair.assembling.numbering import LEADING_NUMBER, NumberedList

MarkerKind = Literal["", "bullet", "counter", "row", "code"]
Reach = Literal["section", "rows", "items", "item", "sections", "paragraph", "answer"]

_SIGN = re.compile(r"(?P<indent>\s*)(?:>\s*)*(?P<level>#{1,6}(?=\s))?(?P<rest>.*)", re.DOTALL)
_BULLET = re.compile(r"[-*+–—](?:\s|\Z)|[•◦▪‣·●○]")
_TITLE_LEVEL, _COLON_LEVEL = 7, 8
_CONTENT = ("statement", "question")
_DEEPEST = 32  # headings that may be open at once; keeps odd texts linear
_ITEMS: tuple[MarkerKind, ...] = ("bullet", "counter")


class Line(NamedTuple):
    """Where a claim stands; a claim in mid-line has its line's indent and marker.

    Attributes:
        begins: Whether it is the first on its line.
        is_after_blank: Whether a blank line stands before it.
        indent: How far in its line begins.
        marker: What its line begins with.
        level: Rank of a heading that is no item: markdown's, then titles, then "Name:".
    """

    begins: bool
    is_after_blank: bool
    indent: int
    marker: MarkerKind
    level: int


class _Head(NamedTuple):
    """A heading or lead-in and how far it reaches."""

    claim: int
    reach: Reach


class Outline(NamedTuple):
    """The layout of an answer.

    Attributes:
        lines: Where each claim stands.
        scopes: For each heading or lead-in, the claims under it.
    """

    claims: Sequence[Claim]
    lines: Sequence[Line]
    scopes: Mapping[int, range]


def read_outline(
    claims: Sequence[Claim], gaps: Sequence[Gap], lists: Sequence[NumberedList]
) -> Outline:
    """Read the layout of an answer.

    Args:
        claims: Its claims.
        gaps: What stands between them.
        lists: Its numbered lists.
    """
    lines = _lines(claims, gaps)
    last_items = {m.claim: one.markers[-1].claim for one in lists for m in one.markers}
    return Outline(claims, lines, dict(_scopes(claims, lines, last_items)))


def heads_without_content(outline: Outline, is_there: Sequence[bool]) -> frozenset[int]:
    """Return the headings and lead-ins that stand over nothing, now that claims are gone.

    One under which there was nothing from the start stays, unless all content is gone.
    """
    n_before = _counts(claim.kind in _CONTENT for claim in outline.claims)
    n_now = _content_counts(outline, is_there)
    if n_before[-1] and not n_now[-1]:
        return frozenset(n for n, claim in enumerate(outline.claims) if claim.kind not in _CONTENT)
    return frozenset(
        head
        for head, scope in outline.scopes.items()
        if n_before[scope.stop] > n_before[scope.start] and n_now[scope.stop] == n_now[scope.start]
    )


def heads_over_content(outline: Outline, is_there: Sequence[bool]) -> frozenset[int]:
    """Return the headings and lead-ins under which content stands, now that claims are gone."""
    n_now = _content_counts(outline, is_there)
    return frozenset(
        head for head, scope in outline.scopes.items() if n_now[scope.stop] > n_now[scope.start]
    )


def new_indents(outline: Outline, is_there: Sequence[bool]) -> dict[int, int]:
    """Return how far in the items begin whose parent item is gone, by claim: as it did."""
    found: dict[int, int] = {}
    parents: list[tuple[int, bool, int]] = []  # indent, whether anything is left, new indent
    for index, line in enumerate(outline.lines):
        if not line.begins:
            continue
        if line.marker not in _ITEMS:
            if line.indent == 0:
                parents.clear()
            continue
        while parents and parents[-1][0] >= line.indent:
            parents.pop()
        is_orphan = bool(parents) and not parents[-1][1]
        indent = parents[-1][2] if is_orphan else line.indent
        if is_orphan:
            found[index] = indent
        parents.append((line.indent, _is_item_there(outline.lines, is_there, index), indent))
    return found


def _is_item_there(lines: Sequence[Line], is_there: Sequence[bool], start: int) -> bool:
    """Tell whether anything is left of the item that begins with a claim."""
    for index in range(start, len(lines)):
        if index > start and lines[index].begins and not _goes_on(lines[index], lines[start]):
            return False
        if is_there[index]:
            return True
    return False


def _goes_on(line: Line, item: Line) -> bool:
    return line.marker == "" and line.indent > item.indent


def _content_counts(outline: Outline, is_there: Sequence[bool]) -> list[int]:
    return _counts(
        claim.kind in _CONTENT and there
        for claim, there in zip(outline.claims, is_there, strict=True)
    )


def _counts(flags: Iterator[bool]) -> list[int]:
    return list(accumulate(flags, initial=0))


def _lines(claims: Sequence[Claim], gaps: Sequence[Gap]) -> list[Line]:
    lines: list[Line] = []
    for index, (claim, gap) in enumerate(zip(claims, gaps[:-1], strict=True)):
        ends = [n for n, piece in enumerate(gap) if piece.kind == "line_end"]
        if index and not ends:
            lines.append(lines[-1]._replace(begins=False, is_after_blank=False, level=0))
            continue
        head = _SIGN.match(gap_text(gap[ends[-1] + 1 :] if ends else gap))
        sign, rest = (head["level"], head["rest"]) if head else (None, "")
        marker = _marker(claim, sign, rest, lines[-1].marker if lines else "")
        lines.append(
            Line(
                begins=True,
                is_after_blank=len(ends) > 1,
                indent=len(head["indent"].expandtabs(4)) if head else 0,
                marker=marker,
                level=_level(claim, sign, marker),
            )
        )
    return lines


def _marker(claim: Claim, sign: str | None, head: str, above: MarkerKind) -> MarkerKind:
    if sign:
        return ""
    if claim.text.startswith(("```", "~~~")):
        return "code"
    if "|" in head or ("|" in claim.text and (claim.kind == "heading" or above == "row")):
        return "row"
    if any(map(str.isalnum, head)) or LEADING_NUMBER.match(claim.text):
        return "counter"
    return "bullet" if _BULLET.match(head) else ""


def _level(claim: Claim, sign: str | None, marker: MarkerKind) -> int:
    if claim.kind != "heading" or marker:
        return 0
    if sign:
        return len(sign)
    return _COLON_LEVEL if ":" in claim.text[-4:] else _TITLE_LEVEL


def _scopes(
    claims: Sequence[Claim], lines: Sequence[Line], last_items: Mapping[int, int]
) -> Iterator[tuple[int, range]]:
    n_content = _counts(claim.kind in _CONTENT for claim in claims)
    heads: list[_Head] = []
    for index in range(len(claims) + 1):
        ended = next(
            (
                n
                for n, head in enumerate(heads)
                if index == len(claims)
                or _ends(lines, head, index, last_items, n_content[index] > n_content[head.claim])
            ),
            len(heads),
        )
        yield from ((head.claim, range(head.claim + 1, index)) for head in heads[ended:])
        del heads[ended:]
        if index < len(claims) and claims[index].kind not in _CONTENT:
            heads.append(_Head(index, _reach(claims, lines, index)))
        if len(heads) > _DEEPEST:
            oldest = heads.pop(0)
            yield oldest.claim, range(oldest.claim + 1, index)


def _reach(claims: Sequence[Claim], lines: Sequence[Line], index: int) -> Reach:
    own = lines[index]
    if own.marker == "row":
        return "rows"
    following = lines[index + 1] if index + 1 < len(lines) else None
    is_before_list = following is not None and following.begins and following.marker != ""
    if own.level in range(1, _COLON_LEVEL) or (own.level and not is_before_list):
        return "section"
    if own.marker:
        return "item"
    if is_before_list:
        return "items"
    if following is not None and claims[index + 1].kind not in _CONTENT:
        return "sections"
    is_opening = all(claim.kind == "lead_in" for claim in claims[:index]) if index < 3 else False
    return "answer" if is_opening else "paragraph"


def _ends(
    lines: Sequence[Line],
    head: _Head,
    index: int,
    last_items: Mapping[int, int],
    has_content: bool,
) -> bool:
    """Tell whether what is under a head ends before a claim."""
    own, line = lines[head.claim], lines[index]
    if head.reach in ("answer", "rows"):
        return head.reach == "rows" and line.marker != "row"
    if head.reach == "section":
        return 0 < line.level < own.level or (line.level == own.level and has_content)
    if head.reach == "sections":
        return 0 < line.level < lines[head.claim + 1].level
    if not line.begins:
        return False
    if line.level and has_content:
        return True
    if line.marker in _ITEMS and own.marker in _ITEMS:
        is_sibling = line.indent == own.indent and line.marker == own.marker
        return line.indent < own.indent or is_sibling
    if line.marker in _ITEMS:
        return line.indent < own.indent or (head.reach == "paragraph" and has_content)
    if head.reach == "paragraph":
        return line.is_after_blank and has_content
    first = head.claim + (head.reach == "items")
    is_last = index > last_items.get(first, first)
    is_inside = line.marker != "" or line.indent > lines[first].indent
    return is_last and has_content and not is_inside
