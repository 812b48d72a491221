"""The length policy: a prompt that does not fit loses pieces of its source, never anything else.

A prompt and its answer must fit the model's context, counted with its own tokenizer. Where they
do not, whole pieces of the source (`ragmend.llm.pieces`) are left out, those first that have
least to do with the answer in question, and how many is recorded. Instruction, question and
answer are never cut: where there is no room for them and for at least one piece of the source,
the prompt is refused, for an answer that was held against nothing was not judged.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmend.errors import AnswerFaultError
from ragmend.llm.pieces import SourcePieces, cut_source
from ragmend.llm.prompts import render_fields
from ragmend.llm.protocol import LLM, Prompt
from ragmend.records import Source
from ragmend.text.sentences import sentence_spans
from ragmend.text.tfidf import cosines, index_fragments
from ragmend.text.words import content_stems, words

TEMPLATE_TOKENS = 256
"""More than any chat template adds to a prompt's own text."""

SURE_SHARE = 0.5
"""A prompt whose UTF-8 bytes are within this share of the context is not counted.

No token of a byte-level or byte-fallback tokenizer is shorter than a byte, so a text has no more
tokens than bytes. The other half is for tokenizers that first normalise the text, as by NFKC,
which makes three letters of one ligature.
"""

_SENTENCES_AT_ONCE = 256  # bounds the matrix of answer sentences × pieces


class Fitted(NamedTuple):
    """A source as a prompt shows it, perhaps shortened, and how many pieces were left out."""

    text: str
    n_left_out: int


def source_text(source: Source) -> str:
    """Return the whole source as prompts show it: text as it stands, fields as JSON."""
    return source.text or "" if source.fields is None else render_fields(source.fields)


async def fit_source(
    llm: LLM,
    source: Source,
    answer: str,
    render: Callable[[str], Prompt],
    *,
    max_tokens: int,
) -> Fitted:
    """Shorten a source until the longest prompt about it fits a model's context.

    The pieces most like a sentence of the answer are kept, as many as fit; one that is too long
    for what room is left is passed over for the next. It takes one count of tokens where all
    fits, none where that is certain, else about as many as the source's length has bits.

    Args:
        llm: The model that will be asked.
        source: What the answer is held against.
        answer: What pieces are ranked by; of a claim, the answer that it is part of.
        render: Returns the longest prompt that will be asked, given the source as it shows it.
        max_tokens: The most tokens of the model's answer.

    Raises:
        AnswerFaultError: `too_long` where the prompt does not fit with no piece of the source, or
            not with one; and as `llm.count_tokens`.
        ServerError: As `llm.count_tokens`.
    """
    whole = source_text(source)
    if _is_surely_short(render(whole), max_tokens, llm.context_length):
        return Fitted(whole, 0)
    room = llm.context_length - max_tokens

    async def fits(text: str) -> bool:
        try:
            return await llm.count_tokens(render(text)) <= room
        except AnswerFaultError as fault:
            if fault.status != "too_long":  # said by a server that cannot count, only refuse
                raise
            return False

    if await fits(whole):
        return Fitted(whole, 0)
    n_tokens = await llm.count_tokens(render(""))
    without = f"without its source the prompt has {n_tokens} tokens and its answer may have "
    without += f"{max_tokens}; the context of {llm.model} holds {llm.context_length}"
    todo = "use a model with a longer context, or allow a shorter answer"
    if n_tokens > room:
        raise AnswerFaultError(f"{without}: {todo}", status="too_long")
    pieces = cut_source(source)
    kept = await _most_that_fit(pieces, _ranked(pieces, answer), fits)
    if not kept:
        message = f"{without}, and no piece of the source fits beside it: {todo}"
        raise AnswerFaultError(message, status="too_long")
    return Fitted(pieces.show(kept), len(pieces.texts) - len(kept))


def _is_surely_short(prompt: Prompt, max_tokens: int, context_length: int) -> bool:
    n_bytes = len(prompt.system.encode()) + len(prompt.user.encode())
    return n_bytes + TEMPLATE_TOKENS + max_tokens <= SURE_SHARE * context_length


async def _most_that_fit(
    pieces: SourcePieces, ranked: Sequence[int], fits: Callable[[str], Awaitable[bool]]
) -> frozenset[int]:
    """Return the best pieces that fit together, by bisection over their length in characters.

    Returns:
        Positions; none where not even the shortest piece fits. All of them are known not to.
    """
    n_chars = [max(len(text), 1) for text in pieces.texts]
    low, high = min(n_chars, default=0), sum(n_chars)
    best, too_many = _packed(n_chars, ranked, low), frozenset(ranked)
    if best == too_many or not await fits(pieces.show(best)):
        return frozenset()
    while high - low > 1:
        middle = (low + high) // 2
        kept = _packed(n_chars, ranked, middle)
        if kept == best or (kept != too_many and await fits(pieces.show(kept))):
            low, best = middle, kept
        else:
            high, too_many = middle, kept
    return best


def _packed(n_chars: Sequence[int], ranked: Sequence[int], room: int) -> frozenset[int]:
    """Return the pieces, best first, that a room holds, each that what is left of it holds."""
    kept = []
    for position in ranked:
        if n_chars[position] <= room:
            kept.append(position)
            room -= n_chars[position]
    return frozenset(kept)


def _ranked(pieces: SourcePieces, answer: str) -> list[int]:
    """Return the pieces' positions, most relevant first, equals in the source's order.

    Relevance is the greatest cosine with a sentence of the answer, not that with the whole: what
    bears on one claim alone must not lose to what touches on several.
    """
    index = index_fragments([content_stems(words(text)) for text in pieces.texts])
    stems = [content_stems(words(answer[start:end])) for start, end in sentence_spans(answer)]
    batches = (
        stems[at : at + _SENTENCES_AT_ONCE] for at in range(0, len(stems), _SENTENCES_AT_ONCE)
    )
    start: NDArray[np.float64] = np.zeros(len(pieces.texts))
    relevance = reduce(np.maximum, (cosines(index, batch).max(axis=0) for batch in batches), start)
    return [int(position) for position in np.argsort(-relevance, kind="stable")]
