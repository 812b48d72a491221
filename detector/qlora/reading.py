"""Reads the verdict out of what a generative detector wrote; nothing is repaired or guessed.

An answer that cannot be read is a result of the detector (`empty`, `unparsed`), never a verdict
on the response. The boolean is the verdict: spans that say otherwise, or that stand nowhere in the
response, are counted and named, and change nothing.
"""

from ragmend.errors import AnswerFaultError
from ragmend.llm.json_answers import read_object
from ragmend.llm.protocol import Generation
from ragmend.records import AnswerStatus, Detection, DetectionVerdict, Record, Response
from ragmend.text.locating import locate_spans
from ragmend.trained import DetectorAnswer

_STATUSES: dict[str, AnswerStatus] = {
    "empty": "empty",
    "malformed": "malformed",
    "truncated": "truncated",
}


class _Written(Record):
    """The object that a detector is asked for; both keys are required."""

    hallucinated: bool
    spans: tuple[str, ...]


def read_answer(answer: DetectorAnswer, response: Response, *, run_id: str) -> Detection:
    """Read one answer.

    Args:
        answer: Of a generative detector, without a `problem`.
        response: What it is about.
        run_id: The training's name.
    """
    # The prompt itself is not counted again: messages about this answer name no tokens.
    generation = Generation(
        text=answer.text,
        finish="stop" if answer.ended else "length",
        n_prompt_tokens=0,
        n_tokens=answer.n_tokens,
    )
    try:
        written = read_object(generation, _Written, what="a verdict", seen=(response.text,))
    except AnswerFaultError as fault:
        return _unread(answer, run_id, _STATUSES[fault.status], str(fault))
    located = locate_spans(response.text, written.spans)
    return Detection(
        record_id=answer.record_id,
        run_id=run_id,
        verdict="hallucinated" if written.hallucinated else "clean",
        spans=located.spans,
        unlocated=located.unlocated,
        contradicts=written.hallucinated != any(text.strip() for text in written.spans),
        status="ok",
        raw=answer.text,
        left_out_fragments=answer.left_out_fragments,
    )


def _unread(answer: DetectorAnswer, run_id: str, status: AnswerStatus, reason: str) -> Detection:
    verdict: DetectionVerdict = "empty" if status == "empty" else "unparsed"
    return Detection(
        record_id=answer.record_id,
        run_id=run_id,
        verdict=verdict,
        explanation=reason,
        status=status,
        raw=answer.text,
        left_out_fragments=answer.left_out_fragments,
    )
