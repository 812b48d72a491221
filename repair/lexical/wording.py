"""How far the words of a claim are those of its source, in the same order and place."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field
from rapidfuzz.distance import LCSseq

from ragmend.records import Count, Record
from ragmend.repair.lexical.source import VerifiedSource
from ragmend.text.content import needs_support
from ragmend.text.reading import stem_pairs
from ragmend.text.tfidf import Match
from ragmend.text.words import ATTRIBUTION_WORDS, Word

# How much of a claim and of its best fragment is aligned, in words: the cost grows with both.
_ALIGNED = 120
# Words by which a statement hangs on what was said before or sums it up.
_CONNECTIVES = frozenset(
    """additionally also although conclusion despite finally furthermore however in moreover
    overall therefore thus while""".split()
)


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


class Wording(NamedTuple):
    """Shares lie in [0, 1]; words that need no support (`text.content`) are not counted.

    Attributes:
        coverage: Share of the content words, by weight, that stand in the evidence; 1 if the
            claim has none.
        bigrams: Share of the pairs of neighbouring words that stand side by side in the source.
        alignment: Longest common subsequence with the best fragment, as a share of the claim.
        longest_run: Longest run of words that the best fragment has too, as a share of the claim.
        cosine: TF-IDF cosine of the best fragment; 0 without evidence.
        missing_words: Log of 1 + the weight of the content words that the source lacks and to
            which none of its words is akin ("operator" to "operation").
        missing_share: Share of the content words that the source lacks.
        missing_most: Weight of the most telling word that the source lacks; 0 if it lacks none.
        asked_share: Share of the words that the source lacks which the question has.
        familiarity: Mean log of 1 + the fragments that have each content word.
        attribution_share: Share of words about the source itself ("passage", "according").
        content_share: Share of words that carry content.
        opens_with_connective: Whether the claim begins like "However" or "In conclusion".
        length: Log of 1 + the words.
    """

    coverage: float
    bigrams: float
    alignment: float
    longest_run: float
    cosine: float
    missing_words: float
    missing_share: float
    missing_most: float
    asked_share: float
    familiarity: float
    attribution_share: float
    content_share: float
    opens_with_connective: float
    length: float


def measure_wording(
    source: VerifiedSource,
    found: Sequence[Word],
    matches: Sequence[Match],
    commonplaces: Commonplaces,
) -> Wording:
    """Measure the words of a claim against its source and its evidence, best first."""
    reading = source.reading
    needed = [(w.stem, commonplaces.weight(w.stem)) for w in found if needs_support(w)]
    missing = [(stem, weight) for stem, weight in needed if stem not in reading.content]
    evidence = frozenset().union(*(reading.content_F[match.position] for match in matches))
    stems = [word.stem for word in found][:_ALIGNED]
    best = source.stems_F[matches[0].position][:_ALIGNED] if matches else []
    return Wording(
        coverage=_coverage(needed, evidence),
        bigrams=_share(pair in reading.bigrams for pair in stem_pairs(found)),
        alignment=LCSseq.similarity(stems, best) / max(1, len(stems)),
        longest_run=_longest_common_run(stems, best) / max(1, len(stems)),
        cosine=matches[0].score if matches else 0.0,
        missing_words=math.log1p(sum(w for stem, w in missing if not reading.has_akin(stem))),
        missing_share=len(missing) / max(1, len(needed)),
        missing_most=max((weight for _, weight in missing), default=0.0),
        asked_share=_share((stem in reading.question_stems for stem, _ in missing), empty=0.0),
        familiarity=_mean(math.log1p(source.n_fragments_with[stem]) for stem, _ in needed),
        attribution_share=_share((word.norm in ATTRIBUTION_WORDS for word in found), empty=0.0),
        content_share=len(needed) / max(1, len(found)),
        opens_with_connective=float(bool(found) and found[0].norm in _CONNECTIVES),
        length=math.log1p(len(found)),
    )


def _coverage(needed: Sequence[tuple[str, float]], stems: frozenset[str]) -> float:
    total = sum(weight for _, weight in needed)
    if total == 0.0:
        return 1.0
    return sum(weight for stem, weight in needed if stem in stems) / total


def _longest_common_run(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest run of neighbours that both sequences have."""
    places: dict[str, list[int]] = {}
    for at, stem in enumerate(right):
        places.setdefault(stem, []).append(at)
    longest, ending_at = 0, dict[int, int]()
    for stem in left:
        ending_at = {at: ending_at.get(at - 1, 0) + 1 for at in places.get(stem, ())}
        longest = max(longest, *ending_at.values(), 0)
    return longest


def _share(answers: Iterable[bool], *, empty: float = 1.0) -> float:
    listed = list(answers)
    return sum(listed) / len(listed) if listed else empty


def _mean(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
