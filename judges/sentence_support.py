"""The `sentence-support` judge: a sentence that lies near no fragment is unsupported."""

from ragmend.records import Span
from ragmend.text.reading import SourceReading
from ragmend.text.sentences import sentence_spans
from ragmend.text.tfidf import cosines
from ragmend.text.words import ATTRIBUTION_WORDS, content_stems, is_content, words

# Fewer content words than this say too little to be measured.
MIN_CONTENT_WORDS = 4
MIN_COSINE = 0.40


def find_distant_sentences(reading: SourceReading, answer: str) -> tuple[Span, ...]:
    """Return the sentences of an answer whose best fragment is too far, by TF-IDF cosine."""
    spans = [
        Span(start=start, end=end, text=answer[start:end])
        for start, end in sentence_spans(answer)
        if _is_measurable(answer[start:end])
    ]
    cosine_SF = cosines(reading.tfidf, [content_stems(words(span.text)) for span in spans])
    best_S = cosine_SF.max(axis=1, initial=0.0)
    return tuple(span for span, best in zip(spans, best_S, strict=True) if best < MIN_COSINE)


def _is_measurable(sentence: str) -> bool:
    content = [
        word
        for word in words(sentence)
        if is_content(word.norm) and word.norm not in ATTRIBUTION_WORDS
    ]
    return len(content) >= MIN_CONTENT_WORDS
