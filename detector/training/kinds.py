"""The kinds of trained detectors, by the name that the configuration has for them."""

from ragmend.detector.training.job import Kind
from ragmend.sections.training import DetectorKind


def kind_of(name: DetectorKind) -> Kind:
    """Return a kind; its libraries are imported when something of it is called."""
    if name == "generative":
        from ragmend.detector.qlora.kind import GENERATIVE

        return GENERATIVE
    from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION

    return TOKEN_CLASSIFICATION
