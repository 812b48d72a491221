"""Findings about how sentences follow each other: what hangs on a sentence that is not there."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragmend.text.sentences import sentence_spans
from ragmend.text.words import words

# They point to the sentence before, or at the start of a paragraph to the paragraph before.
_POINTS_BACK = re.compile(
    r"(?:however|nevertheless|nonetheless|otherwise|instead|conversely|for (?:example|instance)"
    r"|on the (?:other hand|contrary)|in (?:contrast|that case|other words)|that said|even so"
    r"|if (?:so|not)|similarly|likewise|for this reason|because of this|despite (?:this|that)),"
    r"|the (?:latter|former)\b"
    r"|this (?:means|is (?:because|why|due)|suggests|indicates|implies|shows)\b"
    r"|(?:but|yet|so) (?:the|it|he|she|they|this|there)\b",
    re.IGNORECASE,
)
# They count on one of the same name: "another customer", "the second reason".
_COUNTS_ON = re.compile(
    r"(?:another|(?:the|a) (?:second|third|fourth|fifth|other)) "
    r"(?!passage|paragraph|article|document|source|half|floor)(?P<noun>\w+(?: \w+)?)",
    re.IGNORECASE,
)
# They go back to anything said before.
_GOES_BACK = re.compile(
    r"(?:additionally|furthermore|moreover|in addition|also|besides|then|next|after that"
    r"|meanwhile|therefore|thus|hence|consequently|as a result|second(?:ly)?|third(?:ly)?"
    r"|finally|lastly|so),|and (?:the|it|he|she|they|then)\b|[^\W_]\w* also \w",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:it|they|he|she|this|these|those|its|their|his|her|such)\b(?!['’]?s? \w+(?: \w+)? (?:that|"
    r"to|for)\b)",
    re.IGNORECASE,
)
_SAME = 0.6  # of the words of a sentence: it is the same one, cut or corrected


class _Sentence(NamedTuple):
    text: str
    norms: tuple[str, ...]
    begins_paragraph: bool


def orphaned_connectives(text: str, original: str) -> list[str]:
    """Return the sentences that hang on what no longer stands before them."""
    antecedents = _antecedents(_sentences(original))
    found: list[str] = []
    seen: set[tuple[str, ...]] = set()
    named: set[str] = set()
    above: _Sentence | None = None
    for sentence in _sentences(text):
        hangs_on = antecedents.get(sentence.norms)
        if hangs_on is None or hangs_on:
            is_orphan = above is None or (
                hangs_on is not None
                and not any(one in seen or _is_same(one, above.norms) for one in hangs_on)
            )
            counted = _COUNTS_ON.match(sentence.text)
            if (
                (is_orphan and _POINTS_BACK.match(sentence.text))
                or (above is None and _GOES_BACK.match(sentence.text))
                or (is_orphan and counted and named.isdisjoint(counted["noun"].lower().split()))
            ):
                found.append(sentence.text)
        above = sentence
        seen.add(sentence.norms)
        named.update(sentence.norms)
    return found


def orphaned_pronouns(text: str, original: str) -> list[str]:
    """Return the first sentence if it begins with a pronoun and the original did not so."""
    began = {sentence.norms[0] for sentence in _sentences(original)[:1]}
    first = _sentences(text)[:1]
    return [s.text for s in first if s.norms[0] not in began and _PRONOUN.match(s.text)]


def _antecedents(sentences: Sequence[_Sentence]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return what each sentence may hang on: the one before, or the paragraph before."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    paragraph: list[tuple[str, ...]] = []
    above: list[tuple[str, ...]] = []
    for sentence in sentences:
        if sentence.begins_paragraph:
            above, paragraph = paragraph, []
        found.setdefault(sentence.norms, paragraph[-1:] or above)
        paragraph.append(sentence.norms)
    return found


def _sentences(text: str) -> list[_Sentence]:
    found, end_above = [], 0
    for start, end in sentence_spans(text):
        sentence = text[start:end].lstrip('-*•#>_"“( \t0123456789.)')
        norms = tuple(word.norm for word in words(sentence))
        if norms:
            begins = text.count("\n", end_above, start) > 1
            found.append(_Sentence(sentence, norms, begins))
            end_above = end
    return found


def _is_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether two sentences share so many words that one is the other, cut or corrected."""
    shared = len(set(one) & set(other))
    return shared >= _SAME * min(len(set(one)), len(set(other)))
