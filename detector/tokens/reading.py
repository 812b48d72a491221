"""Token probabilities read as a verdict with character spans."""

from collections.abc import Iterator

from ragmend.errors import DataError
from ragmend.records import Detection, Response, Span
from ragmend.scoring import merge_spans
from ragmend.trained import DetectorAnswer


def read_scores(
    answer: DetectorAnswer, response: Response, *, run_id: str, threshold: float | None
) -> Detection:
    """Read a verdict out of the probabilities of a response's tokens.

    Args:
        answer: Without a problem.
        response: What it is about.
        run_id: Of the detection.
        threshold: A token is unsupported where its probability is at least this.

    Returns:
        `hallucinated` if and only if there is a span; `empty` without a token, for then nothing
        was judged. The score is the greatest probability.

    Raises:
        ValueError: The answer has a problem, or is about another response, or there is no
            threshold.
        DataError: A token lies outside of the response.
    """
    if answer.problem is not None or answer.record_id != response.record_id:
        raise ValueError(
            f"answer of {answer.record_id!r} (problem: {answer.problem}) cannot be read as one "
            f"about {response.record_id!r}"
        )
    if not answer.scores or not response.text.strip():
        return Detection(
            record_id=response.record_id,
            run_id=run_id,
            verdict="empty",
            status="empty",
            left_out_fragments=answer.left_out_fragments,
        )
    if threshold is None:
        raise ValueError(f"{run_id}: token probabilities are read with a threshold, found none")
    spans = tuple(_spans(answer, response.text, threshold))
    return Detection(
        record_id=response.record_id,
        run_id=run_id,
        verdict="hallucinated" if spans else "clean",
        spans=spans,
        score=greatest_score(answer),
        status="ok",
        left_out_fragments=answer.left_out_fragments,
    )


def greatest_score(answer: DetectorAnswer) -> float | None:
    """Return the greatest probability of an answer's tokens; None of an answer without any.

    It flags the response if and only if it is at least the threshold.
    """
    return max((score.p for score in answer.scores), default=None)


def _spans(answer: DetectorAnswer, text: str, threshold: float) -> Iterator[Span]:
    """Yield the runs of unsupported tokens, without the white space around them."""
    flagged = [
        _trim(text, *_stretch(answer, score.start, score.end, len(text)))
        for score in answer.scores
        if score.p >= threshold
    ]
    joined: list[tuple[int, int]] = []
    for start, end in merge_spans((start, end) for start, end in flagged if start < end):
        # Every other character belongs to a token, which is then a supported one.
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    for start, end in joined:
        yield Span(start=start, end=end, text=text[start:end])


def _stretch(answer: DetectorAnswer, start: int, end: int, length: int) -> tuple[int, int]:
    if not start < end <= length:
        raise DataError(
            f"answer about {answer.record_id!r}: a token at {start}:{end} does not lie in its "
            f"response of {length} characters; the response has changed since it was judged"
        )
    return start, end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    left = len(stretch) - len(stretch.lstrip())
    return (start + left, start + len(stretch.rstrip())) if left < len(stretch) else (start, start)
