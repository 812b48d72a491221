"""What the lexical verifier measures of a claim against its source.

Only the claim and its source (with the evidence drawn from it) are looked at: not the rest
of the answer, not the claim's place in it, not who wrote it.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from ragmend.records import Count, Record
from ragmend.text.content import supportable_stems
from ragmend.text.names import name_stem, names
from ragmend.text.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading, stem_pairs
from ragmend.text.tfidf import Match
from ragmend.text.words import ATTRIBUTION_WORDS, Word, is_negation, words


class Commonplaces(Record):
    """Words that answers use whatever their source says: "specific", "ensure", "various".

    Attributes:
        n_answers: How many answers were counted.
        missing_in: In how many of them each stem stood without being in the source; only the
            commonest stems are listed.
    """

    n_answers: Annotated[int, Field(ge=1)]
    missing_in: dict[str, Count]

    def weight(self, stem: str) -> float:
        """Return how much a stem tells when a source lacks it: 1 if unlisted, less if common.

        Source: the inverse document frequency of Spärck Jones (1972), smoothed, relative to a
        stem that no answer has.
        """
        count = self.missing_in.get(stem, 0)
        return math.log((self.n_answers + 1) / (count + 1)) / math.log(self.n_answers + 1)


class ClaimFeatures(NamedTuple):
    """The measurements, in the order of the coefficients.

    Attributes:
        coverage_best: Share of the claim's content words, by weight, in the best fragment; 1 if
            there are none.
        coverage_union: The same in all evidence fragments together.
        bigram_overlap: Share of the claim's word pairs that stand side by side in the source.
        cosine_best: TF-IDF cosine of the best fragment; 0 without evidence.
        missing_words: Log of 1 + the weight of the content words that the source lacks, and to
            which none of its words is akin ("operator" to "operation").
        asked_share: Share of the words that the source lacks which the question has.
        unsupported_numbers: Log of 1 + the numbers, dates and times that the source lacks.
        supported_numbers: Log of 1 + those that it has.
        unsupported_names: Log of 1 + the words of names that it lacks.
        unsupported_negation: Whether the claim negates, none of its evidence does, and the claim
            does not talk about the source itself ("the passages do not say").
        attribution_share: Share of words about the source itself ("passage", "according").
        content_share: Share of words that carry content.
        length: Log of 1 + the words.
    """

    coverage_best: float
    coverage_union: float
    bigram_overlap: float
    cosine_best: float
    missing_words: float
    asked_share: float
    unsupported_numbers: float
    supported_numbers: float
    unsupported_names: float
    unsupported_negation: float
    attribution_share: float
    content_share: float
    length: float


def claim_features(
    reading: SourceReading, text: str, matches: Sequence[Match], commonplaces: Commonplaces
) -> ClaimFeatures:
    """Measure one claim or edited text against its source.

    Args:
        reading: The source.
        text: The claim; one without any content word counts as wholly covered.
        matches: Its evidence, best first; may be empty.
        commonplaces: What gives each word its weight.
    """
    found = words(text)
    content = [(stem, commonplaces.weight(stem)) for stem in supportable_stems(found)]
    best = reading.content_F[matches[0].position] if matches else frozenset[str]()
    union = frozenset().union(*(reading.content_F[match.position] for match in matches))
    missing = [(stem, weight) for stem, weight in content if stem not in reading.content]
    n_stated, n_unstated = _count_numbers(reading, text)
    return ClaimFeatures(
        coverage_best=_coverage(content, best),
        coverage_union=_coverage(content, union),
        bigram_overlap=_share(pair in reading.bigrams for pair in stem_pairs(found)),
        cosine_best=matches[0].score if matches else 0.0,
        missing_words=math.log1p(sum(w for stem, w in missing if not reading.has_akin(stem))),
        asked_share=_share((stem in reading.question_stems for stem, _ in missing), empty=0.0),
        unsupported_numbers=math.log1p(n_unstated),
        supported_numbers=math.log1p(n_stated),
        unsupported_names=math.log1p(_count_foreign_names(reading, text, found)),
        unsupported_negation=float(_negates_alone(reading, found, matches)),
        attribution_share=_share((word.norm in ATTRIBUTION_WORDS for word in found), empty=0.0),
        content_share=len(content) / max(1, len(found)),
        length=math.log1p(len(found)),
    )


def _coverage(content: Sequence[tuple[str, float]], stems: frozenset[str]) -> float:
    total = sum(weight for _, weight in content)
    if total == 0.0:
        return 1.0
    return sum(weight for stem, weight in content if stem in stems) / total


def _count_numbers(reading: SourceReading, text: str) -> tuple[int, int]:
    """Return how many numbers of a text the source states, and how many it does not."""
    stated = [is_stated(number, reading.number_keys) for number in numbers(text)]
    return sum(stated), len(stated) - sum(stated)


def _count_foreign_names(reading: SourceReading, text: str, found: Sequence[Word]) -> int:
    named = (word for name in names(text, found=found) for word in name.words)
    return sum(name_stem(word) not in reading.plain_stems for word in named)


def _negates_alone(reading: SourceReading, found: Sequence[Word], matches: Sequence[Match]) -> bool:
    if not any(is_negation(word.norm) for word in found):
        return False
    is_about_source = any(word.norm in ATTRIBUTION_WORDS for word in found)
    return not is_about_source and not any(reading.negates_F[m.position] for m in matches)


def _share(answers: Iterable[bool], *, empty: float = 1.0) -> float:
    listed = list(answers)
    return sum(listed) / len(listed) if listed else empty
