"""What a source's number without a unit may count: "20 were hurt" states no 20 dollars.

Behind it may stand nothing, and then it may be of any unit ("the score was 20."); a unit in
short or at a distance ("350 F", "15 more minutes"); or some other word, and then it counts what
that word says. The number of a list's item, a house or a price range counts nothing at all.
"""

import re
from collections.abc import Iterator, Sequence

from ragmend.text.quantities.types import Number
from ragmend.text.quantities.units import read_unit
from ragmend.text.words import fold

# Units that are not read in any text, since "c" and "in" are other things too.
_IN_SHORT = (
    (re.compile(r" ?(?:A?[°º])? ?F\b(?!['’-])"), Number(0, 0, "number", "", "degree Fahrenheit")),
    (re.compile(r" ?(?:A?[°º])? ?C\b(?!['’-])"), Number(0, 0, "number", "", "degree Celsius")),
    (re.compile(r" ?[cC]\b(?!['’-])"), Number(0, 0, "number", "", "cup")),
    (re.compile(r"[ -]?in\."), Number(0, 0, "number", "", "inch")),
    (re.compile(r" percentage\b(?! point)"), Number(0, 0, "percent", "")),
    (re.compile(r" (?:and|or) (?:over|older|younger)\b"), Number(0, 0, "number", "", "year old")),
)
_BETWEEN = re.compile(r"\)?(?: or)? (?:more|so|additional|extra|full|further)\b|\)")
_WORD = re.compile(r"\s*[/–—-]?\w")
# "20 minutes for white rice and 40 for brown rice"
_ELLIPSIS = re.compile(r" (?:and|at|by|for|from|if|in|on|or|to|when|with)\b")

_ITEM = re.compile(r"(?:\A|[\n.!?…:])\s*\(?\Z")
_BEHIND_AN_ITEM = re.compile(r"[.)]?\s+[\"'“‘]?(?=[A-Z])|\.?(?=[A-Z][a-z])")
_FAR_BEHIND_AN_ITEM = re.compile(r"[.)]?\s{2,}(?=[A-Z])")
_LONGEST_ITEM = 2  # digits
_LONGEST_HOUSE_NUMBER = 5
_STREET = (
    r"Alley|Avenue|Ave|Boulevard|Blvd|Circle|Cir|Court|Ct|Cove|Drive|Dr|Expressway|Freeway|Fwy"
    r"|Highway|Hwy|Lane|Ln|Parkway|Pkwy|Place|Pl|Plaza|Plz|Road|Rd|Square|Sq|Street|St|Terrace"
    r"|Trail|Way"
)
_HOUSE = re.compile(
    r"[A-Z]?,? (?:(?:[NSEW]|NE|NW|SE|SW|North|South|East|West)\b\.? )?"
    rf"(?:(?:[A-Z][\w'’]*|\d{{1,3}}(?:st|nd|rd|th))\.? ){{1,3}}(?:{_STREET})\b"
)
_LABEL_BEFORE = re.compile(r"(?:\b(?:address|located at|price range):? |\[)\Z", re.IGNORECASE)
_LOOK_BACK = 16
_LONGEST_UNIT = 24


def readings(text: str, number: Number, *, before: Sequence[Number], end: int) -> Iterator[Number]:
    """Yield a source's bare number as all that it may count; itself where that is anything.

    Args:
        text: The source's text as written.
        number: One of its numbers without kind and unit.
        before: The few numbers before it.
        end: Where it ends, or the range that it begins.
    """
    if _is_label(text, number):
        return
    units = list(_units_behind(text, end))
    if not units and not _WORD.match(text, end):
        yield number
        return
    if _ELLIPSIS.match(text, end):
        units += [unit for unit in before if unit.unit or unit.kind == "percent"][-1:]
    yield number._replace(unit="count")
    for unit in units:
        yield number._replace(kind=unit.kind, unit=unit.unit)


def _units_behind(text: str, at: int) -> Iterator[Number]:
    """Yield the units that stand behind a number in short, or behind a word: "15 more minutes"."""
    yield from (unit for pattern, unit in _IN_SHORT if pattern.match(text, at))
    if between := _BETWEEN.match(text, at):
        behind = read_unit(fold(text[between.end() : between.end() + _LONGEST_UNIT]), 0)
        if behind is not None:
            yield Number(0, 0, behind.kind, "", behind.unit)


def _is_label(text: str, number: Number) -> bool:
    """Tell whether a number counts an item, a house or the signs of a price range."""
    before = text[max(0, number.start - _LOOK_BACK) : number.start]
    if _LABEL_BEFORE.search(before):
        return True
    n_digits = number.end - number.start
    if not text[number.start : number.end].isdecimal() or n_digits > _LONGEST_HOUSE_NUMBER:
        return False
    if _HOUSE.match(text, number.end):
        return True
    is_cut_off = number.start > _LOOK_BACK  # the window's edge is not the start of the text
    is_behind_a_stop = _ITEM.search("x" + before if is_cut_off else before)
    pattern = _BEHIND_AN_ITEM if is_behind_a_stop else _FAR_BEHIND_AN_ITEM
    return n_digits <= _LONGEST_ITEM and pattern.match(text, number.end) is not None
