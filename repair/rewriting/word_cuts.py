"""Single words that only strengthen or adorn: "thoroughly washed", "a cozy bar"."""

from collections.abc import Iterator

from ragmend.repair.rewriting.cut import Cut
from ragmend.repair.rewriting.syntax import Syntax
from ragmend.repair.rewriting.word_lists import (
    COPULAS,
    DETERMINERS,
    EPITHETS,
    INTENSIFIERS,
    PREPOSITIONS,
    UNFINISHED,
    VAGUE_NOUNS,
)
from ragmend.text.verbs import AUXILIARIES, is_finite

_DEGREES = frozenset("as less more most quite rather really so the too very how".split())
_JOINTS = frozenset({"and", "or", "but", "nor", "than"})
_NO_NOUN = PREPOSITIONS | AUXILIARIES | _JOINTS | DETERMINERS | {"to", "of", "as", "that", "enough"}


def word_cuts(claim: Syntax) -> Iterator[Cut]:
    """Yield the single words that a claim can lose."""
    last = min(len(claim.words), claim.limit)
    for index in range(max(1, claim.main), last):
        if not claim.is_blank[index]:
            continue
        if _is_free_adverb(claim, index) or _is_epithet(claim, index):
            yield Cut(claim.ends(index - 1), claim.ends(index))


def _is_free_adverb(claim: Syntax, index: int) -> bool:
    """Tell whether an adverb stands where nothing hangs on it."""
    before, after = claim.norms[index - 1], "".join(claim.norms[index + 1 : index + 2])
    if claim.norms[index] not in INTENSIFIERS or before in _DEGREES - {"the"}:
        return False
    if before in _JOINTS or after in _JOINTS:
        return False
    is_inner = bool(after) and claim.is_blank[index + 1] and after not in PREPOSITIONS
    return is_inner or (not after and before not in UNFINISHED)


def _is_epithet(claim: Syntax, index: int) -> bool:
    """Tell whether an adjective stands between what opens a noun phrase and its noun."""
    if claim.norms[index] not in EPITHETS or index <= claim.finite:
        return False
    before, after = claim.norms[index - 1], "".join(claim.norms[index + 1 : index + 2])
    is_noun = bool(after) and claim.is_blank[index + 1] and after not in _NO_NOUN | VAGUE_NOUNS
    is_predicate = before in COPULAS or before.endswith("ly") or before in _DEGREES - {"the"}
    return is_noun and not is_predicate and before not in _JOINTS and not is_finite(after)
