"""The extractive candidate of a claim: its best fragment as a sentence, or why it is refused.

A fragment is cut from what its source says around it, so most refusals are about that: a
sentence without a subject or noun of its own, a scrap, a title, a step put for a statement.

Source: Mulakkayala, van Stein, Plaat (arXiv 2608.29307), section 3.3.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmend.records import Claim, Evidence
from ragmend.repair.extracting.field_sentences import field_sentence, identifies_only
from ragmend.repair.extracting.list_numbers import listed_numbers, without_list_numbers
from ragmend.repair.extracting.statements import (
    is_first_person,
    is_garbled,
    is_statement,
    mood,
    refers_back,
)
from ragmend.repair.prose import as_prose, quoted
from ragmend.repair.wellformed.findings import well_formedness_findings
from ragmend.text.fragments import Fragment
from ragmend.text.lines import ends_line
from ragmend.text.reading import SourceReading
from ragmend.text.words import words

# About one extract in twelve has a lower TF-IDF cosine (train answers); nearly all of those that
# were read were true, but beside the point of the claim.
MIN_COSINE = 0.3

# What an answer says of its passages or of itself: no sentence of the source says it instead.
_ABOUT_THE_ANSWER = re.compile(
    r"(?:\w+, )?(?:\w+ )?(?:"
    r"unable to|(?:i|we) (?:hope|apologize|can(?:not|['’]t)|could(?: not|n['’]t)|am|don['’]t)"
    r"|(?:i|we) do not"
    r"|i['’]m|as an ai|let me know|(?:is there|if (?:you have|there(?:['’]s| is)) any)|thank you"
    r"|(?:it|this) is (?:not |un)(?:clear|specified|mentioned|stated|explicitly|provided)"
    r"|there (?:is|are|was|were) (?:no|not|also no)[^.]{0,40}\b(?:mention|information|details?|data"
    r"|answer|reference|evidence|instructions?)"
    r"|no (?:specific |other |further )*(?:information|mention|details?|data|passages?)\b)"
    r"|(?:\w+,? ){0,3}passages? \d+(?:(?:,? and|,) (?:passage )?\d+)* (?:also |only |all |both )?"
    r"(?:talks?|discuss(?:es)?|provides?|offers?|focus(?:es)?|describes?|covers?|contains?"
    r"|presents?|lists?|gives?|includes?) "
    r"|they only (?:discuss|provide|mention|offer|cover|describe|focus)"
    r"|(?:\w+,? ){0,8}(?:passages?|texts?|articles?|contexts?|documents?|sources?|information|data"
    r"|answer|reviews?|excerpts?)(?: \d+(?:(?:,? and|,) \d+)*)?(?: \w+){0,3}"
    r" (?:do(?:es)? not|do(?:es)?n['’]t|did not|cannot|can['’]t|only|lacks?|fails?|is not|are not"
    r"|isn['’]t|aren['’]t|never|neither)\b"
    r"|.{0,80}\b(?:not|n['’]t) (?:\w+ )?(?:mentioned|specified|stated|provided|included|addressed"
    r"|discussed|given|covered)\b.{0,20}(?:\b(?:passages?|text|context|information|sources?|data)\b"
    r"|\Z)",
    re.IGNORECASE | re.DOTALL,
)


class Extract(NamedTuple):
    """A claim's extractive candidate, before it is verified.

    Attributes:
        claim: What it would replace.
        fragment: Where it is from.
        text: The sentence.
        reasons: Why it is refused, in a fixed order; empty if it is not.
    """

    claim: Claim
    fragment: Fragment
    text: str
    reasons: tuple[str, ...]


def extracts(
    reading: SourceReading,
    answer: str,
    claims: Sequence[Claim],
    ranked: Mapping[str, Sequence[Evidence]],
) -> Iterator[Extract]:
    """Yield the extract of each claim, from its best fragment.

    A window of sentences is evidence but no extract: one claim is replaced by one statement.

    Args:
        reading: The source.
        answer: The answer, of which no extract may say a thing again.
        claims: The claims to replace.
        ranked: Evidence rows by claim, the best first.
    """
    said = squeezed(answer)
    counted = listed_numbers(reading.fragments)
    for claim in claims:
        rows = ranked.get(claim.claim_id, ())
        found = ((reading.fragments[reading.position_of[row.fragment_id]], row) for row in rows)
        best = next(((part, row) for part, row in found if not part.is_window), None)
        if best is None:
            continue
        fragment, row = best
        bare = without_list_numbers(fragment.text, counted.get(fragment.path, frozenset()))
        text = as_prose(fragment._replace(text=bare))
        reasons = list(_reasons(fragment, text, claim))
        if row.score < MIN_COSINE:
            reasons.append("off_topic")
        stands_already = squeezed(bare) in said or squeezed(text) in said
        shown = quoted(text) if fragment.kind == "review" else text
        if stands_already:
            reasons.append("already_in_answer")
        elif not reasons and well_formedness_findings(shown):
            reasons.append("not_well_formed")
        yield Extract(claim, fragment, shown, tuple(reasons))


def is_about_the_answer(text: str) -> bool:
    """Tell whether a claim speaks of the passages or the answer: "The text does not say"."""
    return _ABOUT_THE_ANSWER.match(text.lstrip("*_-# ")) is not None


def squeezed(text: str) -> str:
    """Return a text's normal words, so that spacing, case and punctuation do not matter."""
    return f" {' '.join(word.norm for word in words(text))} "


def _reasons(fragment: Fragment, text: str, claim: Claim) -> Iterator[str]:
    """Yield why a fragment, whose sentence `text` is, cannot stand for a claim."""
    if fragment.is_unknown:
        yield "unknown_value"
    elif identifies_only(fragment):
        yield "identifies_only"
    elif fragment.kind == "field":
        if field_sentence(fragment.text) is None:
            yield "not_a_statement"
    else:
        yield from _reasons_of_sentence(fragment, text, claim)


def _reasons_of_sentence(fragment: Fragment, text: str, claim: Claim) -> Iterator[str]:
    is_review = fragment.kind == "review"
    if refers_back(text):
        yield "refers_back"
    if not is_statement(text) or not (is_review or ends_line(fragment.text)):
        yield "not_a_statement"
    elif mood(text) == "request" and not is_review and mood(claim.text) != "request":
        yield "request_for_statement"
    if is_first_person(text) and not is_review:
        yield "first_person"
    if is_garbled(text) or (fragment.text[:1].islower() and not is_review):
        yield "not_well_formed"
