"""Source fragments as sentences that can stand in an answer."""

import re

from ragmend.repair.sentence_form import capitalise, ends_with_stop
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
_SPACE_BEFORE_POINT = re.compile(r"\s+(?=[,;:!?](?:\s|$)|\.(?:\s|$))")
_TWO_DOTS = re.compile(r"(?<!\.)\s?\.\.(?!\.)\s?")
_HANGING_END = re.compile(r"[\s,;:–—-]+(?=[.!?]?$)")
_BRACKETS = {"(": ")", "[": "]", "“": "”"}


def as_prose(fragment: Fragment) -> str:
    """Render a fragment as a sentence: a field in words, a sentence tidied and closed.

    Tidying changes no word: spaces before points go, and so do quotes and brackets whose
    partner lies outside the fragment.
    """
    text = " ".join(fragment.text.split())
    if fragment.kind == "field":
        text = _state(_RAW_HOURS.sub("", text))
    text = capitalise(_tidy(text))
    return text if ends_with_stop(text) else f"{text}."


def _state(text: str) -> str:
    for prefix, opening in _OPENINGS:
        if text.startswith(prefix):
            return f"{opening}{text}"
    label, colon, value = text.partition(": ")
    if colon and "hours" not in label:
        return f"The {label} {'are' if label.endswith('s') else 'is'} {value}"
    return text if colon else f"It has {text}"


def _tidy(text: str) -> str:
    text = _TWO_DOTS.sub("… ", _without_lone_marks(text))
    text = _SPACE_BEFORE_POINT.sub("", text)
    return _HANGING_END.sub("", " ".join(text.split()))


def _without_lone_marks(text: str) -> str:
    """Take out quotes and brackets without a partner in the same text."""
    doomed: set[int] = set()
    stack: list[int] = []
    quotes = [position for position, character in enumerate(text) if character == '"']
    if len(quotes) % 2:
        # A first quote with a blank behind it closes what began outside; else the last is open.
        is_closing = text[quotes[0] + 1 : quotes[0] + 2] in ("", " ")
        doomed.add(quotes[0] if is_closing else quotes[-1])
    for position, character in enumerate(text):
        if character in _BRACKETS:
            stack.append(position)
        elif character in _BRACKETS.values():
            if stack and _BRACKETS[text[stack[-1]]] == character:
                stack.pop()
            else:
                doomed.add(position)
    doomed.update(stack)
    return "".join(character for position, character in enumerate(text) if position not in doomed)
