"""Where exactly a claim starts and ends: what wraps several claims stays outside.

A span keeps its pairs whole. A mark at its edge goes to the gap when its partner lies outside
the span, or when it is emphasis around the whole span; a bold lead ("**Hours:** 9 to 5") and
brackets or quotes around one claim stay inside.
"""

import re

from ragmend.text.delimiters import paired_marks

_EMPHASIS = re.compile(r"\*{1,3}|_{1,3}|~~")
_OPENING = re.compile(r"\*{1,3}|_{1,3}|~~|`+|[(\[{«“\"]")
_CLOSING = frozenset('*_~`)]}»”"')
_NEEDS_CARE = frozenset('*_~`()[]{}«»“”",;:-–—')
_EMOTICON = re.compile(r"(?<!\w)[:;=][-']?\Z")


def claim_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span that is left of `text[start:end]` without what belongs to the gap.

    White space, commas, semicolons, colons in front, and free-standing dashes go as well.
    The span must hold a letter or a digit; none is ever cut off.
    """
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if text[start] not in _NEEDS_CARE and text[end - 1] not in _NEEDS_CARE:
        return start, end
    pairs = paired_marks(text, start=start, end=end)
    closed_at = frozenset(pairs.values())
    while True:
        start = _front(text, start, end, pairs)
        end = _back(text, start, end, closed_at)
        inner = _inside_emphasis(text, start, end, pairs)
        if inner is None:
            return start, end
        start, end = inner


def _front(text: str, start: int, end: int, pairs: dict[int, int]) -> int:
    while start not in pairs:
        mark = _OPENING.match(text, start, end)
        character, following = text[start], text[start + 1 : start + 2]
        if mark:
            start = mark.end()
        elif character in ",;:)]}»”" or character.isspace() or _is_dash(character, following):
            start += 1
        else:
            break
    return start


def _back(text: str, start: int, end: int, closed_at: frozenset[int]) -> int:
    while end not in closed_at:
        character, before = text[end - 1], text[max(start, end - 4) : end - 1]
        if character in _CLOSING:
            is_inch = character == '"' and before[-1:].isdigit()
            if is_inch or (character in ")]" and _EMOTICON.search(before)):
                break
        elif (
            not _is_dash(character, before[-1:])
            and character not in ",;([{«“"
            and not character.isspace()
        ):
            break
        end -= 1
    return end


def _is_dash(character: str, neighbour: str) -> bool:
    """Whether a dash stands by itself: "-5 degrees" keeps its sign."""
    return character in "-–—" and neighbour.isspace()


def _inside_emphasis(
    text: str, start: int, end: int, pairs: dict[int, int]
) -> tuple[int, int] | None:
    """Return the span inside emphasis that wraps the whole of `start:end`, if it does."""
    mark = _EMPHASIS.match(text, start, end)
    if mark is None or pairs.get(start) != end:
        return None
    width = mark.end() - mark.start()
    return start + width, end - width
