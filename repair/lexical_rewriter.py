"""The embedded rewriter: cuts a claim down to what the source supports, or proposes nothing.

It finds the words, numbers and names of the claim that no source states, and takes out the
smallest phrases that hold them: brackets, phrases set off by commas, prepositional phrases.
What cannot be cut out that way is not rewritten. No word is ever added.
"""

import re
from collections.abc import Iterator, Sequence

from ragmend.records import Claim, Evidence, Source
from ragmend.repair.sentence_form import capitalise, ends_with_stop
from ragmend.scoring import merge_spans, overlaps_any
from ragmend.text.content import needs_support
from ragmend.text.names import names
from ragmend.text.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading, read_source
from ragmend.text.words import words

LEXICAL_REWRITER = "lexical (no language model)"
MIN_WORDS = 4  # a shorter rest is hardly a statement
MIN_WORDS_BEFORE_CUT = 3  # subject and verb stand before the first phrase that may go

_BRACKET = re.compile(r"\s*\([^()]*\)")
_COMMA_PHRASE = re.compile(
    r",\s+(?:which|who|where|when|including|such as|as well as|with|featuring|making|resulting|"
    r"located|known|\w+ing)\b[^,;]*"
)
_PREPOSITION = (
    r"(?:along with|due to|because of|according to|as of|in|at|on|with|without|for|from|by|during|"
    r"after|before|near|since|until|within|around)"
)
# Where a prepositional phrase ends at the latest: the next one, a conjunction, a verb.
_NEXT_PHRASE = (
    rf"(?:{_PREPOSITION}|and|but|or|which|who|that|while|is|are|was|were|has|have|had|will|can|"
    r"could|would)"
)
_PREPOSITIONAL = re.compile(rf"\s+{_PREPOSITION}\s+(?:(?!\s{_NEXT_PHRASE}\s)[^,;()])+")
_LIST_TAIL = re.compile(r",?\s+(?:and|or)\s+(?:\w+(?:['’-]\w+)*\s?){1,4}(?=[.,;!?]|$)")
_PATTERNS = (_BRACKET, _COMMA_PHRASE, _PREPOSITIONAL, _LIST_TAIL)
_SPACE_BEFORE_POINT = re.compile(r"\s+([.,;:!?])")
_DOUBLED_POINT = re.compile(r",\s*([.,;:!?])")


class LexicalRewriter:
    """Rewrites by cutting; keeps the reading of the source it was last asked about."""

    def __init__(self) -> None:
        """Start without a source."""
        self._last: tuple[Source, SourceReading] | None = None

    @property
    def name(self) -> str:
        """The name that stands in tables."""
        return LEXICAL_REWRITER

    def rewrite(self, source: Source, claim: Claim, evidence: Sequence[Evidence]) -> str | None:
        """Cut a claim down to what the source states; None when no cut does it."""
        if self._last is None or self._last[0] is not source:
            self._last = (source, read_source(source))
        # A rewritten clause stands as a sentence of its own: it no longer continues another.
        text = claim.text[len(claim.coordinator or "") :].lstrip()
        return cut_down(text, self._last[1])


def cut_down(text: str, reading: SourceReading) -> str | None:
    """Take the phrases out of a claim that hold what the source does not state.

    Returns:
        The rest, or None: nothing is unsupported by word, number or name; something
        unsupported stands outside every phrase that may go; or too little is left.
    """
    unsupported = list(_unsupported(text, reading))
    if not unsupported:
        return None
    phrases = sorted(_phrases(text), key=lambda span: (span[1] - span[0], span))
    cuts = []
    for start, end in unsupported:
        holder = next((p for p in phrases if p[0] <= start and end <= p[1]), None)
        if holder is None:
            return None
        cuts.append(holder)
    rest = _without(text, merge_spans(cuts))
    is_whole = len(words(rest)) >= MIN_WORDS and not _breaks_a_pair(text, rest)
    return rest if is_whole else None


def _unsupported(text: str, reading: SourceReading) -> Iterator[tuple[int, int]]:
    found = numbers(text)
    numeric = [(number.start, number.end) for number in found]
    yield from ((n.start, n.end) for n in found if not is_stated(n, reading.number_keys))
    for name in names(text):
        if any(word.stem not in reading.stems for word in name.words):
            yield name.start, name.end
    for word in words(text):
        is_known = word.stem in reading.stems or overlaps_any(word.start, word.end, numeric)
        if needs_support(word) and not is_known:
            yield word.start, word.end


def _phrases(text: str) -> Iterator[tuple[int, int]]:
    """Yield the phrases that may go: behind the subject, the closing stop left alone."""
    spans = [(word.start, word.end) for word in words(text)]
    if len(spans) <= MIN_WORDS_BEFORE_CUT:
        return
    earliest = spans[MIN_WORDS_BEFORE_CUT - 1][1]
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            end = match.start() + len(match.group().rstrip(" .!?\"'”’"))
            if match.start() >= earliest and end > match.start():
                yield match.start(), end


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in cuts:
        pieces.append(text[position:start])
        position = end
    rest = "".join([*pieces, text[position:]])
    rest = _DOUBLED_POINT.sub(r"\1", _SPACE_BEFORE_POINT.sub(r"\1", rest))
    rest = capitalise(" ".join(rest.split()))
    if ends_with_stop(rest):
        return rest
    return rest.rstrip(" ,;:–—-") + ("." if ends_with_stop(text) else "")


def _breaks_a_pair(text: str, rest: str) -> bool:
    """Tell whether a cut took one of two quotes, brackets or emphasis marks and left the other."""
    return any(rest.count(mark) % 2 > text.count(mark) % 2 for mark in ('"', "**")) or any(
        rest.count(opening) - rest.count(closing) != text.count(opening) - text.count(closing)
        for opening, closing in ("()", "[]", "“”")
    )
