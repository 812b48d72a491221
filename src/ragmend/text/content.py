"""Which words of a statement its source should have."""

from collections.abc import Iterable

from ragmend.text.quantities.numbers import SPELLED_NUMBERS
from ragmend.text.words import ATTRIBUTION_WORDS, Word, is_content, stem

# Words by which an answer reports what a source says or holds; the source says it without
# them: reporting verbs (cf. Thompson & Ye, "Evaluation in the reporting verbs used in academic
# papers", 1991), the people reported, and how reviews are summed up.
_REPORTING_WORDS = """
    acknowledge advise allege appear appreciate argue assert believe cite claim comment complain
    conclude confirm consider criticize describe discuss emphasize explain express highlight
    imply indicate praise recommend refer report say seem specify stress suggest warn
    author diner patron reader visitor
    complaint concern criticism experience feedback mixed negative opinion positive word
"""
_REPORTING_STEMS = frozenset(stem(word) for word in _REPORTING_WORDS.split())


def supportable_stems(found: Iterable[Word]) -> list[str]:
    """Return the stems of the words that a source should have, in order, with repetitions."""
    return [word.stem for word in found if needs_support(word)]


def needs_support(word: Word) -> bool:
    """Tell whether a source should have a word that a statement uses.

    It should have content words, but neither words by which an answer talks about its source
    nor numbers, which are compared by value (`text.quantities`) and not by spelling.
    """
    norm = word.norm
    if not is_content(norm) or norm in ATTRIBUTION_WORDS or word.stem in _REPORTING_STEMS:
        return False
    return not norm[0].isdigit() and norm not in SPELLED_NUMBERS
