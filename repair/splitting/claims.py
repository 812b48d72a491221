"""Atomic claims by rule: an answer cut into exact, ordered spans that cover all its words.

A claim is a sentence, a list item's sentence, a heading, a table row, a block of code, or one
of the full clauses that a sentence coordinates. Between claims stand only white space,
invisible characters, list markers, markup and connecting marks, so that leaving claims out
leaves a readable answer. Lines without a letter or digit (rules, an emoji) belong to no claim.

A pair of quotes, brackets or markup is inside one claim or outside all of them, together with
what stands wordless before it (`🎉 "` before several sentences). Half of it is inside a claim
only between words of that claim, where the pair spans several: "He wrote: “It is one. …".

Source: Mulakkayala, van Stein and Plaat (arXiv 2608.29307) split flagged answers by rule
(7,926 claims of 916 answers) but publish no rules; the modules used here state ours.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from ragmend.records import Claim, ClaimKind
from ragmend.repair.splitting.blocks import Block, BlockKind, answer_blocks
from ragmend.repair.splitting.clauses import Clause, clause_spans
from ragmend.repair.splitting.edges import claim_edges
from ragmend.repair.splitting.kinds import (
    claim_kind,
    inline_lead_end,
    is_interjection,
    is_meta,
    looks_like_title,
)
from ragmend.repair.splitting.markers import inline_items, skip_number
from ragmend.text.delimiters import mark_partners
from ragmend.text.sentences import prose_spans

# Blocks that are one claim whatever they hold.
_WHOLE: dict[BlockKind, ClaimKind] = {
    "heading": "heading",
    "row": "statement",
    "code": "statement",
}


class _Unit(NamedTuple):
    """A sentence or item before it is cut into clauses."""

    start: int
    end: int
    kind: ClaimKind


def split_claims(response_text: str, *, record_id: str) -> list[Claim]:
    """Split an answer into its claims.

    Args:
        response_text: The answer as generated; never changed.
        record_id: Prefix of the claim ids "<record>-s<sentence>-c<clause>", both from 0.

    Returns:
        The claims in order: `text == response_text[start:end]`, no two overlap, and every
        letter and digit that is no list marker's is in exactly one. An answer without
        letters and digits has none. A statement split again comes back whole, unless it
        begins as a list item or quoted line would ("(a) …" in mid-paragraph), is indented
        code, or goes on below an item's first line.
    """
    claims: list[Claim] = []
    partners = mark_partners(response_text)
    for index, unit in enumerate(_units(response_text)):
        for part, clause in enumerate(_clauses(response_text, unit)):
            start, end = claim_edges(response_text, clause.start, clause.end, partners=partners)
            claims.append(
                Claim(
                    record_id=record_id,
                    claim_id=f"{record_id}-s{index}-c{part}",
                    text=response_text[start:end],
                    start=start,
                    end=end,
                    kind=unit.kind,
                    coordinator=clause.coordinator,
                )
            )
    return claims


def _clauses(text: str, unit: _Unit) -> list[Clause]:
    if unit.kind != "statement":
        return [Clause(unit.start, unit.end, None)]
    return clause_spans(text, unit.start, unit.end)


def _units(text: str) -> Iterator[_Unit]:
    blocks = answer_blocks(text)
    is_first = True
    for block, below in zip_longest(blocks, blocks[1:]):
        if block.kind in _WHOLE:
            yield _Unit(block.start, block.end, _WHOLE[block.kind])
            is_first = False
            continue
        is_title = below is not None and _is_title(text, block) and not _is_title(text, below)
        for start, end in _sentences(text, block):
            kind = claim_kind(text[start:end], is_first=is_first, is_title=is_title)
            yield _Unit(start, end, kind)
            is_first = False


def _is_title(text: str, block: Block) -> bool:
    """Whether a block looks like a title; of several in a row none is one, they are a list."""
    return block.kind == "prose" and looks_like_title(text[block.start : block.end])


def _sentences(text: str, block: Block) -> list[tuple[int, int]]:
    """Return the sentences of a block without inner list markers, a lead-in by itself."""
    pieces = inline_items(text, block.start, block.end)
    spans = [span for piece in pieces for span in prose_spans(text, start=piece[0], end=piece[1])]
    if len(spans) > 1 and is_interjection(_at(text, spans[0])) and is_meta(_at(text, spans[1])):
        spans[:2] = [(spans[0][0], spans[1][1])]
    return [
        part for start, end in spans for part in _parts(text, skip_number(text, start, end), end)
    ]


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut off the lead-in "Here is …:" that begins a sentence."""
    lead_end = inline_lead_end(text, start, end)
    return [(start, lead_end), (lead_end, end)] if lead_end > start else [(start, end)]


def _at(text: str, span: tuple[int, int]) -> str:
    return text[span[0] : span[1]]
