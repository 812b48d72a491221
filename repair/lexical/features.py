"""What the lexical verifier measures of a claim, in the order of its curves.

By itself it looks at the claim and its source (with the evidence drawn from it): not at the
rest of the answer, nor at who wrote it. `AnswerPlace` adds where in its answer a claim
stands; only a verifier that is told to use it does.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ragmend.records import Claim, ClaimKind
from ragmend.repair.lexical.attributes import attribute_findings
from ragmend.repair.lexical.details import Details, measure_details
from ragmend.repair.lexical.hours import hours_findings
from ragmend.repair.lexical.source import VerifiedSource
from ragmend.repair.lexical.wording import Commonplaces, Wording, measure_wording
from ragmend.text.content import needs_support
from ragmend.text.tfidf import Match
from ragmend.text.words import Word, content_stems, words


class Setting(NamedTuple):
    """What kind of claim and source they are.

    Attributes:
        is_lead_in: Whether the claim only introduces what follows.
        is_structured: Whether the source has fields.
        n_fragments: Log of 1 + the fragments of the source.
    """

    is_lead_in: float
    is_structured: float
    n_fragments: float


class Fields(NamedTuple):
    """What structured fields say of the claim; all 0 for running text.

    Attributes:
        attribute_conflicts: Log of 1 + the attributes of which the source says the opposite.
        attributes_unknown: Log of 1 + those that are null or not listed, and in no review.
        hours_agree: Whether a statement on opening hours agrees.
        hours_conflict: Whether one conflicts.
        review_share: Share of the words in need of support that reviews have.
    """

    attribute_conflicts: float
    attributes_unknown: float
    hours_agree: float
    hours_conflict: float
    review_share: float


class AnswerPlace(NamedTuple):
    """Where in its answer a claim stands.

    Attributes:
        position: 0 for the first claim, 1 for the last; 0 for an only one.
        n_claims: Log of 1 + the claims of the answer.
        answer_length: Log of 1 + the characters up to the end of its last claim.
    """

    position: float
    n_claims: float
    answer_length: float


CLAIM_FEATURES = (*Wording._fields, *Details._fields, *Setting._fields, *Fields._fields)
ANSWER_FEATURES = (*CLAIM_FEATURES, *AnswerPlace._fields)


def claim_features(
    source: VerifiedSource,
    text: str,
    matches: Sequence[Match],
    commonplaces: Commonplaces,
    *,
    kind: ClaimKind = "statement",
) -> tuple[float, ...]:
    """Measure one claim or edited text against its source.

    Args:
        source: The source, read.
        text: The claim; one without any content word counts as wholly covered.
        matches: Its evidence, best first; may be empty.
        commonplaces: What gives each word its weight.
        kind: The claim's kind; an edited text is a statement.

    Returns:
        One finite value for each name in `CLAIM_FEATURES`.
    """
    found = words(text)
    return (
        *measure_wording(source, found, matches, commonplaces),
        *measure_details(source, text, found, matches),
        *Setting(
            is_lead_in=float(kind == "lead_in"),
            is_structured=float(source.is_structured),
            n_fragments=math.log1p(source.n_parts),
        ),
        *_field_features(source, text, found),
    )


def answer_places(claims: Sequence[Claim]) -> list[AnswerPlace]:
    """Return where each of an answer's claims stands; all of its claims must be given, in order."""
    last = len(claims) - 1
    length = math.log1p(claims[-1].end) if claims else 0.0
    return [
        AnswerPlace(index / last if last else 0.0, math.log1p(len(claims)), length)
        for index in range(len(claims))
    ]


def _field_features(source: VerifiedSource, text: str, found: Sequence[Word]) -> Fields:
    if not source.is_structured:
        return Fields(0.0, 0.0, 0.0, 0.0, 0.0)
    attributes = attribute_findings(text, source.attributes)
    hours = hours_findings(text, source.hours)
    needed = [word.stem for word in found if needs_support(word)]
    return Fields(
        attribute_conflicts=math.log1p(sum(finding.conflicts for finding in attributes)),
        attributes_unknown=math.log1p(
            sum(
                finding.stated in ("unknown", "absent")
                and not _is_reviewed(source, text[finding.start : finding.end])
                for finding in attributes
            )
        ),
        hours_agree=float(hours.n_agreeing > 0),
        hours_conflict=float(hours.n_conflicting > 0),
        review_share=sum(stem in source.review_stems for stem in needed) / max(1, len(needed)),
    )


def _is_reviewed(source: VerifiedSource, mention: str) -> bool:
    return not source.review_stems.isdisjoint(content_stems(words(mention)))
