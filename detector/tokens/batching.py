"""Which responses are classified together, and as which arrays."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragmend.detector.tokens.labels import NO_LOSS
from ragmend.detector.training.job import Pair
from ragmend.llm.fitting import source_text
from ragmend.records import record_order

LABELS = "labels"


def batch_by_length(pairs: Sequence[Pair], size: int) -> Iterator[Sequence[Pair]]:
    """Put pairs of about one length together, the longest first: what does not fit shows at once.

    Length is counted in characters, so that no tokenizer is needed; of equals, the lower id is
    first. The batches depend on the pairs alone.
    """
    ranked = sorted(pairs, key=lambda pair: (-_n_characters(pair), _rank(pair)))
    return (ranked[at : at + size] for at in range(0, len(ranked), size))


def pad_columns(
    rows: Sequence[Mapping[str, NDArray[np.int32]]], *, names: Collection[str], pad_id: int
) -> dict[str, NDArray[np.int64]]:
    """Put encoded sequences of different lengths into arrays, padded at their ends.

    Args:
        rows: By name, arrays of shape (length,).
        names: Those that are wanted; `labels` are too where there are any.
        pad_id: What "input_ids" are padded with. Labels are with `NO_LOSS`, others with 0.

    Returns:
        By name, arrays of shape (number of rows, greatest length).
    """
    fillers = {"input_ids": pad_id, LABELS: NO_LOSS}
    length = max(len(row["input_ids"]) for row in rows)
    padded = {}
    for name in (name for name in rows[0] if name in names or name == LABELS):
        padded[name] = np.full((len(rows), length), fillers.get(name, 0), dtype=np.int64)
        for number, row in enumerate(rows):
            padded[name][number, : len(row[name])] = row[name]
    return padded


def _n_characters(pair: Pair) -> int:
    return len(source_text(pair.source)) + len(pair.response.text)


def _rank(pair: Pair) -> tuple[int, int, str, str]:
    return record_order(pair.response.record_id)
