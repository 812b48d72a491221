"""The threshold of a token classifier, chosen on development answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmend.detector.tokens.reading import greatest_score, read_scores
from ragmend.errors import DataError
from ragmend.records import Response
from ragmend.scoring import Score, score_responses, score_spans
from ragmend.trained import DetectorAnswer

MIDDLE = 0.5


class ThresholdCounts(NamedTuple):
    """How a threshold does.

    Attributes:
        responses: Of responses, flagged or not.
        spans: Of characters, pooled.
    """

    responses: Score
    spans: Score


def choose_threshold(
    answers: Mapping[str, DetectorAnswer], responses: Sequence[Response]
) -> float | None:
    """Choose the threshold with the best response-level F1.

    A response is flagged where its greatest token probability is at least the threshold, so all
    thresholds between two neighbouring greatest probabilities flag the same. Of such a stretch .5
    is taken if it lies in it, else its middle; of stretches with the same F1, that whose threshold
    is nearest to .5, and of two as near, the higher: spans are read with it too, and far from .5
    they would lose, or gain, most of their tokens. An answer with a problem or without tokens is
    not flagged, whatever the threshold.

    Args:
        answers: By record id, one a response.
        responses: Development responses, each annotated.

    Returns:
        None where no answer has a token: there is nothing that a threshold could flag.

    Raises:
        DataError: A response lacks an answer or an annotation, or none is hallucinated, so that F1
            says nothing.
    """
    golds = _golds(responses)
    greatest = [_greatest(answers, response) for response in responses]
    if all(value is None for value in greatest):
        return None
    if not any(golds):
        raise DataError(
            f"none of the {len(responses)} development answers is hallucinated: no threshold can "
            "be chosen on them; hold out more (training.development)"
        )
    candidates = _f1_by_threshold(greatest, golds)
    return max(candidates, key=lambda c: (c[1], -abs(c[0] - MIDDLE), c[0]))[0]


def count_at_threshold(
    answers: Mapping[str, DetectorAnswer], responses: Sequence[Response], threshold: float
) -> ThresholdCounts:
    """Count at both levels how a threshold does on annotated responses.

    Raises:
        DataError: As `choose_threshold`.
    """
    golds = _golds(responses)
    greatest = [_greatest(answers, response) for response in responses]
    found = [
        () if value is None else _spans(answers[response.record_id], response, threshold)
        for response, value in zip(responses, greatest, strict=True)
    ]
    return ThresholdCounts(
        score_responses(golds, [value is not None and value >= threshold for value in greatest]),
        score_spans(
            [[(span.start, span.end) for span in r.gold_spans or ()] for r in responses],
            found,
            [len(response.text) for response in responses],
        ),
    )


def _golds(responses: Sequence[Response]) -> list[bool]:
    for response in responses:
        if response.gold_spans is None:
            raise DataError(
                f"development answer {response.record_id!r}: nobody annotated it (gold_spans is "
                "null); leave it out"
            )
    return [bool(response.gold_spans) for response in responses]


def _greatest(answers: Mapping[str, DetectorAnswer], response: Response) -> float | None:
    answer = answers.get(response.record_id)
    if answer is None:
        raise DataError(f"development answer {response.record_id!r}: the detector gave no answer")
    return None if answer.problem is not None else greatest_score(answer)


def _f1_by_threshold(
    greatest: Sequence[float | None], golds: Sequence[bool]
) -> Iterator[tuple[float, float]]:
    """Yield a threshold for each set that one can flag, with its F1, from the smallest set up."""
    n_gold = sum(golds)
    ranked = sorted(
        ((value, gold) for value, gold in zip(greatest, golds, strict=True) if value is not None),
        reverse=True,
    )
    n_hits = 0
    for n_flagged, (value, gold) in enumerate(ranked, 1):
        n_hits += gold
        below = ranked[n_flagged][0] if n_flagged < len(ranked) else 0.0
        if below < value or n_flagged == len(ranked):
            # 2 TP / (2 TP + FP + FN); equal fractions give equal floats.
            yield _between(below, value), 2 * n_hits / (n_flagged + n_gold)


def _between(below: float, value: float) -> float:
    """Return the threshold of those above `below` and at most `value`."""
    if below < MIDDLE <= value:
        return MIDDLE
    middle = (below + value) / 2
    return middle if middle > below else value  # neighbouring numbers have none between them


def _spans(answer: DetectorAnswer, response: Response, threshold: float) -> list[tuple[int, int]]:
    found = read_scores(answer, response, run_id="development", threshold=threshold)
    return [(span.start, span.end) for span in found.spans]
