"""A source read once: everything about it that texts are compared with.

Build one `SourceReading` a source and pass it to whatever compares: there is no cache.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, pairwise

from ragmend.records import Source
from ragmend.text.fragments import Fragment, source_fragments
from ragmend.text.names import NameSpan, name_stem, names
from ragmend.text.numbers import number_keys, numbers
from ragmend.text.tfidf import FragmentIndex, index_fragments
from ragmend.text.words import Word, content_stems, is_negation, words

PREFIX = 5  # "opera" of "operation" and "operator"


class SourceReading:
    """A source's fragments and, computed when first asked for, what they state.

    A fragment of unknown value states nothing: only `tfidf` has it, so that it can be found.
    """

    def __init__(self, source: Source) -> None:
        """Cut the source into fragments and these into words."""
        self.fragments: tuple[Fragment, ...] = source_fragments(source)
        self.words_F: list[tuple[Word, ...]] = [words(part.text) for part in self.fragments]
        self._stated_F: list[tuple[Word, ...]] = [
            () if part.is_unknown else found
            for part, found in zip(self.fragments, self.words_F, strict=True)
        ]
        self._question = source.question or ""

    @cached_property
    def position_of(self) -> dict[str, int]:
        """Where each fragment id stands among the fragments."""
        return {part.fragment_id: position for position, part in enumerate(self.fragments)}

    @cached_property
    def tfidf(self) -> FragmentIndex:
        """The TF-IDF model fitted on the fragments."""
        return index_fragments([content_stems(found) for found in self.words_F])

    @cached_property
    def content_F(self) -> list[frozenset[str]]:  # noqa: N802 - axes are written in capitals
        """The content stems of each fragment."""
        return [frozenset(content_stems(found)) for found in self._stated_F]

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
                pairs.update(combinations((name_stem(word) for word in name.words), 2))
        return frozenset(pairs)

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
        so is a name without its middle name. A word that the source also writes small binds
        to nothing: "Mayor Holt" is stated by "Holt, the mayor".
        """
        stems = [name_stem(word) for word in name.words]
        if not self.plain_stems.issuperset(stems):
            return False
        is_owner_W = [word.end - word.start > len(word.norm) for word in name.words]  # "Yemen's"
        return all(
            is_owner or pair in self.name_pairs or not self.small_stems.isdisjoint(pair)
            for is_owner, pair in zip(is_owner_W, pairwise(stems), strict=False)
        )

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
        return [any(is_negation(word.norm) for word in found) for found in self._stated_F]

    @cached_property
    def number_keys(self) -> frozenset[tuple[str, str]]:
        """The numbers, dates and times that the source states, see `numbers.is_stated`."""
        stating = (part.text for part in self.fragments if not part.is_unknown)
        return number_keys(found for text in stating for found in numbers(text))

    @cached_property
    def question_stems(self) -> frozenset[str]:
        """The stems of the question, which is context and never evidence."""
        return frozenset(word.stem for word in words(self._question))

    @cached_property
    def question_number_keys(self) -> frozenset[tuple[str, str]]:
        """The numbers in the question."""
        return number_keys(numbers(self._question))


def read_source(source: Source) -> SourceReading:
    """Read a source once, for any number of comparisons."""
    return SourceReading(source)


def stem_pairs(found: Sequence[Word]) -> list[tuple[str, str]]:
    """Return the neighbouring stems of a text, in order."""
    return list(pairwise(word.stem for word in found))
