"""Source fragments as sentences that can stand in an answer."""

import re

from ragmend.repair.assembly import capitalise, ends_with_stop
from ragmend.text.fragments import Fragment

# How a field's rendering becomes a statement; the first prefix that fits is used.
_OPENINGS = (
    ("no ", "There is "),
    ("has ", "It "),
    ("offers ", "It "),
    ("takes ", "It "),
    ("good for ", "It is "),
    ("not good for ", "It is "),
    ("rated ", "It is "),
    ("review rated ", "It has a "),
    ("located at ", "It is "),
)
_RAW_HOURS = re.compile(r" \(\d{1,2}:\d{1,2}-\d{1,2}:\d{1,2}\)$")


def as_prose(fragment: Fragment) -> str:
    """Render a fragment as a sentence: a field in words, a sentence as it stands."""
    text = " ".join(fragment.text.split())
    if fragment.kind == "field":
        text = _state(_RAW_HOURS.sub("", text))
    text = capitalise(text)
    return text if ends_with_stop(text) else f"{text}."


def _state(text: str) -> str:
    for prefix, opening in _OPENINGS:
        if text.startswith(prefix):
            return f"{opening}{text}"
    label, colon, value = text.partition(": ")
    if colon and "hours" not in label:
        return f"The {label} {'are' if label.endswith('s') else 'is'} {value}"
    return text if colon else f"It has {text}"
