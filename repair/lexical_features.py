"""What the lexical verifier measures of a claim against its source.

Only the claim and its source (with the evidence drawn from it) are looked at: not the rest
of the answer, not the claim's place in it, not who wrote it.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragmend.text.names import names
from ragmend.text.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading, stem_pairs
from ragmend.text.tfidf import Match
from ragmend.text.words import ATTRIBUTION_WORDS, Word, is_content, is_negation, words


class ClaimFeatures(NamedTuple):
    """The measurements, in the order of the coefficients.

    Attributes:
        coverage_source: Share of the claim's content words that the source has; 1 if none.
        coverage_best: The same in the best fragment.
        coverage_union: The same in all evidence fragments together.
        bigram_overlap: Share of the claim's word pairs that stand side by side in the source.
        cosine_best: TF-IDF cosine of the best fragment; 0 without evidence.
        missing_words: Log of 1 + the content words that the source lacks, and to which none of
            its words is akin ("operator" to "operation").
        asked_share: Share of the words that the source lacks which the question has.
        unsupported_numbers: Log of 1 + the numbers, dates and times that the source lacks.
        supported_numbers: Log of 1 + those that it has.
        unsupported_names: Log of 1 + the words of names that it lacks.
        negation_mismatch: Whether just one of claim and best fragment negates.
        attribution_share: Share of words about the source itself ("passage", "according").
        content_share: Share of words that carry content.
        length: Log of 1 + the words.
    """

    coverage_source: float
    coverage_best: float
    coverage_union: float
    bigram_overlap: float
    cosine_best: float
    missing_words: float
    asked_share: float
    unsupported_numbers: float
    supported_numbers: float
    unsupported_names: float
    negation_mismatch: float
    attribution_share: float
    content_share: float
    length: float


def claim_features(reading: SourceReading, text: str, matches: Sequence[Match]) -> ClaimFeatures:
    """Measure one claim or edited text against its source.

    Args:
        reading: The source.
        text: The claim; one without any content word counts as wholly covered.
        matches: Its evidence, best first; may be empty.
    """
    found = words(text)
    content = [word.stem for word in found if _carries_content(word)]
    best = reading.content_F[matches[0].position] if matches else frozenset[str]()
    union = frozenset().union(*(reading.content_F[match.position] for match in matches))
    missing = [stem for stem in content if stem not in reading.content]
    n_stated, n_unstated = _count_numbers(reading, text)
    return ClaimFeatures(
        coverage_source=_share(stem in reading.content for stem in content),
        coverage_best=_share(stem in best for stem in content),
        coverage_union=_share(stem in union for stem in content),
        bigram_overlap=_share(pair in reading.bigrams for pair in stem_pairs(found)),
        cosine_best=matches[0].score if matches else 0.0,
        missing_words=math.log1p(sum(not reading.has_akin(stem) for stem in missing)),
        asked_share=_share((stem in reading.question_stems for stem in missing), empty=0.0),
        unsupported_numbers=math.log1p(n_unstated),
        supported_numbers=math.log1p(n_stated),
        unsupported_names=math.log1p(_count_foreign_names(reading, text, found)),
        negation_mismatch=float(_negates_otherwise(reading, found, matches)),
        attribution_share=_share((word.norm in ATTRIBUTION_WORDS for word in found), empty=0.0),
        content_share=_share((_carries_content(word) for word in found), empty=0.0),
        length=math.log1p(len(found)),
    )


def _carries_content(word: Word) -> bool:
    return is_content(word.norm) and word.norm not in ATTRIBUTION_WORDS


def _count_numbers(reading: SourceReading, text: str) -> tuple[int, int]:
    """Return how many numbers of a text the source states, and how many it does not."""
    stated = [is_stated(number, reading.number_keys) for number in numbers(text)]
    return sum(stated), len(stated) - sum(stated)


def _count_foreign_names(reading: SourceReading, text: str, found: Sequence[Word]) -> int:
    return sum(
        word.stem not in reading.stems for name in names(text, found=found) for word in name.words
    )


def _negates_otherwise(
    reading: SourceReading, found: Sequence[Word], matches: Sequence[Match]
) -> bool:
    """Tell whether just one of claim and best fragment negates; without evidence neither does."""
    if not matches:
        return False
    negates = any(is_negation(word.norm) for word in found)
    return negates != reading.negates_F[matches[0].position]


def _share(answers: Iterable[bool], *, empty: float = 1.0) -> float:
    listed = list(answers)
    return sum(listed) / len(listed) if listed else empty
