"""The `sentence-support` judge: a sentence that lies near no fragment is unsupported."""

from ragmend.records import Span
from ragmend.text.content import supportable_stems
from ragmend.text.reading import SourceReading
from ragmend.text.sentences import sentence_spans
from ragmend.text.tfidf import cosines
from ragmend.text.words import content_stems, words

# Fewer content words than this say too little to be measured.
MIN_CONTENT_WORDS = 4
# Youden's index is greatest here on RAGTruth's 3,444 train question-answering responses at hand:
# .635 of the hallucinated and .389 of the clean ones are flagged (.493 of all, .424 are gold).
MIN_COSINE = 0.40


def find_distant_sentences(reading: SourceReading, answer: str) -> tuple[Span, ...]:
    """Return the sentences of an answer whose best fragment is too far, by TF-IDF cosine."""
    spans = [
        Span(start=start, end=end, text=answer[start:end])
        for start, end in sentence_spans(answer)
        if len(supportable_stems(words(answer[start:end]))) >= MIN_CONTENT_WORDS
    ]
    cosine_SF = cosines(reading.tfidf, [content_stems(words(span.text)) for span in spans])
    best_S = cosine_SF.max(axis=1, initial=0.0)
    return tuple(span for span, best in zip(spans, best_S, strict=True) if best < MIN_COSINE)
