"""The `numbers-names` judge: a number, date, time or name that nothing given to it states.

What the question says may be repeated: a name in the question is no invention. One foreign
number or name is enough: Youden's index falls with two on RAGTruth's 3,444 train
question-answering responses at hand. With one, .373 of the hallucinated and .107 of the clean
ones are flagged (.220 of all, .424 are gold).
"""

from ragmend.records import Span
from ragmend.scoring import merge_spans
from ragmend.text.names import NameSpan, names
from ragmend.text.quantities.numbers import is_stated, numbers
from ragmend.text.reading import SourceReading


def find_foreign_numbers_and_names(reading: SourceReading, answer: str) -> tuple[Span, ...]:
    """Return the numbers, dates, times and names of an answer that are not in the source."""
    stated = reading.number_keys | reading.question_number_keys
    foreign = [
        *((found.start, found.end) for found in numbers(answer) if not is_stated(found, stated)),
        *((found.start, found.end) for found in names(answer) if _is_foreign(reading, found)),
    ]
    return tuple(
        Span(start=start, end=end, text=answer[start:end]) for start, end in merge_spans(foreign)
    )


def _is_foreign(reading: SourceReading, name: NameSpan) -> bool:
    return any(
        word.stem not in reading.stems and word.stem not in reading.question_stems
        for word in name.words
    )
