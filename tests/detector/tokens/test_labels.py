"""Gold spans as labels of tokens, without a tokenizer."""

import numpy as np
import pytest

from ragmend.detector.tokens.encoding import AnswerToken, Encoded
from ragmend.detector.tokens.labels import NO_LOSS, label_tokens, require_gold
from ragmend.errors import DataError
from ragmend.records import GoldSpan, Response

TEXT = "one two three"
# [CLS] x [SEP] one␣ two ␣th ree [SEP]; the white space before "two" is its own token.
TOKENS = (
    AnswerToken(3, 0, 3), AnswerToken(5, 4, 7), AnswerToken(6, 7, 10), AnswerToken(7, 10, 13)
)  # fmt: skip
ENCODED = Encoded({"input_ids": np.arange(9, dtype=np.int32)}, TOKENS, 5, 0)


def respond(*spans, text=TEXT):
    gold = tuple(
        GoldSpan(start=start, end=end, text="x" * (end - start), label_type="Baseless")
        for start, end in spans
    )
    return Response(
        record_id="r7", source_id="s", generator="g", text=text, gold_spans=gold, split="train"
    )


@pytest.mark.parametrize(
    ("spans", "labels"),
    [
        ([], [0, 0, 0, 0]),
        ([(0, 3)], [1, 0, 0, 0]),
        ([(2, 5)], [1, 1, 0, 0]),
        ([(3, 4)], [0, 0, 0, 0]),  # white space alone
        ([(4, 8)], [0, 1, 0, 0]),  # of the third token only its white space
        ([(9, 10)], [0, 0, 1, 0]),
        ([(0, 2), (1, 3), (12, 13)], [1, 0, 0, 1]),  # overlapping ones, as they are in the data
        ([(0, 13)], [1, 1, 1, 1]),
    ],
)
def test_a_token_is_unsupported_that_shares_a_visible_character_with_a_span(spans, labels):
    found = label_tokens(ENCODED, respond(*spans))
    assert [found[token.position] for token in TOKENS] == labels


def test_nothing_but_visible_tokens_of_the_answer_has_a_loss():
    found = label_tokens(ENCODED, respond((0, 13)))
    assert [at for at, label in enumerate(found) if label != NO_LOSS] == [3, 5, 6, 7]


def test_a_span_outside_of_the_response_is_refused():
    with pytest.raises(DataError, match=r"'r7': its gold span 10:14 lies outside .* 13"):
        label_tokens(ENCODED, respond((10, 14)))


def test_a_response_that_nobody_annotated_is_not_one_without_spans():
    unknown = respond().model_copy(update={"gold_spans": None})
    with pytest.raises(DataError, match="'r7': nobody annotated it"):
        label_tokens(ENCODED, unknown)
    with pytest.raises(DataError, match=r"'r7'.*nor 1 others"):
        require_gold([respond(), unknown, unknown])
