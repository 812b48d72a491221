"""The embedded judges by name: three rules of different kinds, without a language model.

Each is a pure function of what a judge may see (source, question, answer); it knows neither
claims nor evidence nor verdicts of the repair under judgement.
"""

from collections.abc import Callable, Mapping

from ragmend.judges.judging import Found
from ragmend.judges.numbers_names import find_foreign_numbers_and_names
from ragmend.judges.overlap import find_uncovered_sentences
from ragmend.judges.sentence_support import find_distant_sentences
from ragmend.records import Source, Span
from ragmend.text.reading import SourceReading, read_source

Rule = Callable[[SourceReading, str], tuple[Span, ...]]

JUDGES: Mapping[str, Rule] = {
    "overlap": find_uncovered_sentences,
    "numbers-names": find_foreign_numbers_and_names,
    "sentence-support": find_distant_sentences,
}


class EmbeddedJudge:
    """A judge that is a rule; keeps the reading of the source it was last asked about."""

    def __init__(self, name: str) -> None:
        """Take the rule of that name, a key of `JUDGES`."""
        self._name = name
        self._last: tuple[Source, SourceReading] | None = None

    async def find(self, source: Source, answer: str) -> Found:
        """Return the stretches of an answer that the rule finds unsupported."""
        if self._last is None or self._last[0] != source:
            self._last = (source, read_source(source))
        return Found(JUDGES[self._name](self._last[1], answer))
