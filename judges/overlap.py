"""The `overlap` judge: a sentence most of whose content words the source lacks is unsupported."""

from ragmend.records import Span
from ragmend.text.content import supportable_stems
from ragmend.text.reading import SourceReading
from ragmend.text.sentences import sentence_spans
from ragmend.text.words import words

# Fewer content words than this say too little to be measured.
MIN_CONTENT_WORDS = 4
# Youden's index is greatest here on RAGTruth's 3,444 train question-answering responses at hand:
# .639 of the hallucinated and .308 of the clean ones are flagged (.448 of all, .424 are gold).
MIN_COVERAGE = 0.50


def find_uncovered_sentences(reading: SourceReading, answer: str) -> tuple[Span, ...]:
    """Return the sentences of an answer whose content words are mostly not in the source."""
    return tuple(
        Span(start=start, end=end, text=answer[start:end])
        for start, end in sentence_spans(answer)
        if _coverage(reading, answer[start:end]) < MIN_COVERAGE
    )


def _coverage(reading: SourceReading, sentence: str) -> float:
    """Return the share of a sentence's content words in the source; 1 if it has too few."""
    stems = supportable_stems(words(sentence))
    if len(stems) < MIN_CONTENT_WORDS:
        return 1.0
    return sum(stem in reading.content for stem in stems) / len(stems)
