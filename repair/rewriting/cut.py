"""One cut: what goes, what stands in its place, and the text without it."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragmend.repair.assembling.sentence_form import capitalise, ends_with_stop
from ragmend.repair.rewriting.syntax import STOPS
from ragmend.text.words import words

_SPACE_BEFORE_POINT = re.compile(r"(?<!\s)\s++(?=[.,;:!?])")
_ARTICLE_END = re.compile(r"(?<![\w'’-])an?\s*\Z", re.IGNORECASE)
# Written with a vowel but spoken without, and the other way round.
_VOWEL_SOUND = re.compile(
    r"(?!eu|ew|on(?:e|ce)\b|u(?:ni(?!n|m)|s[aeiu]|til|rin|biq|tens|top))[aeiou]"
    r"|h(?:our|onest|onor|onour|eir)|8|11\b|18\b",
    re.IGNORECASE,
)
_STOP_BEFORE_BRACKET = re.compile(r"[.!?] ?\([^()]*+\)\.?\Z")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
_TWINS = ('"', "*", "_")


class Edit(NamedTuple):
    """One replacement: `text[start:end]` becomes `put`."""

    start: int
    end: int
    put: str


class Cut(NamedTuple):
    """A phrase that may go.

    Attributes:
        start: Where it starts.
        end: Where it ends.
        put: What joins the rest: nothing, or a blank.
        also: What else has to change, elsewhere in the claim: "are" to "is".
    """

    start: int
    end: int
    put: str = ""
    also: tuple[Edit, ...] = ()

    def holds(self, span: tuple[int, int]) -> bool:
        """Tell whether a span goes with this cut."""
        return self.start <= span[0] and span[1] <= self.end


def without(text: str, cut: Cut, *, is_known: Callable[[str], bool]) -> str | None:
    """Return a text without a phrase; None where that takes a word that is not known.

    Args:
        text: A claim.
        cut: What goes from it.
        is_known: Whether a word stands in the claim or in its source.
    """
    edits = [Edit(cut.start, cut.end, cut.put), *cut.also, *_article_edits(text, cut)]
    if not all(is_known(word.norm) for edit in edits for word in words(edit.put)):
        return None
    rest = _with_stop(tidy(_edited(text, edits)), text)
    return None if _breaks_a_pair(text, rest) else rest


def tidy(text: str) -> str:
    """Return a text with single blanks, none before a point, and a capital."""
    return capitalise(" ".join(_SPACE_BEFORE_POINT.sub("", text).split()))


def _with_stop(rest: str, text: str) -> str:
    """Close a rest as its text was closed."""
    if ends_with_stop(rest) or _STOP_BEFORE_BRACKET.search(rest):
        return rest
    is_closed = ends_with_stop(text) or _STOP_BEFORE_BRACKET.search(text)
    return rest.rstrip(STOPS + ",;:–—-") + ("." if is_closed else "")


def _edited(text: str, edits: Sequence[Edit]) -> str:
    pieces, position = [], 0
    for start, end, put in sorted(edits):
        pieces += [text[position:start], put]
        position = end
    return "".join([*pieces, text[position:]])


def _article_edits(text: str, cut: Cut) -> list[Edit]:
    """Return the change of "a" or "an" that stands before a cut, if the next word wants it."""
    article = None if cut.put else _ARTICLE_END.search(text, max(0, cut.start - 5), cut.start)
    following = text[cut.end :].lstrip()
    if article is None or not following:
        return []
    wanted = "an" if _VOWEL_SOUND.match(following) else "a"
    written = article[0].rstrip()
    if written.lower() == wanted:
        return []
    end = article.start() + len(written)
    return [Edit(article.start(), end, capitalise(wanted) if written[0].isupper() else wanted)]


def _breaks_a_pair(text: str, rest: str) -> bool:
    """Tell whether a cut took one of two quotes, brackets or emphasis marks and left the other."""
    return any(rest.count(mark) % 2 > text.count(mark) % 2 for mark in _TWINS) or any(
        rest.count(left) - rest.count(right) != text.count(left) - text.count(right)
        for left, right in _PAIRS
    )
