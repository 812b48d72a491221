"""A response beside its source, as an encoder sees it: the one function of training and of use.

The input is a pair of sequences: the context (task, question, source) and the answer exactly as it
stands. Only the source is ever shortened.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragmend.detector.training.job import Pair
from ragmend.detector.training.shortening import shorten_source
from ragmend.records import Source
from ragmend.scoring import merge_spans

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Columns: TypeAlias = dict[str, NDArray[np.int32]]


class AnswerToken(NamedTuple):
    """A token of the answer.

    Attributes:
        position: Where it stands in the input.
        start: Where its stretch of the answer begins, in code points.
        end: Where it ends, exclusive; always after `start`.
    """

    position: int
    start: int
    end: int


class Encoded(NamedTuple):
    """A pair as an encoder sees it.

    Attributes:
        columns: What the tokenizer makes for the model, as "input_ids"; each of shape (length,).
        tokens: Those of the answer that hold more than white space, in order. Together their
            stretches cover every character of it that is not white space.
        n_answer_tokens: All of the answer's, those of white space too.
        n_left_out: Pieces of the source that were left out.
    """

    columns: Columns
    tokens: tuple[AnswerToken, ...]
    n_answer_tokens: int
    n_left_out: int

    @property
    def length(self) -> int:
        """How many tokens it has, special ones too."""
        return len(self.columns["input_ids"])


def encode_pair(
    tokenizer: "PreTrainedTokenizerBase", pair: Pair, max_length: int
) -> Encoded | None:
    """Encode a response beside as much of its source as fits.

    Args:
        tokenizer: One that tells offsets.
        pair: What is encoded.
        max_length: The most tokens of all, special ones too.

    Returns:
        None where the answer and the question fit with no piece of the source.
    """
    answer = pair.response.text
    fitting: dict[str, Encoded] = {}

    def fits(text: str) -> bool:
        encoded = _encode(tokenizer, context_text(pair.source, text), answer)
        if encoded.length > max_length:
            return False
        fitting[text] = encoded
        return True

    short = shorten_source(pair.source, fits)
    if short is None:
        return None
    return fitting[short.text]._replace(n_left_out=short.n_left_out)


def context_text(source: Source, text: str) -> str:
    """Return what stands before the answer, given the source as it is shown."""
    question = () if source.question is None else (f"Question: {source.question}",)
    return "\n".join((f"Task: {source.task_type}", *question, "Source:", text))


def _encode(tokenizer: "PreTrainedTokenizerBase", context: str, answer: str) -> Encoded:
    encoding = tokenizer(
        context,
        answer,
        return_offsets_mapping=True,
        truncation=False,
        padding=False,
        # "[SEP]" in somebody's text is these five characters, not the end of a sequence.
        split_special_tokens=True,
        verbose=False,
    )
    places = [
        AnswerToken(position, *offset)
        for position, (offset, sequence) in enumerate(
            zip(encoding["offset_mapping"], encoding.sequence_ids(0), strict=True)
        )
        if sequence == 1
    ]
    columns = {
        name: np.asarray(encoding[name], dtype=np.int32)
        for name in tokenizer.model_input_names
        if name in encoding
    }
    return Encoded(columns, tuple(_covering(places, answer)), len(places), 0)


def _covering(places: Sequence[AnswerToken], answer: str) -> Iterator[AnswerToken]:
    """Yield the tokens with a character that is not white space, so that they cover all such.

    Normalisers compose accents and drop invisible characters, and the offsets then pass over what
    is gone. That belongs to the token before it, at the beginning to the first.
    """
    tokens = [token for token in places if token.start < token.end]
    first = min((token.start for token in tokens), default=0)
    begin = first - len(answer[:first].lstrip())
    ends = _ends_with_what_follows(tokens, answer)
    for token in tokens:
        start = begin if token.start == first else token.start
        end = ends.get(token.end, token.end)
        if answer[start:end].strip():
            yield AnswerToken(token.position, start, end)


def _ends_with_what_follows(tokens: Sequence[AnswerToken], answer: str) -> dict[int, int]:
    """Return, for each end with characters behind it that no token has, where those end."""
    spans = merge_spans((token.start, token.end) for token in tokens)
    begins = [*(start for start, _ in spans[1:]), len(answer)]
    # Without a token, the only gap is the whole answer, and it follows on none.
    return {
        end: end + len(answer[end:begin].rstrip())
        for (_, end), begin in zip(spans, begins, strict=False)
    }
