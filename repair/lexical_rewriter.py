"""The embedded rewriter: cuts a claim down to what the source supports, or proposes nothing.

It finds the words, numbers and names of the claim that no source states, and takes out the
phrases that hold them (see `ragmend.repair.claim_cuts`). What cannot be cut out that way is
not rewritten. No word is ever added.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ragmend.records import Claim, Evidence, Source
from ragmend.repair.claim_cuts import MIN_WORDS, STOPS, Cuts, cuts_of
from ragmend.repair.sentence_form import capitalise, ends_with_stop
from ragmend.scoring import merge_spans
from ragmend.text.content import needs_support
from ragmend.text.names import name_stem, names
from ragmend.text.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading, read_source
from ragmend.text.words import words

LEXICAL_REWRITER = "lexical (no language model)"

_NOT_PROSE = ("\n", "`", "|", "\t")
_SPACE_BEFORE_POINT = re.compile(r"(?<!\s)\s++(?=[.,;:!?])")


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
        unsupported stands outside every phrase that may go; too little is left; or the text
        is code or a table.
    """
    if any(mark in text for mark in _NOT_PROSE):
        return None
    unsupported = sorted(_unsupported(text, reading))
    spans = _holders(unsupported, cuts_of(text)) if unsupported else None
    if spans is None:
        return None
    rest = _without(text, merge_spans(spans))
    is_whole = len(words(rest)) >= MIN_WORDS and not _breaks_a_pair(text, rest)
    return rest if is_whole else None


def _unsupported(text: str, reading: SourceReading) -> Iterator[tuple[int, int]]:
    found = numbers(text)
    numeric = {at for number in found for at in range(number.start, number.end)}
    yield from ((n.start, n.end) for n in found if not is_stated(n, reading.number_keys))
    for name in names(text):
        if not reading.states_name(name):
            yield name.start, name.end
    for word in words(text):
        is_known = name_stem(word) in reading.plain_stems or word.start in numeric
        if needs_support(word) and not is_known:
            yield word.start, word.end


def _holders(unsupported: Sequence[tuple[int, int]], cuts: Cuts) -> list[tuple[int, int]] | None:
    """Return the phrases that hold all unsupported spans; an end from the first it needs to."""
    holders = []
    for start, end in unsupported:
        at = bisect_right(cuts.phrases, (start, end)) - 1
        if at >= 0 and end <= cuts.phrases[at][1]:
            holders.append(cuts.phrases[at])
            continue
        at = bisect_right(cuts.ends, start) - 1
        return [*holders, (cuts.ends[at], cuts.stop)] if at >= 0 else None
    return holders


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    rest = "".join([*pieces, text[position:]])
    rest = capitalise(" ".join(_SPACE_BEFORE_POINT.sub("", rest).split()))
    if ends_with_stop(rest):
        return rest
    return rest.rstrip(STOPS + ",;:–—-") + ("." if ends_with_stop(text) else "")


def _breaks_a_pair(text: str, rest: str) -> bool:
    """Tell whether a cut took one of two quotes, brackets or emphasis marks and left the other."""
    return any(rest.count(mark) % 2 > text.count(mark) % 2 for mark in ('"', "*", "_")) or any(
        rest.count(opening) - rest.count(closing) != text.count(opening) - text.count(closing)
        for opening, closing in ("()", "[]", "{}", "“”")
    )
