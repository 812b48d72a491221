"""A source that is too long for a detector loses whole sentences, from its end; nothing else.

The rule is the same in training and in use: a detector is asked what it was trained on. Question
and answer are never cut. How many sentences (of structured sources: values) went is recorded.
"""

from collections.abc import Callable
from typing import NamedTuple

from ragmend.llm.fitting import source_text
from ragmend.llm.pieces import cut_source
from ragmend.records import Source


class ShortSource(NamedTuple):
    """A source as a detector sees it, and how many pieces of it were left out."""

    text: str
    n_left_out: int


def shorten_source(source: Source, fits: Callable[[str], bool]) -> ShortSource | None:
    """Drop pieces of a source from its end until what is left fits.

    Args:
        source: Text or fields; see `ragmend.llm.pieces` for what a piece is.
        fits: Whether a detector's whole input fits with the source as this text.

    Returns:
        As much of the source as fits, by bisection over the number of pieces; None where not even
        its first piece does, for an answer that is held against nothing is not judged.

    Source: arXiv 2608.29307, section 3.1 (2,048 tokens); what is dropped is our choice.
    """
    whole = source_text(source)
    if fits(whole):
        return ShortSource(whole, 0)
    pieces = cut_source(source)
    n_pieces = len(pieces.texts)
    # The first `low` pieces are known to fit, the first `high` not to.
    low, high = 0, n_pieces
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(pieces.show(range(middle))) else (low, middle)
    if low == 0:
        return None
    return ShortSource(pieces.show(range(low)), n_pieces - low)
