"""The embedded rewriter: cuts a claim down to what the source supports, or proposes nothing.

It finds the words, numbers and names of the claim that no source states, and takes out the
phrases that hold them, one after the other (see `ragmend.repair.rewriting.cuts`). What cannot be
cut out that way is not rewritten. No word is added that stands in neither claim nor source.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Literal, NamedTuple

from ragmend.records import Claim, Evidence, Source
from ragmend.repair.rewriting.cut import Cut, tidy, without
from ragmend.repair.rewriting.cuts import cuts_of
from ragmend.repair.rewriting.ending_cuts import MIN_WORDS
from ragmend.repair.rewriting.number_swaps import with_stated_number
from ragmend.repair.rewriting.polarity import contradicts_a_field
from ragmend.repair.rewriting.syntax import NEVER, is_imperative, read_claim
from ragmend.repair.rewriting.word_lists import COMMONPLACES, CONNECTIVES, EMPTY_STEMS
from ragmend.text.content import needs_support
from ragmend.text.names import name_stem, names
from ragmend.text.quantities.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading, read_source
from ragmend.text.words import Word, is_content, is_negation, words

LEXICAL_REWRITER = "lexical (no language model)"
LONGEST = 2_000  # characters; what is longer is no sentence
MOST_CUTS = 6
MOST_TRIES = 3  # of the phrases that hold the first unsupported word, from the shortest
MIN_CONTENT = 2

Strictness = Literal["every word", "telling words", "but a few"]
STRICTNESS: tuple[Strictness, ...] = ("every word", "telling words", "but a few")
MOST_SPARED = 2  # words that may stay though no source has them
STATED_A_SPARED = 4  # words that the source has, for each of those

_QUANTIFIERS = frozenset("all few many most several".split())
_NOT_PROSE = ("\n", "`", "|", "\t")


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

    A number that the source gives otherwise is corrected. Else everything unsupported goes;
    where that is not possible, all but the words that answers use whatever their source says;
    where that is not either, all but one or two words more in a rest that is supported else.

    Returns:
        The rest, or None: nothing is unsupported by word, number or name; something
        unsupported stands outside every phrase that may go; too little is left; the source
        says the opposite of the rest; or the text is code or a table.
    """
    if len(text) > LONGEST or any(mark in text for mark in _NOT_PROSE):
        return None
    if (corrected := with_stated_number(text, reading)) is not None:
        return corrected
    workbench = _Workbench(text, reading)
    rests = (workbench.cut(text, strictness, MOST_CUTS) for strictness in STRICTNESS)
    rest = next((rest for rest in rests if rest is not None), None)
    if rest is None or _norms(rest) == _norms(text) or contradicts_a_field(rest, reading):
        return None
    return rest


class _Draft(NamedTuple):
    """A text on its way: what it can lose, and what it says that no source states.

    Attributes:
        cuts: The phrases that it can lose, the shortest first.
        facts: Where unstated numbers and names stand.
        strange: Where unstated words stand.
        weak: Where unstated words stand that most answers use, or that are akin to stated ones.
        n_stated: How many words are stated.
    """

    cuts: list[Cut]
    facts: list[tuple[int, int]]
    strange: list[tuple[int, int]]
    weak: list[tuple[int, int]]
    n_stated: int


class _Workbench:
    """Cuts one claim; each text that comes up is read once, however often it does."""

    def __init__(self, text: str, reading: SourceReading) -> None:
        self._reading = reading
        self._known = frozenset(_norms(text))
        self._drafts: dict[str, _Draft] = {}

    def cut(self, text: str, strictness: Strictness, n_left: int) -> str | None:
        """Cut until nothing is left that must go; of several ways the one that takes least."""
        if text not in self._drafts:
            self._drafts[text] = _draft(text, self._reading)
        draft = self._drafts[text]
        spans = _must_go(draft, strictness)
        fixed = [span for span in spans if not any(cut.holds(span) for cut in draft.cuts)]
        if len(fixed) > _n_spared(draft, strictness) or not set(draft.facts).isdisjoint(fixed):
            return None
        if len(fixed) == len(spans):
            return tidy(text) if _says_enough(text) else None
        if not n_left:
            return None
        first = next(span for span in spans if span not in fixed)
        holders = islice((cut for cut in draft.cuts if cut.holds(first)), MOST_TRIES)
        shorter = (without(text, cut, is_known=self._knows) for cut in holders)
        rests = (self.cut(rest, strictness, n_left - 1) for rest in shorter if rest is not None)
        return next((rest for rest in rests if rest is not None), None)

    def _knows(self, norm: str) -> bool:
        """Tell whether a word stands in the claim or in its source."""
        found_F = self._reading.words_F
        return norm in self._known or any(norm == word.norm for found in found_F for word in found)


def _draft(text: str, reading: SourceReading) -> _Draft:
    found, telling = numbers(text), words(text)
    numeric = {at for number in found for at in range(number.start, number.end)}
    facts = [(n.start, n.end) for n in found if not is_stated(n, reading.number_keys)]
    facts += [(n.start, n.end) for n in names(text, found=telling) if not reading.states_name(n)]
    telling = tuple(w for w in telling if _is_telling(w) and w.start not in numeric)
    unstated = [w for w in telling if name_stem(w) not in reading.plain_stems]
    strange: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    for word in unstated:
        is_weak = word.stem in COMMONPLACES or reading.has_akin(word.stem)
        (weak if is_weak else strange).append((word.start, word.end))
    cuts = cuts_of(text) if facts or unstated else []
    return _Draft(cuts, facts, strange, weak, len(telling) - len(unstated))


def _is_telling(word: Word) -> bool:
    return needs_support(word) and word.norm not in CONNECTIVES


def _must_go(draft: _Draft, strictness: Strictness) -> list[tuple[int, int]]:
    weak = draft.weak if strictness == "every word" else []
    return sorted([*draft.facts, *draft.strange, *weak])


def _n_spared(draft: _Draft, strictness: Strictness) -> int:
    """Return how many words may stay that no source states."""
    return min(MOST_SPARED, draft.n_stated // STATED_A_SPARED) if strictness == "but a few" else 0


def _norms(text: str) -> list[str]:
    return [word.norm for word in words(text)]


def _says_enough(text: str) -> bool:
    found = words(text)
    least = MIN_WORDS - is_imperative(_norms(text))  # a request has no subject
    content = [word for word in found if is_content(word.norm)]
    return len(found) >= least and len(content) >= MIN_CONTENT and _says_something(text)


def _says_something(text: str) -> bool:
    """Tell whether a predicate is more than "offers food" or "has received reviews"."""
    claim = read_claim(text)
    begin = claim.starts(claim.finite) if claim.finite < NEVER else 0
    predicate = [word for word in claim.words if word.start >= begin]
    return any(_tells(word.norm) and word.stem not in EMPTY_STEMS for word in predicate)


def _tells(norm: str) -> bool:
    return is_content(norm) or is_negation(norm) or norm in _QUANTIFIERS
