"""A predicate that shares its subject with another, and the adverbial before a main clause.

"She was arrested on May 3 and could face 15 years" can lose either predicate; "In 1911, the
bridge was closed" its year.
"""

from collections.abc import Iterator

from ragmend.repair.rewriting.cut import Cut
from ragmend.repair.rewriting.syntax import NEVER, Syntax
from ragmend.repair.rewriting.word_lists import (
    DETERMINERS,
    FREE_LEADS,
    HANGING,
    IMPERATIVES,
    MODALS,
    NO_PASTS,
    PAST,
    PREPOSITIONS,
    REFERENCES,
    UNFINISHED,
)
from ragmend.text.verbs import AUXILIARIES, is_finite

# "You can swim and have fun": the second verb hangs on the first.
_BEFORE_BASE = AUXILIARIES - frozenset("am are is was were had has have".split())
_BASES = frozenset({"have", "do"})
_ADVERBS = frozenset("also finally later now recently soon still then".split())
_OBJECT_WORDS = DETERMINERS | PREPOSITIONS | {"it", "them", "to", "until", "into", "onto", "out"}


def predicate_cuts(claim: Syntax) -> Iterator[Cut]:
    """Yield both predicates of a subject that has two."""
    joint = predicate_joint(claim)
    if joint is None:
        return
    if joint < claim.limit and _is_whole(claim, joint):
        yield Cut(claim.ends(joint - 1), claim.stop)
    is_shared = claim.norms[claim.finite] in _BEFORE_BASE and claim.norms[joint + 1] in _BASES
    is_free = not is_shared and REFERENCES.isdisjoint(claim.norms[joint + 1 :])
    if is_free and claim.norms[joint] == "and":
        yield Cut(claim.starts(claim.finite), claim.starts(joint + 1))


def predicate_joint(claim: Syntax) -> int | None:
    """Return where "and" or "but" joins the two predicates of a subject; None if it has not two."""
    joints = [at for at, norm in enumerate(claim.norms) if norm in ("and", "but")]
    joints = [at for at in joints if claim.finite < at - 1 and _opens_predicate(claim, at + 1)]
    if len(joints) != 1 or claim.limit <= claim.finite:
        return None
    joint = joints[0]
    is_plain = HANGING.isdisjoint(claim.norms[claim.main : joint]) and not _has_comma(claim, joint)
    return joint if is_plain else None


def lead_cuts(claim: Syntax) -> Iterator[Cut]:
    """Yield the adverbial before the main clause, where what follows holds without it."""
    if claim.lead == claim.main or claim.is_conditional:
        return
    if claim.limit < NEVER or claim.finite == NEVER:
        return
    norm = claim.norms[claim.lead]
    is_event = claim.past >= claim.main and claim.past < NEVER and not claim.is_imperative
    is_free = norm in FREE_LEADS or claim.norms[claim.lead : claim.lead + 2] == ["in", "addition"]
    is_means = norm == "with" and not MODALS.isdisjoint(claim.norms[claim.main :])
    if is_means:  # "with practice, they can": without it they may not
        return
    if (is_event and norm not in HANGING and norm != "to") or is_free:
        yield Cut(claim.starts(claim.lead), claim.starts(claim.main))


def _opens_predicate(claim: Syntax, index: int) -> bool:
    """Tell whether a finite verb without a subject of its own stands at a word."""
    norm = claim.norms[index] if index < len(claim.norms) else ""
    if norm in _ADVERBS:
        return not claim.is_imperative and _opens_predicate(claim, index + 1)
    if claim.is_imperative:
        return norm in IMPERATIVES and _has_object(claim, index + 1)
    if norm in AUXILIARIES:
        return True
    verb = claim.norms[claim.finite]
    if norm in NO_PASTS:
        return False
    if norm.endswith("ed") or norm in PAST:
        return verb not in AUXILIARIES and (verb.endswith("ed") or verb in PAST)
    return is_finite(norm)


def _has_object(claim: Syntax, index: int) -> bool:
    """Tell whether the word behind a verb shows that it is one: "heat it", not "heat loss"."""
    norm = claim.norms[index] if index < len(claim.norms) else ""
    is_name = bool(norm) and claim.text[claim.starts(index)].isupper()
    return norm in _OBJECT_WORDS or is_name or norm[:1].isdigit()


def _has_comma(claim: Syntax, joint: int) -> bool:
    return any(claim.main < comma < joint for comma in claim.commas)


def _is_whole(claim: Syntax, joint: int) -> bool:
    """Tell whether the first predicate ends as one: it shares no object with the second."""
    last = claim.norms[joint - 1]
    is_open_verb = is_finite(last) and claim.norms[joint + 1] not in AUXILIARIES
    return last not in UNFINISHED and not is_open_verb and not last.endswith("ly")
