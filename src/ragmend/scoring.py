"""The RAGTruth protocol, once: response-level and character-level scores of detections.

Source: Niu et al. 2024 (RAGTruth), section 5.1; Mulakkayala, van Stein, Plaat
(arXiv 2608.29307), section 4.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Score(NamedTuple):
    """Counts of a binary decision, and the rates that follow from them.

    A rate without a denominator is None: undefined is not zero.
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP)."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """TP / (TP + FN)."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN)."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def score_responses(gold: Sequence[bool], flagged: Sequence[bool]) -> Score:
    """Score response-level decisions; positive = hallucinated.

    Args:
        gold: Whether each response has at least one gold span.
        flagged: Whether the detector's verdict on it is `hallucinated`; an empty or
            unparsed detector answer counts as not flagged, as published.
    """
    pairs = list(zip(gold, flagged, strict=True))
    return Score(
        tp=sum(g and f for g, f in pairs),
        fp=sum(f and not g for g, f in pairs),
        fn=sum(g and not f for g, f in pairs),
        tn=sum(not g and not f for g, f in pairs),
    )


def score_spans(
    gold: Sequence[Iterable[tuple[int, int]]],
    predicted: Sequence[Iterable[tuple[int, int]]],
    lengths: Sequence[int],
) -> Score:
    """Score character spans, pooled over responses; overlaps within a side are merged.

    Args:
        gold: Gold spans of each response, (start, end) in code points, in any order.
        predicted: Predicted spans of each response.
        lengths: Characters of each response, for the true negatives.
    """
    tp = fp = fn = tn = 0
    for gold_spans, predicted_spans, length in zip(gold, predicted, lengths, strict=True):
        wanted, found = merge_spans(gold_spans), merge_spans(predicted_spans)
        shared = _overlap(wanted, found)
        n_wanted, n_found = _size(wanted), _size(found)
        tp, fp, fn = tp + shared, fp + n_found - shared, fn + n_wanted - shared
        tn += length - n_wanted - n_found + shared
    return Score(tp, fp, fn, tn)


def macro_f1(scores: Iterable[Score]) -> float | None:
    """Return the mean of the tasks' F1s; None where any of them is undefined."""
    values = [score.f1 for score in scores]
    defined = [value for value in values if value is not None]
    return sum(defined) / len(values) if values and len(defined) == len(values) else None


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the union of spans as ordered, disjoint spans; touching ones are joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def overlaps_any(start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Tell whether [start, end) shares at least one character with any of the spans."""
    return any(start < other_end and other_start < end for other_start, other_end in spans)


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None


def _size(spans: Iterable[tuple[int, int]]) -> int:
    return sum(end - start for start, end in spans)


def _overlap(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> int:
    # Both sides are ordered and disjoint, so one sweep over the two suffices.
    total = i = j = 0
    while i < len(left) and j < len(right):
        total += max(0, min(left[i][1], right[j][1]) - max(left[i][0], right[j][0]))
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
    return total
