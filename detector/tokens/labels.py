"""Gold spans as labels of tokens."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragmend.detector.tokens.encoding import Encoded
from ragmend.errors import DataError
from ragmend.records import Response

NO_LOSS = -100
"""The label that losses pass over."""


def label_tokens(encoded: Encoded, response: Response) -> NDArray[np.int32]:
    """Label what is unsupported.

    Args:
        encoded: The response beside its source.
        response: It, annotated.

    Returns:
        Shape (length,): 1 for a token that shares a character with a gold span which is not white
        space, 0 for another of the answer, `NO_LOSS` for whatever is never read: the context,
        special tokens, tokens of white space.

    Raises:
        DataError: Nobody annotated it, or a span lies outside of it.
    """
    marked = _marked(response)
    labels = np.full(encoded.length, NO_LOSS, dtype=np.int32)
    for token in encoded.tokens:
        labels[token.position] = marked[token.start : token.end].any()
    return labels


def require_gold(responses: Sequence[Response]) -> None:
    """Refuse responses that nobody annotated: no span is not the same as none known.

    Raises:
        DataError: There is one.
    """
    unknown = [response.record_id for response in responses if response.gold_spans is None]
    if unknown:
        raise DataError(
            f"response {unknown[0]!r}: nobody annotated it (gold_spans is null), nor "
            f"{len(unknown) - 1} others; leave them out, for a detector learns from spans"
        )


def _marked(response: Response) -> NDArray[np.bool_]:
    """Return which characters are gold and no white space."""
    require_gold([response])
    text = response.text
    marked = np.zeros(len(text), dtype=np.bool_)
    for span in response.gold_spans or ():
        if span.end > len(text):
            raise DataError(
                f"response {response.record_id!r}: its gold span {span.start}:{span.end} lies "
                f"outside of its text of {len(text)} characters"
            )
        marked[span.start : span.end] = True
    return marked & np.array([not character.isspace() for character in text], dtype=np.bool_)
