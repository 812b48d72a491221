"""Structured data that says no where a text says yes: "offers free WiFi" against "no WiFi"."""

from ragmend.text.reading import SourceReading
from ragmend.text.words import content_stems, is_negation, words

_FLAGS = "attributes."  # the part of a business record that holds yes and no


def contradicts_a_field(text: str, reading: SourceReading) -> bool:
    """Tell whether a text talks of a field of yes or no and only one of the two negates."""
    found = words(text)
    stems = frozenset(content_stems(found))
    negates = any(is_negation(word.norm) for word in found)
    return any(
        part.path.startswith(_FLAGS)
        and bool(reading.content_F[at])
        and reading.content_F[at] <= stems
        and reading.negates_F[at] != negates
        for at, part in enumerate(reading.fragments)
    )
