"""What stands between claims: white space, list markers, marks around several claims.

A gap is cut into pieces. Marks that open and close around claims (quotes, brackets, emphasis)
go when all that they enclose goes, and else stay with what is left of it. A list marker
belongs to the claim behind it; its number is a piece of its own, for a list may be counted
anew. The stronger of several breaks survives.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ragmend.records import Claim
from ragmend.text.delimiters import mark_at, paired_marks

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_NUMBER = re.compile(r"[^\W_]+")


class Piece(NamedTuple):
    """Part of an answer; a mark knows what it depends on, by index of claims.

    Attributes:
        kind: What it is. Letters and digits stand in a gap only as the number of a list item.
        text: As it stands in the answer.
        encloses: The claims between a mark and its partner in another gap.
        partner: The claim inside which a mark's partner stands, where it is in no gap.
        at: The offset of a number in the answer.
    """

    kind: Literal["plain", "line_end", "number", "open", "close"]
    text: str
    encloses: range = range(0)
    partner: int | None = None
    at: int = -1


Gap = tuple[Piece, ...]


def gap_pieces(answer: str, claims: Sequence[Claim]) -> list[Gap]:
    """Cut the gaps of an answer into pieces; there is one gap more than claims."""
    marks = _enclosing_marks(answer, claims)
    starts = [0, *(claim.end for claim in claims)]
    ends = [*(claim.start for claim in claims), len(answer)]
    return [
        tuple(_pieces(answer, start, end, marks)) for start, end in zip(starts, ends, strict=True)
    ]


def without_idle_marks(gap: Gap, is_there: Sequence[bool], is_kept: Sequence[bool]) -> Gap:
    """Take out the marks that enclose nothing any more, or whose partner is gone.

    Args:
        gap: The pieces.
        is_there: Whether anything stands for each claim.
        is_kept: Whether what stands for each claim is the claim.
    """
    return tuple(piece for piece in gap if not _is_idle(piece, is_there, is_kept))


def _is_idle(piece: Piece, is_there: Sequence[bool], is_kept: Sequence[bool]) -> bool:
    if piece.kind not in ("open", "close"):
        return False
    if piece.partner is not None:
        return not is_kept[piece.partner]
    return not any(is_there[index] for index in piece.encloses)


def opening(gaps: Sequence[Gap], sentence_gap: int, *, indent: int | None = None) -> Gap:
    """Return what stands before the first survivor, when claims before it are gone.

    Args:
        gaps: All gaps up to the survivor's own.
        sentence_gap: Which of them stands before the survivor's sentence.
        indent: How far in the survivor's line begins, where that is not as it was.
    """
    before = gap_text(gaps[0])
    space = before[: len(before) - len(before.lstrip())]
    lead = _as_plain(space[: _end_of_last_line(space)])
    has_line_end = any(_has_line_end(gap) for gap in gaps[1:])
    head = _head(gaps, sentence_gap) if has_line_end else _inline_head(gaps, sentence_gap)
    return (*lead, *_indented(head, indent), *_marks(gaps, "open"))


def closing(gaps: Sequence[Gap]) -> Gap:
    """Return what stands behind the last survivor, when claims after it are gone."""
    tail = gap_text(_before_first_line_end(gaps[0])) if _has_line_end(gaps[0]) else ""
    end = gap_text(gaps[-1])
    return (*_marks(gaps, "close"), *_as_plain(tail.rstrip() + end[len(end.rstrip()) :]))


def junction(
    gaps: Sequence[Gap],
    sentence_gap: int | None,
    *,
    is_new_sentence: bool,
    is_replaced: bool,
    indent: int | None = None,
) -> Gap:
    """Return what stands between two survivors.

    Args:
        gaps: The gaps between them; more than one where claims between are gone.
        sentence_gap: Which of them stands before the second survivor's sentence; None when
            both are clauses of one sentence.
        is_new_sentence: The second, a clause so far, begins a sentence now.
        is_replaced: At least one of the two is a substitute or rewrite.
        indent: How far in the second's line begins, where that is not as it was.
    """
    between: Sequence[Piece]
    if len(gaps) == 1 and not is_new_sentence and indent is None:
        is_glued = is_replaced and not any(map(str.isspace, gap_text(gaps[0])))
        if not is_glued:
            return gaps[0]
        between = _as_plain(" ")
    elif any(_has_line_end(gap) for gap in gaps):
        between = _lines_between(gaps, sentence_gap, indent)
    elif is_new_sentence:
        between = _as_plain(" ")
    else:
        between = _plain(gaps[-1 if sentence_gap is None else sentence_gap])
    if is_replaced and not between:
        between = _as_plain(" ")
    return (*_marks(gaps, "close"), *between, *_marks(gaps, "open"))


def gap_text(pieces: Iterable[Piece]) -> str:
    """Return the text of some pieces."""
    return "".join(piece.text for piece in pieces)


def _enclosing_marks(answer: str, claims: Sequence[Claim]) -> dict[int, Piece]:
    """Return the marks in gaps that belong to claims, by offset."""
    starts = [claim.start for claim in claims]
    marks: dict[int, Piece] = {}
    for open_start, close_end in paired_marks(answer).items():
        opener = mark_at(answer, open_start)
        closer = answer[close_end - 1] if len(opener) == 1 else opener
        close_start = close_end - len(closer)
        first, last = bisect_right(starts, open_start), bisect_right(starts, close_start)
        opens_in_gap = _is_in_gap(open_start, first, claims)
        closes_in_gap = _is_in_gap(close_start, last, claims)
        if opens_in_gap and closes_in_gap and first < last:
            marks[open_start] = Piece("open", opener, range(first, last))
            marks[close_start] = Piece("close", closer, range(first, last))
        elif opens_in_gap and not closes_in_gap:
            marks[open_start] = Piece("open", opener, partner=last - 1)
        elif closes_in_gap and not opens_in_gap:
            marks[close_start] = Piece("close", closer, partner=first - 1)
    return marks


def _is_in_gap(position: int, n_begun: int, claims: Sequence[Claim]) -> bool:
    return n_begun == 0 or position >= claims[n_begun - 1].end


def _pieces(answer: str, start: int, end: int, marks: dict[int, Piece]) -> Iterator[Piece]:
    plain_from = position = start
    while position < end:
        piece = marks.get(position) or _special_piece(answer, position, end)
        if piece is None:
            position += 1
            continue
        if plain_from < position:
            yield Piece("plain", answer[plain_from:position])
        yield piece
        plain_from = position = position + len(piece.text)
    if plain_from < end:
        yield Piece("plain", answer[plain_from:end])


def _special_piece(answer: str, position: int, end: int) -> Piece | None:
    if ending := _LINE_END.match(answer, position, end):
        return Piece("line_end", ending.group())
    if number := _NUMBER.match(answer, position, end):
        return Piece("number", number.group(), at=position)
    return None


def _lines_between(gaps: Sequence[Gap], sentence_gap: int | None, indent: int | None) -> Gap:
    """Return the strongest of several line breaks, and the head of the line behind it."""
    tail = _before_first_line_end(gaps[0]) if _has_line_end(gaps[0]) else ()
    strongest = max(gaps, key=lambda gap: sum(piece.kind == "line_end" for piece in gap))
    head = _indented(_head(gaps, sentence_gap), indent)
    return (*tail, *_line_break(strongest), *head)


def _head(gaps: Sequence[Gap], sentence_gap: int | None) -> Gap:
    """Return indent and marker of the line on which the survivor stands."""
    heads = [(n, _after_last_line_end(gap)) for n, gap in enumerate(gaps) if _has_line_end(gap)]
    last, head = heads[-1]
    if sentence_gap is not None and sentence_gap > last:
        return _with_inline_marker(head, gaps[sentence_gap])
    if head and not gap_text(head).strip():
        # An indented line continues an item: it takes over the marker of a line that is gone.
        return next((earlier for _, earlier in reversed(heads) if gap_text(earlier).strip()), head)
    return head


def _inline_head(gaps: Sequence[Gap], sentence_gap: int) -> Gap:
    head = _after_last_line_end(gaps[0]) if _has_line_end(gaps[0]) else _plain(gaps[0])
    return _with_inline_marker(head, gaps[sentence_gap]) if sentence_gap else head


def _with_inline_marker(head: Gap, gap: Gap) -> Gap:
    """Let an inline list marker ("… 2) Bake it.") take the place of the line's own."""
    marker = _plain(gap)
    if not any(piece.kind == "number" for piece in marker):
        return head
    text = gap_text(head)
    return (*_as_plain(text[: len(text) - len(text.lstrip())]), *_stripped(marker))


