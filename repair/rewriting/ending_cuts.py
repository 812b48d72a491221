"""The end of a claim, from a phrase on: "…, which angered farmers", "… after a flood"."""

from collections.abc import Callable, Iterator

from ragmend.repair.rewriting.cut import Cut
from ragmend.repair.rewriting.insertion_cuts import opens_phrase
from ragmend.repair.rewriting.syntax import NEVER, Syntax, is_adjective, is_participle, is_plural
from ragmend.repair.rewriting.word_lists import (
    ASIDE_SUBJECTS,
    ASIDES,
    COPULAS,
    DETERMINERS,
    HANGING,
    INFINITIVE_HOSTS,
    LISTINGS,
    NARROWING,
    PAIRING,
    PAST,
    PREPOSITIONS,
    PURPOSES,
    RELATIVES,
    SAFE_BEHIND_A_VERB,
    SAFE_IN_THE_PRESENT,
    UNFINISHED,
    WITH_HOSTS,
)
from ragmend.text.verbs import AUXILIARIES, is_finite

MIN_WORDS = 4  # a shorter rest is hardly a statement
LOOK_BACK = 7  # how far before a phrase its predicate is looked for

_SUBJECTS = frozenset({"he", "it", "she", "they", "there"})


def ending_cuts(claim: Syntax, *, least: int) -> Iterator[Cut]:
    """Yield the ends that a claim can lose, each up to its full stop, behind `least` words."""
    commas = frozenset(claim.commas)
    last = min(len(claim.words), claim.limit + 1)
    for index in range(max(least, claim.finite + 1), last):
        if claim.norms[index - 1] in UNFINISHED:
            continue
        if any(comma > index and _resumes(claim, comma) for comma in claim.commas):
            continue
        if _takes_joint(claim, index):
            continue
        if claim.norms[index - 2] in HANGING and is_finite(claim.norms[index - 1]):
            continue
        kinds = (_is_comma_end,) if index in commas else _PLAIN_ENDS
        if any(is_end(claim, index) for is_end in kinds):
            yield Cut(claim.ends(index - 1), claim.stop)


def _takes_joint(claim: Syntax, index: int) -> bool:
    """Tell whether an end would take the last item of a list that began before it."""
    commas = [comma for comma in claim.commas if comma > claim.main]
    is_joined = any(comma > index and claim.norms[comma] == "and" for comma in commas)
    return is_joined and commas[0] < index


def _resumes(claim: Syntax, index: int) -> bool:
    """Tell whether the main clause goes on at a word behind a comma."""
    norm, following = claim.norms[index], claim.norms[index + 1 : index + 2]
    is_verb = is_plural(norm) and not (DETERMINERS | PREPOSITIONS).isdisjoint(following)
    return is_finite(norm) or is_verb


def _is_comma_end(claim: Syntax, index: int) -> bool:
    """Tell whether a comma phrase runs from a word to the end of the claim."""
    norm, is_last = claim.norms[index], index == claim.commas[-1]
    if norm in LISTINGS or claim.norms[index : index + 3] == ["as", "well", "as"]:
        return index > claim.last_auxiliary and claim.limit == NEVER
    before = [comma for comma in claim.commas if claim.main < comma < index]
    if norm == "and":  # behind one more comma it would leave a list without its end
        return not before and is_last
    if norm in ("while", "whereas") and not PAIRING.isdisjoint(claim.norms[:index]):
        return False
    if norm in ASIDES:
        return norm != "as" or not ASIDE_SUBJECTS.isdisjoint(claim.norms[index + 1 : index + 2])
    if norm.endswith("ing") and claim.norms[index - 1].endswith("ing"):
        return False  # "responsible for planning, running, and …" is a list
    return opens_phrase(norm) and (is_last or not before or norm in RELATIVES)


def _is_prepositional_end(claim: Syntax, index: int) -> bool:
    """Tell whether a prepositional phrase runs to the end, and what happened stands without it."""
    norm = claim.norms[index]
    following = claim.norms[index + 1 : index + 2]
    if norm not in PREPOSITIONS or not claim.is_blank[index] or not following:
        return False
    if claim.commas and claim.commas[-1] > index:
        return False
    is_narrow = claim.limit < NEVER or claim.comparison < index
    if is_narrow or index <= claim.last_auxiliary or following[0] in NARROWING:
        return False
    before = claim.norms[max(0, index - LOOK_BACK) : index]
    is_said_of_all = norm in SAFE_IN_THE_PRESENT or claim.past < index
    return is_said_of_all and not _continues(before, norm) and _stands_alone(before, norm)


