"""Verbs by which a sentence of a source is known as a statement, a request or a scrap."""

import re

from ragmend.repair.rewriting.word_lists import IMPERATIVES
from ragmend.repair.splitting.clause_words import (
    ARTICLES,
    CERTAIN_VERBS,
    COORDINATORS,
    LOOSE_PRONOUNS,
    PAST_VERBS,
    PREPOSITIONS,
    PRESENT_VERBS,
    SUBJECT_PRONOUNS,
)
from ragmend.text.verbs import is_finite


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Source: verbs that open the sentences of instructions in RAGTruth's train sources, and the
# commonest English verbs.
REQUESTS = IMPERATIVES | _listed(
    """
    aim avoid be begin break build bury buy call carry check clear coat collect compare
    complete connect contact count crush decide dig download drag draw dress drill drink drop
    dry eat enable ensure examine fasten feed finish freeze fry grab grate grease grind hang
    identify include inspect install join knead know lift line locate lock look loosen lower
    mark mash measure moisten move multiply order pack paint pat pay pick pinch plan plant plug
    point practice reach refrigerate release request rest rotate run sand saute save scroll
    scrub seal search separate shape shave skip slide smooth speak spoon squeeze stack stay
    steam stop stretch submit subtract swirl talk tap taste tell thaw thread tighten tilt touch
    tuck twist type uncover unplug unscrew update upload verify visit watch wear weave weigh
    whip work
    """
)
_SCOPES = _listed("don't don’t never always please do just simply carefully gently")
_OTHER_BASES = _listed(
    """
    act affect become belong burn cause come comprise consist contain cost depend describe die
    differ drive ease expand explain feature fight flow form grow happen help improve increase
    indicate lack last lead lessen live lose mean need occur offer originate produce promote
    protect provide raise range receive relieve remain require rise say seem sell sound stand stem
    strengthen suffer suggest support tend travel treat vary
    """
)
# Behind these a form in -ed may be a participle: "foods fried in oil".
_AFTER_PARTICIPLES = PREPOSITIONS | COORDINATORS
_IRREGULAR_PARTICIPLES = _listed(
    """
    born bought broken brought built caught chosen done drawn driven found given gone grown held
    kept known laid led left lost made meant met paid put read seen sent set shown sold spent
    stolen taken taught told thought thrown won written
    """
)
_ENDS_SUBJECT = frozenset({"so", "but", ":"})
_RELATIVES = _listed(
    "that which who whom whose where when if because whether how why what while although though"
)

_CONTRACTED = re.compile(r"(?:i|he|she|we|they|you|it|there)['’](?:s|re|m|ve|d|ll)")


def opens_as_request(words: list[str]) -> bool:
    """Tell whether a clause begins as an imperative does: "Stir", "Do not stir", "Gently stir"."""
    for position, word in enumerate(words[:4]):
        if word in REQUESTS:
            following = words[position + 1 : position + 2]
            return not following or not (following[0] in CERTAIN_VERBS or following[0] == "of")
        if word not in _SCOPES and word != "not" and not word.endswith("ly"):
            return False
    return False


def opens_as_predicate(words: list[str]) -> bool:
    """Tell whether a clause begins with a verb or participle that lacks its subject.

    "Melts at 840°C", "Is used in baking", "Made of steel"; not "Plants need light", where the
    word is a noun, nor "Baking is easy", where a verb follows.
    """
    first, following = words[0], words[1] if len(words) > 1 else ""
    if first in CERTAIN_VERBS or _is_irregular(first):
        return True
    if first.endswith("ing") and not _has_certain_verb(words[1:]):
        return True
    if first.endswith("ed") and len(first) > 4:
        return True
    is_verb = first in PRESENT_VERBS or is_third_person(first)
    return is_verb and not (following in CERTAIN_VERBS or is_plain_verb(following))


def is_third_person(word: str) -> bool:
    """Tell whether a word can be a verb in -s: "melts", "carries", "washes"."""
    stems = (word[:-1], word[:-2], word[:-3] + "y" if word.endswith("ies") else "")
    bases = REQUESTS | _OTHER_BASES
    return word.endswith("s") and any(stem in bases for stem in stems)


def is_plain_verb(word: str) -> bool:
    """Tell whether a word is a verb as plurals have it, "need", or a finite verb of any list."""
    return word in PRESENT_VERBS or word in PAST_VERBS or word in REQUESTS | _OTHER_BASES


def main_verb_at(words: list[str]) -> int | None:
    """Return where the finite verb of a clause with a subject stands; None if none is sure.

    A word that opens a clause of its own behind the subject takes the next verb for itself.
    """
    if words[0][0].isdigit() and CERTAIN_VERBS.isdisjoint(words):
        return None  # an amount in a list of ingredients
    if _CONTRACTED.fullmatch(words[0]):
        return 0
    owed = 0
    for position, word in enumerate(words):
        if word in _RELATIVES:
            owed += 1
        elif position and (word in _ENDS_SUBJECT or _starts_anew(words, position)):
            return None
        elif position and _is_verb(words, position):
            if not owed:
                return position
            owed -= 1
    return None


def _starts_anew(words: list[str], position: int) -> bool:
    """Tell whether a further clause begins before the first has come to its verb."""
    return words[position - 1] == "," and words[position] in SUBJECT_PRONOUNS | LOOSE_PRONOUNS


def _is_verb(words: list[str], position: int) -> bool:
    """Tell whether the word at a position is a finite verb, weak forms only in clear places."""
    word, before = words[position], words[position - 1]
    following = words[position + 1] if position + 1 < len(words) else ""
    if word in CERTAIN_VERBS:
        return True
    if before in ARTICLES or before in PREPOSITIONS or before in COORDINATORS or not following:
        return False
    if word.endswith("ed"):
        return is_finite(word) and (following == "to" or following not in _AFTER_PARTICIPLES)
    if word in PRESENT_VERBS or word in PAST_VERBS or is_finite(word):
        return True
    if is_third_person(word):
        return following != "of"
    is_plural = before.endswith("s") and before not in CERTAIN_VERBS
    return is_plural and word in REQUESTS | _OTHER_BASES


def _is_irregular(word: str) -> bool:
    return word in _IRREGULAR_PARTICIPLES and word not in REQUESTS


def _has_certain_verb(words: list[str]) -> bool:
    return any(word in CERTAIN_VERBS or is_third_person(word) for word in words)
