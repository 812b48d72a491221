"""What the lexical verifier needs to know of a source beyond what every comparison does."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from pydantic import JsonValue

from ragmend.records import Source
from ragmend.text.names import name_stem
from ragmend.text.quantities.numbers import NumberKeys, stated_keys
from ragmend.text.reading import SourceReading, read_source


class VerifiedSource:
    """A source, read, with what single fragments state; lists run over `reading.fragments`."""

    def __init__(self, source: Source, *, window: int = 1) -> None:
        """Read the source once for any number of claims; `window` as in `read_source`."""
        self.source = source
        self.reading: SourceReading = read_source(source, window=window)

    @property
    def is_structured(self) -> bool:
        """Whether it has fields instead of running text."""
        return self.source.fields is not None

    @property
    def attributes(self) -> Mapping[str, JsonValue]:
        """The `attributes` object of a business; empty where there is none."""
        return self._object("attributes")

    @property
    def hours(self) -> Mapping[str, JsonValue]:
        """The `hours` object of a business; empty where there is none."""
        return self._object("hours")

    @cached_property
    def n_parts(self) -> int:
        """How many sentences and fields it has, windows and derived lines not counted."""
        return sum(not part.parts for part in self.reading.fragments)

    @cached_property
    def n_fragments_with(self) -> Counter[str]:
        """In how many sentences and fields each content stem stands."""
        counted: Counter[str] = Counter()
        for part, stems in zip(self.reading.fragments, self.reading.content_F, strict=True):
            if not part.parts:
                counted.update(stems)
        return counted

    @cached_property
    def stems_F(self) -> list[list[str]]:  # noqa: N802 - axes are written in capitals
        """The stems of each fragment in order; none of a fragment that is unknown."""
        return [
            [] if part.is_unknown else [word.stem for word in found]
            for part, found in zip(self.reading.fragments, self.reading.words_F, strict=True)
        ]

    @cached_property
    def plain_stems_F(self) -> list[frozenset[str]]:  # noqa: N802
        """The stems of each fragment, without accents."""
        return [
            frozenset() if part.is_unknown else frozenset(map(name_stem, found))
            for part, found in zip(self.reading.fragments, self.reading.words_F, strict=True)
        ]

    @cached_property
    def number_keys_F(self) -> list[NumberKeys]:  # noqa: N802
        """The numbers, dates and times that each fragment states."""
        return [
            frozenset() if part.is_unknown else stated_keys(part.text)
            for part in self.reading.fragments
        ]

    @cached_property
    def review_stems(self) -> frozenset[str]:
        """The content stems of a business's reviews."""
        return frozenset().union(
            *(
                stems
                for part, stems in zip(self.reading.fragments, self.reading.content_F, strict=True)
                if part.kind == "review"
            )
        )

    def _object(self, key: str) -> Mapping[str, JsonValue]:
        value = (self.source.fields or {}).get(key)
        return value if isinstance(value, dict) else {}