def _continues(before: list[str], preposition: str) -> bool:
    """Tell whether the word before wants the phrase, or the phrase may hang on a new clause."""
    last = before[-1]
    if last.endswith(("ing", "ly")) or "and" in before:
        return True
    if preposition == "with" and not WITH_HOSTS.isdisjoint(before):
        return True
    return before[-2] == "to" and preposition not in SAFE_BEHIND_A_VERB


def _stands_alone(before: list[str], preposition: str) -> bool:
    """Tell whether a predicate is whole without the phrase behind it."""
    copula = max((at for at, norm in enumerate(before) if norm in COPULAS), default=None)
    if copula is None:
        return not is_finite(before[-1]) or preposition in SAFE_BEHIND_A_VERB
    predicate = [norm for norm in before[copula + 1 :] if not norm.endswith("ly")]
    if not predicate or not DETERMINERS.isdisjoint(predicate):
        return bool(predicate)
    is_event = before[copula] in ("was", "were", "been", "being")
    return is_event and (predicate[0].endswith(("ed", "ing")) or predicate[0] in PAST)


def _is_purpose_end(claim: Syntax, index: int) -> bool:
    """Tell whether an infinitive says what something is done for: "add salt to enhance …"."""
    norms = claim.norms[index : index + 4]
    is_long = norms[:3] == ["in", "order", "to"]
    if not is_long and (norms[0] != "to" or not PURPOSES.issuperset(norms[1:2])):
        return False
    before = claim.norms[max(claim.main, index - LOOK_BACK) : index]
    hosts = INFINITIVE_HOSTS | COPULAS | AUXILIARIES
    is_whole = not before[-1].endswith(("ed", "ing", "ly")) and not is_adjective(before[-1])
    return claim.is_blank[index] and is_whole and hosts.isdisjoint(before) and len(norms) > 2


def _is_reason_end(claim: Syntax, index: int) -> bool:
    """Tell whether a clause of reason runs from a word to the end."""
    norms = claim.norms[index : index + 2]
    is_reason = norms[0] == "because" or (norms[0] == "as" and not _SUBJECTS.isdisjoint(norms[1:]))
    return (
        is_reason and claim.is_blank[index] and "as" not in claim.norms[max(0, index - 4) : index]
    )


def _is_example_end(claim: Syntax, index: int) -> bool:
    """Tell whether examples run from a word to the end: "dishes such as …"."""
    is_example = claim.norms[index] == "including" or claim.norms[index : index + 2] == [
        "such",
        "as",
    ]
    is_end = index > claim.last_auxiliary and claim.limit == NEVER and claim.is_blank[index]
    return is_example and is_end and is_plural(claim.norms[index - 1])


def _is_means_end(claim: Syntax, index: int) -> bool:
    """Tell whether a phrase says by what means, behind a noun: "… by closing it"."""
    norms = claim.norms[index : index + 2]
    if norms[0] != "by" or len(norms) < 2 or not is_participle(norms[1]):
        return False
    is_verb = is_finite(claim.norms[index - 1]) or claim.norms[index - 2] == "to"
    is_event = claim.past < index or claim.is_imperative
    return claim.is_blank[index] and not is_verb and is_event and claim.limit == NEVER


def _is_step_end(claim: Syntax, index: int) -> bool:
    """Tell whether a request ends in what comes before or after it: "… before serving"."""
    norms = claim.norms[index : index + 2]
    is_step = norms[0] in ("before", "after") and is_participle("".join(norms[1:]))
    return is_step and claim.is_imperative and claim.is_blank[index] and claim.limit == NEVER


_PLAIN_ENDS: tuple[Callable[[Syntax, int], bool], ...] = (
    _is_prepositional_end,
    _is_purpose_end,
    _is_reason_end,
    _is_example_end,
    _is_means_end,
    _is_step_end,
)
