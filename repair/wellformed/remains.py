"""Findings about what is left of a sentence: words that hang in the air, clauses alone."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ragmend.text.sentences import sentence_spans
from ragmend.text.verbs import is_finite
from ragmend.text.words import STOP_WORDS, words

# They begin what does not come: a conjunction, article, determiner or preposition.
_NEVER_LAST = (
    "and|or|nor|but|the|a|an|of|from|with|to|than|because|although|if|into|my|your|their|our|at"
    "|for|by|between|among|during|including|whose|every"
)
_DANGLING = re.compile(
    rf"\b[^\W_]+[,;]? (?:{_NEVER_LAST})[\"”)]*[.!?](?=\s|\Z)"
    r"|(?:\d|\b[A-Z][a-z]+) (?:in|on)[.!?](?=\s|\Z)"
    r"|\b(?:[Tt]he|[Aa]n|a)[,;:]"
    r"|\b(?:[Tt]he|[Aa]n|a) (?:is|are|was|were|has|have|had|does|did|could|should|would)\b"
)
_SUBORDINATE = re.compile(
    r"(?:because(?! of\b)|if(?! so| not)|although|though|unless|whereas|until"
    r"|(?:while|when|whenever)(?! \w+ing\b)|which|whose)\s",
    re.IGNORECASE,
)
_PARTNERS = (
    (re.compile(r"not only\b", re.IGNORECASE), re.compile(r"\b(?:but|also)\b|,.*\b(?:it|they)\b")),
    (re.compile(r"either\b(?! (?:of|way)\b)", re.IGNORECASE), re.compile(r"\bor\b")),
)
_SUBJECTS = frozenset("i you we they he she it who this that there these those".split())
_CONTRACTED = re.compile(r"['’](?:s|re|ve|ll|m|d)\b", re.IGNORECASE)
_IMPERATIVES = frozenset("do get make use".split())
_NEVER_IMPERATIVE = frozenset(
    """
    a an the its their his her my your our this that these those some more most such how not
    in on at of from with by for to and or nor but than as
    """.split()
)
_SHORT = 3  # words
_SHORTEST_VERB = 4  # letters of what may be a verb because it ends in -s
_SAME = 0.6  # of the words of a sentence: it is what is left of the other one


class _Sentence(NamedTuple):
    text: str
    norms: tuple[str, ...]


def dangling_words(text: str) -> Counter[str]:
    """Count the words that need another behind them and have none: "three branches, and."."""
    return Counter(match.group().lower() for match in _DANGLING.finditer(text))


def fragments(text: str, original: str) -> list[str]:
    """Return the new sentences that are only part of one.

    A subordinate clause alone, half of "not only … but", three words or fewer or any phrase
    without a verb. What was no full sentence before may stay none.
    """
    before = _sentences(original)
    known = {sentence.norms for sentence in before}
    return [
        sentence.text
        for sentence in _sentences(text)
        if sentence.norms not in known and _is_fragment(sentence)
        if not any(_is_as_bare(one) for one in before if _is_rest(sentence, one))
    ]


def _is_fragment(sentence: _Sentence) -> bool:
    if not sentence.text.rstrip("\"”')*_").endswith((".", "!")):
        return False
    if _SUBORDINATE.match(sentence.text):
        return "," not in sentence.text and _n_clauses(sentence.norms) < 2
    for first, second in _PARTNERS:
        if first.match(sentence.text):
            return second.search(sentence.text) is None
    return not _may_have_verb(sentence)


def _n_clauses(norms: Sequence[str]) -> int:
    n_verbs = sum(map(is_finite, norms))
    n_subjects = sum(norm in _SUBJECTS for norm in norms)
    return max(n_verbs, n_subjects)


def _is_as_bare(sentence: _Sentence) -> bool:
    return _is_fragment(sentence) or not _has_verb(sentence)


def _has_verb(sentence: _Sentence) -> bool:
    norms = sentence.norms
    return (
        any(map(is_finite, norms))
        or _CONTRACTED.search(sentence.text) is not None
        or any(norm in _SUBJECTS for norm in norms[:-1])
    )


def _may_have_verb(sentence: _Sentence) -> bool:
    """Tell whether anything may be a verb; a first word of content may be an imperative."""
    if _has_verb(sentence):
        return True
    norms = sentence.norms
    if len(norms) == 1:
        return False
    if len(norms) <= _SHORT:
        return norms[0] not in STOP_WORDS - _IMPERATIVES and not norms[0].isdecimal()
    return (
        norms[0] not in _NEVER_IMPERATIVE
        or "," in sentence.text
        or any(len(norm) >= _SHORTEST_VERB and norm.endswith("s") for norm in norms[1:])
    )


def _is_rest(sentence: _Sentence, of: _Sentence) -> bool:
    return _overlap(sentence.norms, frozenset(of.norms)) >= _SAME


def _overlap(norms: Sequence[str], of: Collection[str]) -> float:
    return sum(norm in of for norm in norms) / len(norms)


def _sentences(text: str) -> list[_Sentence]:
    found: list[_Sentence] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end].lstrip('-*•#>_"“( \t0123456789.)')
        if norms := tuple(word.norm for word in words(sentence)):
            found.append(_Sentence(sentence, norms))
    return found
