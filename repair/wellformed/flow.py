"""Findings about how sentences follow each other: what hangs on a sentence that is not there."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ragmend.text.sentences import sentence_spans
from ragmend.text.words import words

# They point to the sentence before, or at the start of a paragraph to the paragraph before.
_POINTS_BACK = re.compile(
    r"(?:however|nevertheless|nonetheless|otherwise|instead|conversely|for (?:example|instance)"
    r"|on the (?:other hand|contrary)|in (?:contrast|that case|other words)|that said|even so"
    r"|if (?:so|not)|similarly|likewise|for this reason|because of this|despite (?:this|that)"
    r"|since then),"
    r"|others? \w+ (?:that|it|they|the)\b|others (?!of\b)\w+"
    r"|both (?:are|were|have|had|can|will|of (?:these|them|which))\b"
    r"|neither (?:is|was|are|were|did|does|has|had|can|will|of (?:these|them))\b"
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
# Expletives ("It is important to …") point to nothing.
_PRONOUN = re.compile(
    r"(?!it(?:['’]s| is| was| (?:may|might|can|would|will) be)(?: not| also| still)? (?:\w+ )?\w+ "
    r"(?:that|to|for|what|how|whether|why|if|when)\b"
    r"|it (?:seems|appears|turns out|takes (?:\w+ ){1,4}to)\b)"
    r"(?P<pronoun>it|they|he|she|this|that|these|those|its|their|his|her|such)\b",
    re.IGNORECASE,
)
_PERSONAL = ("it", "they", "he", "she", "its", "their", "his", "her")
_ONE_HAND, _OTHER_HAND = "on the one hand", "on the other"
_FRONT = re.compile(r"\A[-*•#>_\"“( \t0-9.)]*(?:step \d+[*_]*\s*[:.)–-][\s*_]*)?", re.IGNORECASE)
_ITEM_MARK = re.compile(r"(?:\A|\n)\s*(?:[-*•–](?=\s|\Z)|\(?\w{1,3}[.)])")
_SAME = 0.6  # of the words of a sentence: it is the same one, cut or corrected


class _Sentence(NamedTuple):
    text: str
    norms: tuple[str, ...]
    begins_paragraph: bool
    begins_item: bool

    @property
    def is_head(self) -> bool:
        return self.text.rstrip("*_ ").endswith(":")


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
    is_one_sided = _OTHER_HAND in original.lower() and _OTHER_HAND not in text.lower()
    found += [s.text for s in _sentences(text) if is_one_sided and _ONE_HAND in s.text.lower()]
    return found


def orphaned_pronouns(text: str, original: str) -> list[str]:
    """Return the sentences that begin with a pronoun and have lost the sentence before them.

    That is the one before in the paragraph or item, else the paragraph above or the head of
    the list; what "this" or "these" at the start of an item means stands in the item above.
    Of several sentences in a row that begin with one pronoun the first says what it means.
    """
    meant_by = _meant_by(_sentences(original))
    there = _sentences(text)
    known = [sentence.norms for sentence in there]
    found = []
    for n, sentence in enumerate(there):
        if not _PRONOUN.match(sentence.text):
            continue
        was = sentence.norms if sentence.norms in meant_by else _was(sentence, meant_by)
        is_orphan = n == 0 if was is None else _is_lost(meant_by[was], known[:n])
        if is_orphan:
            found.append(sentence.text)
    return found


def _was(sentence: _Sentence, before: Collection[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the sentence of the original of which this one is a cut, if it is one."""
    return next((one for one in before if _is_same(one, sentence.norms)), None)


def _is_lost(meant: Sequence[tuple[str, ...]], there: Sequence[tuple[str, ...]]) -> bool:
    return bool(meant) and not any(_stands(one, there) for one in meant)


def _meant_by(sentences: Sequence[_Sentence]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return for each sentence with a pronoun those that say what it means; any is enough."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    head: list[tuple[str, ...]] = []
    above: list[tuple[str, ...]] = []
    block: list[_Sentence] = []
    for n, sentence in enumerate(sentences):
        if sentence.begins_paragraph or sentence.begins_item:
            above, block = [one.norms for one in block], []
        pronoun = _pronoun(sentence)
        before = block[-1:] or sentences[max(0, n - 1) : n]
        meant = [one.norms for one in before]
        if not block and sentence.begins_item and pronoun in _PERSONAL:
            meant = head or meant
        elif not block and not sentence.begins_item:
            meant = above or meant
        if pronoun in _PERSONAL and before and _pronoun(before[0]) == pronoun:
            meant = meant + found.get(before[0].norms, [])
        found.setdefault(sentence.norms, meant)
        block.append(sentence)
        if sentence.is_head:
            head = [sentence.norms]
    return found


def _pronoun(sentence: _Sentence) -> str:
    match = _PRONOUN.match(sentence.text)
    return match["pronoun"].lower() if match else ""


def _stands(one: tuple[str, ...], there: Sequence[tuple[str, ...]]) -> bool:
    return one in there or any(_is_same(one, other) for other in there)


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
    found: list[_Sentence] = []
    end_above = 0
    for start, end in sentence_spans(text):
        sentence = _FRONT.sub("", text[start:end])
        norms = tuple(word.norm for word in words(sentence))
        if norms:
            gap = text[end_above:start] + text[start:end][: end - start - len(sentence)]
            begins_item = _ITEM_MARK.search(gap) is not None
            found.append(_Sentence(sentence, norms, gap.count("\n") > 1, begins_item))
            end_above = end
    return found


def _is_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether two sentences share so many words that one is the other, cut or corrected."""
    shared = len(set(one) & set(other))
    return shared >= _SAME * min(len(set(one)), len(set(other)))
