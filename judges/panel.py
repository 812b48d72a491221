"""The embedded judges by name: three rules of different kinds, without a language model.

Each is a pure function of what a judge may see (source, question, answer); it knows neither
claims nor evidence nor verdicts of the repair under judgement.
"""

from collections.abc import Callable, Mapping

from ragmend.judges.numbers_names import find_foreign_numbers_and_names
from ragmend.judges.overlap import find_uncovered_sentences
from ragmend.judges.sentence_support import find_distant_sentences
from ragmend.records import Condition, Judgement, Source, Span
from ragmend.text.reading import SourceReading, read_source

Judge = Callable[[SourceReading, str], tuple[Span, ...]]

JUDGES: Mapping[str, Judge] = {
    "overlap": find_uncovered_sentences,
    "numbers-names": find_foreign_numbers_and_names,
    "sentence-support": find_distant_sentences,
}


def judge_answer(
    name: str, source: Source, *, record_id: str, condition: Condition, answer: str
) -> Judgement:
    """Judge one answer to a source.

    Args:
        name: Which judge.
        source: What the answer must be supported by; its question is context.
        record_id: The answer's record.
        condition: The condition the answer stands for; the judge does not see it.
        answer: The complete answer; an empty one is not sent to the judge.

    Returns:
        Label 1 with the unsupported spans, or label 0; status `empty_answer` for the empty
        answer, which is not hallucinatory by definition.
    """
    return judge_reading(
        name, read_source(source), record_id=record_id, condition=condition, answer=answer
    )


def judge_reading(
    name: str, reading: SourceReading, *, record_id: str, condition: Condition, answer: str
) -> Judgement:
    """Judge one answer to a source that was read before, for many answers to one source."""
    spans = JUDGES[name](reading, answer) if answer else ()
    return Judgement(
        record_id=record_id,
        condition=condition,
        judge=name,
        label=1 if spans else 0,
        spans=spans,
        status="ok" if answer else "empty_answer",
    )
