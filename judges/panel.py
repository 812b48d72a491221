"""The embedded judges by name: three rules of different kinds, without a language model.

Each is a pure function of what a judge may see (source, question, answer); it knows neither
claims nor evidence nor verdicts of the repair under judgement.
"""

from collections.abc import Callable, Mapping

from ragmend.judges.numbers_names import find_foreign_numbers_and_names
from ragmend.judges.overlap import find_uncovered_sentences
from ragmend.judges.sentence_support import find_distant_sentences
from ragmend.records import Condition, Judgement, Span
from ragmend.text.reading import SourceReading

Judge = Callable[[SourceReading, str], tuple[Span, ...]]

JUDGES: Mapping[str, Judge] = {
    "overlap": find_uncovered_sentences,
    "numbers-names": find_foreign_numbers_and_names,
    "sentence-support": find_distant_sentences,
}


def judge_answer(
    name: str, reading: SourceReading, *, record_id: str, condition: Condition, answer: str
) -> Judgement:
    """Judge one answer to a source.

    Args:
        name: Which judge; a key of `JUDGES`.
        reading: The source that the answer must be supported by, read once; its question is
            context.
        record_id: The answer's record.
        condition: The condition the answer stands for; the judge does not see it.
        answer: The complete answer; one without text is not sent to the judge.

    Returns:
        Label 1 with the unsupported spans, or label 0; status `empty_answer` for an answer
        without text, which is not hallucinatory by definition.
    """
    is_empty = not answer.strip()
    spans = () if is_empty else JUDGES[name](reading, answer)
    return Judgement(
        record_id=record_id,
        condition=condition,
        judge=name,
        label=1 if spans else 0,
        spans=spans,
        status="empty_answer" if is_empty else "ok",
    )