def _indented(head: Gap, indent: int | None) -> Gap:
    return head if indent is None else (*_as_plain(" " * indent), *_stripped(head))


def _stripped(pieces: Gap) -> Gap:
    """Take the white space off the front."""
    for n, piece in enumerate(pieces):
        if bare := piece.text.lstrip():
            return (piece._replace(text=bare), *pieces[n + 1 :])
    return ()


def _as_plain(text: str) -> Gap:
    return (Piece("plain", text),) if text else ()


def _has_line_end(gap: Gap) -> bool:
    return any(piece.kind == "line_end" for piece in gap)


def _plain(pieces: Iterable[Piece]) -> Gap:
    return tuple(piece for piece in pieces if piece.kind in ("plain", "number"))


def _marks(gaps: Sequence[Gap], kind: Literal["open", "close"]) -> Gap:
    return tuple(piece for gap in gaps for piece in gap if piece.kind == kind)


def _line_ends(gap: Gap) -> list[int]:
    return [n for n, piece in enumerate(gap) if piece.kind == "line_end"]


def _before_first_line_end(gap: Gap) -> Gap:
    return _plain(gap[: _line_ends(gap)[0]])


def _after_last_line_end(gap: Gap) -> Gap:
    return _plain(gap[_line_ends(gap)[-1] :])


def _line_break(gap: Gap) -> Gap:
    ends = _line_ends(gap)
    kept = gap[ends[0] : ends[-1] + 1]
    if any(piece.kind == "number" for piece in kept):  # a marker with nothing behind it
        return tuple(piece for piece in kept if piece.kind == "line_end")
    return tuple(piece for piece in kept if piece.kind in ("plain", "line_end"))


def _end_of_last_line(text: str) -> int:
    return max((match.end() for match in _LINE_END.finditer(text)), default=0)
