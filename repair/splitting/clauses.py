"""Full clauses that a sentence coordinates: "The bridge closed" and "and the council met".

There is no parser here. A sentence is cut at ", and", ", but", … or a semicolon only if the
words on both sides are clauses on their face: each opens with a subject of its own and comes
to a finite verb, seen in closed lists of verb forms (`splitting.clause_words`). In doubt
it stays whole: a claim that is too long can still be verified, a fragment cannot.

Neither half may say more without the other. "You must pay, or you will be fined" is never cut,
since either half alone may be false; nor is "In 1990, the bank was old, and the shop was new",
where the second half holds in 1990 only. "In 1990, …, and in 2000, …" has a scope in each.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ragmend.repair.splitting import clause_words as lists
from ragmend.text.delimiters import paired_marks

_JOINT = re.compile(
    r"(?:,\s+(?P<plain>and|but|so|yet|while)|;(?!\s+or\b)(?:\s+(?P<strong>and|but|so|yet))?)"
    r"(?=\s+[^\s,;])"
)
_TOKEN = re.compile(r"[^\W_](?:[\w'’-]|[.:](?=\w))*|[,;()]|:(?=\s)")
_CONTRACTED = re.compile(r"(?:i|he|she|we|they|you|it|there|this|that)['’](?:s|re|m|ve|d|ll)")
_REGULAR_PAST = re.compile(r"\w{2,}[^\We]ed")
_WINDOW = 240
_LONGEST_SUBJECT = 9


class Clause(NamedTuple):
    """A part of a sentence; `coordinator` is its leading word as written, if it has one."""

    start: int
    end: int
    coordinator: str | None


class _Opening(NamedTuple):
    """The part of a sentence before a joint: its verb and its words.

    Attributes:
        verb: The finite verb of its subject.
        words: Its words and commas from the subject on.
        ends_in_list: Whether a comma stands behind the verb, so that a list may run on.
        is_scoped: Whether what stands before the subject says when, where, for whom or by whom
            the clause holds: "in 1990,", "if you are late,", "allegedly,".
    """

    verb: str
    words: list[str]
    ends_in_list: bool
    is_scoped: bool


def clause_spans(text: str, start: int, end: int) -> list[Clause]:
    """Cut the sentence `text[start:end]` into its coordinated full clauses, mostly one."""
    clauses: list[Clause] = []
    begin, coordinator = start, None
    for joint in _open_joints(text, start, end):
        word = joint["plain"] or joint["strong"]
        following = _tokens(text, joint.end(), min(end, joint.end() + _WINDOW))
        if _main_verb(following, weak=True) is None:
            continue
        opening = _opening(text, begin + len(coordinator or ""), joint.start())
        if opening is None or not _joins_clauses(word, opening, following):
            continue
        clauses.append(Clause(begin, joint.start(), coordinator))
        begin, coordinator = joint.end() - len(word or ""), word
    return [*clauses, Clause(begin, end, coordinator)]


def has_finite_verb(text: str) -> bool:
    """Whether some word of a short text can only be a finite verb, or a contraction with one."""
    words = [word.lower() for word in _TOKEN.findall(text)]
    return any(
        word in lists.CERTAIN_VERBS or word in lists.PRESENT_VERBS or _CONTRACTED.fullmatch(word)
        for word in words[1:]
    )


def _open_joints(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the joints that stand in no bracket, quotation or emphasis."""
    closed_until = start
    pairs: list[tuple[int, int]] | None = None
    for joint in _JOINT.finditer(text, start, end):
        if pairs is None:
            pairs = sorted(paired_marks(text, start=start, end=end).items(), reverse=True)
        while pairs and pairs[-1][0] < joint.start():
            closed_until = max(closed_until, pairs.pop()[1])
        if joint.start() >= closed_until:
            yield joint


def _tokens(text: str, start: int, end: int) -> list[str]:
    return _TOKEN.findall(text, start, end)


def _opening(text: str, start: int, end: int) -> _Opening | None:
    """Read the clause before a joint; None if it is none on its face."""
    words = _tokens(text, start, min(end, start + _WINDOW))
    if ":" in words:
        words = words[len(words) - words[::-1].index(":") :]
    if words and words[0].lower() in lists.COORDINATORS:
        words = words[1:]
    is_scoped = _is_scoped(words)
    words = _without_introduction(words)
    if not words or words[0].lower() in lists.SCOPE_VERBS:
        return None
    bare = [word for word in words if word not in ",()"]
    verb = _main_verb(bare, weak=True, is_opening=True)
    if verb is None:
        return None
    lowered = [word.lower() for word in words]
    return _Opening(
        verb,
        lowered,
        ends_in_list="," in lowered[lowered.index(verb) :],
        is_scoped=is_scoped,
    )


def _joins_clauses(word: str | None, opening: _Opening, following: list[str]) -> bool:
    """Whether a joint stands between two clauses neither of which hangs on a part of the other."""
    verb = _main_verb(following, weak=not opening.ends_in_list)
    if verb is None or (opening.is_scoped and not _is_scoped(following)):
        return False
    may_go_on = not _is_marked(following[0]) or following[0] == "other"
    if opening.ends_in_list and word == "and" and may_go_on:
        return False
    if word is not None and _is_report(opening):
        return verb in lists.REPORTING_VERBS
    return word != "and" or lists.HANGING_WORDS.isdisjoint(opening.words)


