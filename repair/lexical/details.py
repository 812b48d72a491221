"""Numbers, names, negation and quantifiers of a claim: what a changed word overturns.

Each is held against the whole source and, where that tells more, against the evidence of this
very claim: a number that stands somewhere else in the source does not support it here.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ragmend.repair.lexical.source import VerifiedSource
from ragmend.text.names import name_stem, names
from ragmend.text.quantities.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading
from ragmend.text.tfidf import Match
from ragmend.text.words import ATTRIBUTION_WORDS, Word, is_negation

# Source: the universal, existential and proportional quantifiers and frequency adverbs of
# English (Quirk et al. 1985, A Comprehensive Grammar, sections 5.10-5.25 and 8.52).
QUANTIFIERS = frozenset(
    """all always both each every few majority many most never none only several some
    usually various""".split()
)


class Details(NamedTuple):
    """Counts are logs of 1 + the count.

    Attributes:
        unstated_numbers: Numbers, dates and times that the source does not state.
        numbers_elsewhere: Those that the claim's evidence does not state.
        stated_numbers: Those that the source states.
        unstated_names: Names that the source does not have in one piece.
        names_elsewhere: Words of names that stand in none of the claim's evidence.
        lone_negation: Whether the claim negates, none of its evidence does, and the claim does
            not talk about the source itself ("the passages do not say").
        foreign_quantifier: Whether a quantifier ("all", "most", "several") is not in the source.
    """

    unstated_numbers: float
    numbers_elsewhere: float
    stated_numbers: float
    unstated_names: float
    names_elsewhere: float
    lone_negation: float
    foreign_quantifier: float


def measure_details(
    source: VerifiedSource, text: str, found: Sequence[Word], matches: Sequence[Match]
) -> Details:
    """Measure a claim's details against its source and its evidence."""
    reading = source.reading
    places = [match.position for match in matches]
    stated = frozenset().union(*(source.number_keys_F[place] for place in places))
    near = frozenset().union(*(source.plain_stems_F[place] for place in places))
    own_numbers = list(numbers(text))
    own_names = list(names(text, found=found))
    n_unstated = sum(not is_stated(number, reading.number_keys) for number in own_numbers)
    return Details(
        unstated_numbers=math.log1p(n_unstated),
        numbers_elsewhere=math.log1p(sum(not is_stated(n, stated) for n in own_numbers)),
        stated_numbers=math.log1p(len(own_numbers) - n_unstated),
        unstated_names=math.log1p(sum(not reading.states_name(name) for name in own_names)),
        names_elsewhere=math.log1p(
            sum(name_stem(word) not in near for name in own_names for word in name.words)
        ),
        lone_negation=float(_negates_alone(reading, found, places)),
        foreign_quantifier=float(
            any(word.norm in QUANTIFIERS and word.stem not in reading.stems for word in found)
        ),
    )


def _negates_alone(reading: SourceReading, found: Sequence[Word], places: Sequence[int]) -> bool:
    if not any(is_negation(word.norm) for word in found):
        return False
    is_about_source = any(word.norm in ATTRIBUTION_WORDS for word in found)
    return not is_about_source and not any(reading.negates_F[place] for place in places)
