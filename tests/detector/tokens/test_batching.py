"""Which responses are asked together, and as which arrays."""

import numpy as np

from ragmend.detector.tokens.batching import batch_by_length, pad_columns
from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION
from ragmend.detector.training.job import Pair
from ragmend.records import Response, Source


def pair(record_id, n_source, n_answer):
    return Pair(
        Response(record_id=record_id, source_id="s", generator="g", text="a" * n_answer,
                 split="train"),
        Source(source_id="s", task_type="Summary", text="b" * n_source),
    )  # fmt: skip


PAIRS = [pair("10", 5, 5), pair("9", 5, 5), pair("3", 90, 1), pair("4", 1, 40), pair("5", 2, 2)]


def test_the_longest_are_asked_first_and_equals_by_their_ids():
    batches = [[p.response.record_id for p in batch] for batch in batch_by_length(PAIRS, 2)]
    assert batches == [["3", "4"], ["9", "10"], ["5"]]


def test_batches_do_not_depend_on_the_order_of_the_pairs():
    assert list(batch_by_length(PAIRS[::-1], 3)) == list(batch_by_length(PAIRS, 3))


def test_nothing_makes_no_batch():
    assert list(batch_by_length([], 3)) == []


def test_what_is_padded_is_no_token_and_has_no_loss():
    rows = [
        {"input_ids": np.array([5, 6], np.int32), "attention_mask": np.array([1, 1], np.int32),
         "token_type_ids": np.array([0, 1], np.int32), "labels": np.array([-100, 1], np.int32)},
        {"input_ids": np.array([7, 8, 9], np.int32), "attention_mask": np.ones(3, np.int32),
         "token_type_ids": np.ones(3, np.int32), "labels": np.array([-100, 0, 1], np.int32)},
    ]  # fmt: skip
    padded = pad_columns(rows, names={"input_ids", "attention_mask"}, pad_id=4)
    assert {name: array.tolist() for name, array in padded.items()} == {
        "input_ids": [[5, 6, 4], [7, 8, 9]],
        "attention_mask": [[1, 1, 0], [1, 1, 1]],
        "labels": [[-100, 1, -100], [-100, 0, 1]],
    }
    assert {array.dtype for array in padded.values()} == {np.dtype(np.int64)}


def test_a_token_classifier_writes_no_text_whose_tokens_matter():
    assert TOKEN_CLASSIFICATION.token_facts(None, PAIRS) is None