def _is_report(opening: _Opening) -> bool:
    """Whether a clause reports what somebody says: "Officials said", "it is stated that"."""
    return opening.verb in lists.REPORTING_VERBS or any(
        word in lists.REPORTING_VERBS or word in lists.REPORTING_PARTICIPLES
        for word, after in pairwise(opening.words)
        if after in ("that", "whether", "how")
    )


def _main_verb(words: list[str], *, weak: bool, is_opening: bool = False) -> str | None:
    """Return the finite verb that the subject at the head of `words` comes to, or None.

    With `weak`, a verb form that could also be a noun or a participle ("the food served")
    counts behind a short subject; before a preposition only in the opening clause.
    """
    words = _without_introduction(words)
    if not words:
        return None
    subject = words[0].lower()
    if _CONTRACTED.fullmatch(subject):
        return subject
    if subject in lists.SUBJECT_PRONOUNS or subject in lists.LOOSE_PRONOUNS:
        verb = next((word.lower() for word in words[1:4] if not _is_adverb(word.lower())), ",")
        if _may_follow_pronoun(subject, verb):
            return verb
        if subject not in lists.DETERMINERS:
            return None
    return _verb_behind_noun(words, weak=weak, is_opening=is_opening)


def _without_introduction(words: list[str]) -> list[str]:
    """Drop what stands before the subject: adverbs, "in 2014,", "if you are late,"."""
    while words:
        first = words[0].lower()
        if first == "," or (_is_adverb(first) and first not in lists.DETERMINERS):
            words = words[1:]
        elif first in lists.PREPOSITIONS or first in lists.SUBORDINATORS:
            if "," not in words:
                return []
            words = words[words.index(",") + 1 :]
        else:
            break
    return words


def _is_scoped(words: list[str]) -> bool:
    """Whether a word before the subject does more than connect the clause with the last one."""
    before = words[: len(words) - len(_without_introduction(words))]
    lowered = [word.lower() for word in before if word != ","]
    return " ".join(lowered) not in lists.CONNECTING_PHRASES and not lists.CONNECTIVES.issuperset(
        lowered
    )


def _may_follow_pronoun(subject: str, verb: str) -> bool:
    """Whether a word can be the verb of a pronoun; almost any is, behind "he" or "they"."""
    if subject in lists.SUBJECT_PRONOUNS:
        return verb[0].isalpha() and verb not in lists.PREPOSITIONS | {"and", "or", "who", "all"}
    return _is_certain(verb) or _is_weak_verb(verb) or (subject == "it" and verb.endswith("s"))


def _verb_behind_noun(words: list[str], *, weak: bool, is_opening: bool) -> str | None:
    """Return the verb behind a subject of at most a few words, none of them relative."""
    first = words[0].lower()
    if first in lists.NO_SUBJECTS or _is_certain(first):
        return None
    if first.endswith("ing") and not _is_certain(" ".join(words[1:2])):
        return None
    is_short = _is_marked(words[0]) or " ".join(words[1:2])[:1].isdigit()
    for position, word in enumerate(words[: _LONGEST_SUBJECT + 1]):
        lower = word.lower()
        if word in ",;:()" or lower in lists.RELATIVE_WORDS:
            return None
        if position and (lower in lists.SUBJECT_PRONOUNS or lower in ("it", "there")):
            return None
        if position and _is_certain(word):
            return word
        is_short = is_short and lower not in lists.PREPOSITIONS and position < 5
        if position and weak and is_short and not (position == 1 and first in lists.ARTICLES):
            after = words[position + 1].lower() if position + 1 < len(words) else ""
            if _is_verb_before(lower, after, is_opening=is_opening):
                return lower
    return None


def _is_verb_before(word: str, after: str, *, is_opening: bool) -> bool:
    """Whether a word that may be a verb is one, by the word behind it."""
    if after in ("of", "by", "and", ",") or _is_certain(after) or not _is_weak_verb(word):
        return False
    return is_opening or word in lists.PRESENT_VERBS or after not in lists.PREPOSITIONS


def _is_marked(word: str) -> bool:
    """Whether a word shows that a subject begins: "the", "another", a pronoun, a name, a number."""
    lower = word.lower()
    return (
        lower in lists.DETERMINERS
        or lower in lists.SUBJECT_PRONOUNS
        or lower in lists.LOOSE_PRONOUNS
        or word[0].isupper()
        or word[0].isdigit()
        or _CONTRACTED.fullmatch(lower) is not None
    )


def _is_certain(word: str) -> bool:
    return word in lists.CERTAIN_VERBS


def _is_weak_verb(word: str) -> bool:
    return (
        word in lists.PRESENT_VERBS
        or word in lists.PAST_VERBS
        or _REGULAR_PAST.fullmatch(word) is not None
    )


def _is_adverb(word: str) -> bool:
    return word in lists.ADVERBS or (word.endswith("ly") and len(word) > 4 and word != "family")
