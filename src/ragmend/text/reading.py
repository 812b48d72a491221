"""A source read once: everything about it that texts are compared with.

Build one `SourceReading` a source and pass it to whatever compares: there is no cache.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise

from ragmend.records import Source
from ragmend.text.fragments import MAX_WINDOW, Fragment, source_fragments
from ragmend.text.names import NameSpan, name_stem, names
from ragmend.text.quantities.numbers import NumberKeys, number_keys, numbers, stated_keys
from ragmend.text.short_names import Abbreviations, read_abbreviations
from ragmend.text.tfidf import FragmentIndex, index_fragments
from ragmend.text.words import Word, content_stems, is_negation, words

PREFIX = 5  # "opera" of "operation" and "operator"
LONGEST_NAME = 8  # in words


class SourceReading:
    """A source's fragments and, computed when first asked for, what they state.

    A fragment of unknown value states nothing: only `tfidf` has it, so that it can be found. A
    window of sentences states nothing that these do not: it is there to be found and compared.
    """

    def __init__(self, source: Source, *, window: int = 1) -> None:
        """Cut the source into fragments and these into words.

        Args:
            source: What texts are compared with.
            window: The most sentences of a window that `tfidf` has; `fragments` has them all,
                so that whoever is given one, by whatever setting, finds it.
        """
        self.fragments: tuple[Fragment, ...] = source_fragments(source, window=MAX_WINDOW)
        self.words_F: list[tuple[Word, ...]] = []  # of a window: placed as in its sentences
        for part in self.fragments:
            inner = (self.words_F[at] for at in self.parts_of(part))
            found = tuple(chain.from_iterable(inner)) if part.is_window else words(part.text)
            self.words_F.append(found)
        self._stated_F: list[tuple[Word, ...]] = [
            () if part.is_unknown or part.is_window else found
            for part, found in zip(self.fragments, self.words_F, strict=True)
        ]
        self._window = window
        self._question = source.question or ""

    @cached_property
    def position_of(self) -> dict[str, int]:
        """Where each fragment id stands among the fragments."""
        return {part.fragment_id: position for position, part in enumerate(self.fragments)}

    @cached_property
    def tfidf(self) -> FragmentIndex:
        """The TF-IDF model fitted on the fragments."""
        indexed = [p for p in self.fragments if not p.is_window or len(p.parts) <= self._window]
        parts_F = [frozenset(self.parts_of(part)) for part in indexed]
        return index_fragments(
            [content_stems(found) for found in self.words_F[: len(indexed)]],
            n_fitted=sum(not part.is_window for part in indexed),
            parts_F=parts_F if any(part.parts for part in indexed) else (),
        )

    def parts_of(self, fragment: Fragment) -> tuple[int, ...]:
        """Return where the parts of a fragment stand; itself, if it is made of none."""
        return tuple(self.position_of[own] for own in fragment.parts or (fragment.fragment_id,))

    @cached_property
    def content_F(self) -> list[frozenset[str]]:  # noqa: N802 - axes are written in capitals
        """The content stems of each fragment."""
        own_F = [frozenset(content_stems(found)) for found in self._stated_F]
        return [
            frozenset().union(*(own_F[at] for at in self.parts_of(part))) if part.is_window else own
            for part, own in zip(self.fragments, own_F, strict=True)
        ]

    @cached_property
    def content(self) -> frozenset[str]:
        """The content stems of the whole source."""
        return frozenset().union(*self.content_F)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The first letters of the content stems: words that share them are mostly akin."""
        return frozenset(stem[:PREFIX] for stem in self.content if len(stem) >= PREFIX)

    @cached_property
    def stems(self) -> frozenset[str]:
        """All stems of the whole source, those of stop words too."""
        return frozenset(word.stem for found in self._stated_F for word in found)

    @cached_property
    def plain_stems(self) -> frozenset[str]:
        """All stems of the whole source, without accents."""
        return frozenset(name_stem(word) for found in self._stated_F for word in found)

    @cached_property
    def name_pairs(self) -> frozenset[tuple[str, str]]:
        """All pairs of words of one name, in order, and of words that stand side by side."""
        pairs: set[tuple[str, str]] = set()
        for part, found in zip(self.fragments, self._stated_F, strict=True):
            pairs.update(pairwise(name_stem(word) for word in found))
            for name in names(part.text, found=found):
                stems = [name_stem(word) for word in name.words]
                for at, stem in enumerate(stems):  # a longer run is a headline
                    pairs.update((stem, later) for later in stems[at + 1 : at + LONGEST_NAME])
        return frozenset(pairs)

    @cached_property
    def abbreviations(self) -> Abbreviations:
        """What the source's names read in short.

        Of a window, whose words its sentences have, only what is short where they meet:
        "vitamin D. Eat".
        """
        parts = zip(self.fragments, self._stated_F, strict=True)
        return read_abbreviations((p.text, found) for p, found in parts if not p.is_unknown)

    @cached_property
    def small_stems(self) -> frozenset[str]:
        """The stems that the source writes without a capital: no names, but titles and kinds."""
        return frozenset(
            name_stem(word)
            for part, found in zip(self.fragments, self._stated_F, strict=True)
            for word in found
            if part.text[word.start].islower()
        )

    def states_name(self, name: NameSpan) -> bool:
        """Tell whether the source has a name: its words, standing together in one name of it.

        "John Jones" is not stated by "John Smith and Mary Jones"; the surname alone is, and
        so is a name without its middle name, and an acronym by its name in full. A word that
        the source also writes small binds to nothing: "Mayor Holt" is stated by "Holt, the
        mayor".
        """
        in_full = [word for word in name.words if not self._is_acronym(word, name)]
        stems = [name_stem(word) for word in in_full]
        if not self.plain_stems.issuperset(stems):
            return False
        is_owner_W = [word.end - word.start > len(word.norm) for word in in_full]  # "Yemen's"
        return all(
            is_owner or pair in self.name_pairs or not self.small_stems.isdisjoint(pair)
            for is_owner, pair in zip(is_owner_W, pairwise(stems), strict=False)
        )

    def _is_acronym(self, word: Word, name: NameSpan) -> bool:
        """Tell whether a word is an acronym of what the source has in full alone."""
        if word.norm not in name.capitals or name_stem(word) in self.plain_stems:
            return False
        return word.norm in self.abbreviations.acronyms

    def has_akin(self, stem: str) -> bool:
        """Tell whether the source has a content word that begins like this one."""
        return len(stem) >= PREFIX and stem[:PREFIX] in self.prefixes

    @cached_property
    def bigrams(self) -> frozenset[tuple[str, str]]:
        """All pairs of neighbouring stems within a fragment."""
        return frozenset(pair for found in self._stated_F for pair in stem_pairs(found))

    @cached_property
    def negates_F(self) -> list[bool]:  # noqa: N802
        """Whether each fragment contains a negation."""
        own_F = [any(is_negation(word.norm) for word in found) for found in self._stated_F]
        return [
            any(own_F[at] for at in self.parts_of(part)) if part.is_window else own
            for part, own in zip(self.fragments, own_F, strict=True)
        ]

    @cached_property
    def number_keys(self) -> NumberKeys:
        """The numbers, dates and times that the source states, see `numbers.is_stated`."""
        stating = (p.text for p in self.fragments if not p.is_unknown and not p.is_window)
        return frozenset[tuple[str, str]]().union(*map(stated_keys, stating))

    @cached_property
    def question_stems(self) -> frozenset[str]:
        """The stems of the question, which is context and never evidence."""
        return frozenset(word.stem for word in words(self._question))

    @cached_property
    def question_number_keys(self) -> frozenset[tuple[str, str]]:
        """The numbers in the question."""
        return number_keys(numbers(self._question))


def read_source(source: Source, *, window: int = 1) -> SourceReading:
    """Read a source once, for any number of comparisons; see `SourceReading`."""
    return SourceReading(source, window=window)


def stem_pairs(found: Sequence[Word]) -> list[tuple[str, str]]:
    """Return the neighbouring stems of a text, in order."""
    return list(pairwise(word.stem for word in found))
