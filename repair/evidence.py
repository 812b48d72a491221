"""Evidence: the source fragments that lie nearest to a claim, by TF-IDF cosine.

A source is indexed once and all its claims, from all its answers, are matched at once.
"""

from collections.abc import Iterator, Sequence

from ragmend.records import Claim, Evidence, Source
from ragmend.text.fragments import Fragment
from ragmend.text.reading import read_source
from ragmend.text.tfidf import Match, best_fragments
from ragmend.text.words import content_stems, words


def match_evidence(
    source: Source, claims: Sequence[Claim], *, top_k: int, window: int = 1
) -> list[Evidence]:
    """Find up to `top_k` fragments for each claim; a claim that shares no word gets none.

    Args:
        source: What the claims must be supported by.
        claims: Claims of any number of answers to this source.
        top_k: The most fragments a claim gets, at least 1.
        window: The most neighbouring sentences that are offered together as one fragment.

    Returns:
        Rows in the order of the claims, then by rank from 1; equal scores rank in the order
        of the source. No two rows of a claim share a sentence or say one field twice.
        Fragments of unknown (null) fields say so in their text.
    """
    reading = read_source(source, window=window)
    stems_C = [content_stems(words(claim.text)) for claim in claims]
    matches_C = best_fragments(reading.tfidf, stems_C, top_k=top_k)
    return [
        row
        for claim, matches in zip(claims, matches_C, strict=True)
        for row in _rows(claim, matches, reading.fragments)
    ]


def _rows(
    claim: Claim, matches: Sequence[Match], fragments: Sequence[Fragment]
) -> Iterator[Evidence]:
    for rank, (position, score) in enumerate(matches, start=1):
        yield Evidence(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            rank=rank,
            fragment_id=fragments[position].fragment_id,
            text=fragments[position].text,
            score=score,
        )
