"""Where exactly a claim starts and ends: what wraps several claims stays outside.

A span keeps its pairs whole. A mark goes to the gap when its partner lies outside the span and
no word of the claim stands between it and the edge, with what is left of it there: `🎉 "It is
one. It is two."` is two claims and the gaps `🎉 "` and `"`. So does emphasis around the whole
span; a bold lead ("**Hours:** 9 to 5") and brackets or quotes around one claim stay inside. A
mark between words stays where it is: a long quotation that opens in mid-sentence ("He wrote:
“It is one. …") opens in one claim and closes at another.
"""

import re

from ragmend.text.delimiters import ELISION, mark_at, paired_marks
from ragmend.text.lines import INVISIBLE, STOPS

_EMPHASIS = re.compile(r"\*{1,3}|_{1,3}|~~(?!~)")
_OPENING = re.compile(r"\*{1,3}|_{1,3}|~{2,3}|`+|[(\[{«“„\"「『（【《〈]|['‘](?=\w)")
_CLOSING = re.compile(r"\*{1,3}|_{1,3}|~{2,3}|`+|[)\]}»”“\"」』）】《〉]|(?<=[.,!?…])['’]")
_LOOSE_IN_FRONT = frozenset(",;:)]}»”’」』）】》〉，；：、")
_LOOSE_BEHIND = frozenset(",;([{«“„「『（【《〈，；、")
_EMOTICON = re.compile(r"(?<!\w)[:;=][-']?\Z")
_BLANK = re.compile(rf"[\s{INVISIBLE}]")


def claim_edges(text: str, start: int, end: int, *, partners: dict[int, int]) -> tuple[int, int]:
    """Return the span that is left of `text[start:end]` without what belongs to the gap.

    White space, commas, semicolons, colons in front, and free-standing dashes go as well.
    The span must hold a letter or a digit; none is ever cut off.

    Args:
        text: The answer.
        start: Where the sentence or clause begins.
        end: Where it ends.
        partners: The pairs of marks of the whole answer (`mark_partners`).
    """
    start, end = _without_blanks(text, start, end)
    if text[start].isalnum() and _ends_plainly(text, end):
        return start, end
    start, end = _without_halves(text, start, end, partners)
    pairs = paired_marks(text, start=start, end=end)
    closed_at = frozenset(pairs.values())
    while True:
        start = _front(text, start, end, pairs)
        end = _back(text, start, end, closed_at)
        inner = _inside_emphasis(text, start, end, pairs)
        if inner is None:
            return start, end
        start, end = inner


def _without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Take white space and invisible characters off both ends."""
    while start < end and _BLANK.match(text, start):
        start += 1
    while start < end and _BLANK.match(text, end - 1):
        end -= 1
    return start, end


def _ends_plainly(text: str, end: int) -> bool:
    """Whether a span ends in a letter or digit, or in one with a stop behind it."""
    last = text[end - 1]
    return last.isalnum() or (last in STOPS and text[end - 2].isalnum())


def _without_halves(text: str, start: int, end: int, partners: dict[int, int]) -> tuple[int, int]:
    """Take off both ends, up to a mark whose partner lies outside and no word in between."""
    first, last = _word_edges(text, start, end)
    halves = [
        at
        for at in (*range(start, first), *range(last, end))
        if at in partners and not start <= partners[at] < end
    ]
    start = max((at + len(mark_at(text, at)) for at in halves if at < first), default=start)
    return start, min((at for at in halves if at >= last), default=end)


def _word_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the first word starts and the last ends."""
    first, last = start, end
    while first < end and not text[first].isalnum():
        first += 1
    while last > first and not text[last - 1].isalnum():
        last -= 1
    return first, last


def _front(text: str, start: int, end: int, pairs: dict[int, int]) -> int:
    """Return the start behind opening marks that nothing closes, before word or pair."""
    word, _ = _word_edges(text, start, end)
    pair = next((at for at in range(start, word) if at in pairs), min(word + 1, end))
    for mark in _OPENING.finditer(text, start, pair):
        if not _is_elision(text, mark):
            start = mark.end()
    while start < word and start not in pairs:
        character, following = text[start], text[start + 1]
        is_loose = character in _LOOSE_IN_FRONT or _BLANK.match(character)
        if not is_loose and not _is_dash(character, following):
            break
        start += 1
    return start


def _back(text: str, start: int, end: int, closed_at: frozenset[int]) -> int:
    """Return the end before closing marks that nothing opened, behind word or pair."""
    _, word = _word_edges(text, start, end)
    pair = next((at for at in range(end, word, -1) if at in closed_at), word)
    loose = (mark for mark in _CLOSING.finditer(text, pair, end) if not _is_sign(text, start, mark))
    end = next((mark.start() for mark in loose), end)
    while end > word and end not in closed_at:
        character, before = text[end - 1], text[end - 2]
        is_loose = character in _LOOSE_BEHIND or _BLANK.match(character)
        if not is_loose and not _is_dash(character, before):
            break
        end -= 1
    return end


def _is_elision(text: str, mark: re.Match[str]) -> bool:
    """Whether an apostrophe begins a word, as in "'tis"."""
    return mark.group() in "'‘" and ELISION.match(text, mark.end()) is not None


def _is_sign(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a mark closes nothing: the inches of 24", the bracket of an emoticon."""
    before = text[max(start, mark.start() - 3) : mark.start()]
    if mark.group() == '"':
        return before[-1:].isdigit()
    return mark.group() in ")]" and _EMOTICON.search(before) is not None


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
