"""What a judge is, and how its findings on one answer become a judgement."""

from typing import NamedTuple, Protocol

from ragmend.records import Condition, Judgement, Source, Span


class Found(NamedTuple):
    """What a judge found unsupported in an answer.

    Attributes:
        spans: Stretches of the answer.
        unlocated: Strings that it named and that stand nowhere in the answer.
        raw: Its answer as it came, of a language model.
        left_out_fragments: Fragments of the source that did not fit its context.
    """

    spans: tuple[Span, ...]
    unlocated: tuple[str, ...] = ()
    raw: str | None = None
    left_out_fragments: int = 0


class Judge(Protocol):
    """Finds what a source does not support; it sees source, question and answer only."""

    async def find(self, source: Source, answer: str) -> Found:
        """Return what is unsupported in an answer that has text.

        Raises:
            AnswerFaultError: No usable judgement came.
        """


async def judge_answer(
    judge: Judge, source: Source, *, name: str, record_id: str, condition: Condition, answer: str
) -> Judgement:
    """Judge one answer to a source.

    Args:
        judge: Who judges.
        source: What the answer must be supported by; its question is context.
        name: The judge's name in the panel.
        record_id: The answer's record.
        condition: The condition the answer stands for; the judge does not see it.
        answer: The complete answer; one without text is not sent to the judge.

    Returns:
        Label 1 with the unsupported spans, located in the answer or not, or label 0; status
        `empty_answer` for an answer without text, which is not hallucinatory by definition.

    Raises:
        AnswerFaultError: No usable judgement came.
    """
    is_empty = not answer.strip()
    found = Found(()) if is_empty else await judge.find(source, answer)
    return Judgement(
        record_id=record_id,
        condition=condition,
        judge=name,
        label=1 if found.spans or found.unlocated else 0,
        spans=found.spans,
        unlocated=found.unlocated,
        left_out_fragments=found.left_out_fragments,
        status="empty_answer" if is_empty else "ok",
        raw=found.raw,
    )
