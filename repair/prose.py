"""Source fragments as sentences that can stand in an answer."""

import re
import unicodedata

from ragmend.repair.assembling.sentence_form import capitalise, ends_with_stop
from ragmend.text.fragments import Fragment

# How a field's rendering becomes a statement; the first prefix that fits is used. Not "It": the
# statement may come to open an answer.
_OPENINGS = (
    ("no reservations", "The business takes "),
    ("no takeout", "The business offers "),
    ("no delivery", "The business offers "),
    ("no credit cards", "The business accepts "),
    ("no ", "There is "),
    ("has ", "The business "),
    ("offers ", "The business "),
    ("takes ", "The business "),
    ("accepts ", "The business "),
    ("good for ", "The business is "),
    ("not good for ", "The business is "),
    ("wheelchair accessible", "The business is "),
    ("not wheelchair accessible", "The business is "),
    ("permanently closed", "The business is "),
    ("open ", "The business is "),
    ("rated ", "The business is "),
    ("review rated ", "The business has a "),
    ("review, written ", "The business has a "),
    ("located at ", "The business is "),
)
_SINGULAR = frozenset({"name", "address", "city", "state"})
_PLURAL = frozenset({"categories", "hours"})
_RAW_HOURS = re.compile(r" \(\d{1,2}:\d{1,2}-\d{1,2}:\d{1,2}\)$")
_AMBIENCE = re.compile(r"(not )?(.+) ambience")
_LIST_MARKER = re.compile(
    r"^(?:[-*•–] +|\(?\d{1,2}[.)] +|[Ss]tep \d{1,2}[:.] +)(?=[^\W\d_])"
    r"|(?<=[.!?:;] )\(?\d{1,2}\) +(?=[^\W\d_])|(?<=[!?:;] )\d{1,2}\. +(?=[^\W\d_])"
)
_SPACE_BEFORE_POINT = re.compile(r" (?=[,;:!?.](?: |$))")
_SPACE_IN_BRACKETS = re.compile(r"(?<=[(\[“]) | (?=[)\]”])")
_TWO_DOTS = re.compile(r"(?<!\.) ?\.\.(?!\.) ?")
_HANGING_END = re.compile(r"(?<![ ,;–—-])[ ,;–—-]++(?=[.!?]?$)")
_STOP_AFTER_COLON = re.compile(r"(?<=:) ?\.$")
_BRACKETS = {"(": ")", "[": "]", "“": "”"}
_CLOSING_QUOTES = {'"': '"', "“": "”", "”": "”"}
_OPENING_QUOTES = {'"': '"', "”": "“"}
_FIRST_PERSON = re.compile(r"\b(?:I|I['’]\w+|my|me|mine|we|our|us)\b", re.IGNORECASE)
# A pronoun without its noun; "It is important to", "It was then that" have theirs behind them.
_POINTS_BACK = re.compile(
    r"[\"“‘'(]*(?:they|them|he|him|she|this|these|those|its|their|his|her|such"
    r"|it(?!['’]?s? \w+(?: \w+)? (?:that|to|for)\b))\b",
    re.IGNORECASE,
)
_SYMBOLS = frozenset({"So", "Sk", "Mn", "Cf"})  # an emoji and what modifies it


def as_prose(fragment: Fragment) -> str:
    """Render a fragment as a sentence: a field in words, a sentence tidied and closed.

    Tidying changes no word: list markers and spaces before points go, and so do quotes and
    brackets whose partner lies outside the fragment. Only speech in the first person, which
    would become the answer's own, keeps its quotes: the partner is set where the fragment
    begins or ends.
    """
    text = " ".join(fragment.text.split())
    if fragment.kind == "field":
        text = _state(_RAW_HOURS.sub("", text))
    else:
        text = _LIST_MARKER.sub("", text)
    text = capitalise(_tidy(text))
    return text if ends_with_stop(text) or _ends_with_symbol(text) else f"{text}."


def is_statement(prose: str) -> bool:
    """Tell whether a fragment's prose says something by itself: "Do this:" only leads in."""
    return not prose.rstrip("*_\"'”’ ").endswith(":")


def refers_back(prose: str) -> bool:
    """Tell whether a text begins by pointing to what its source says before it: "It", "These"."""
    return _POINTS_BACK.match(prose) is not None


def _state(text: str) -> str:
    label, colon, value = text.partition(": ")
    if colon and label in _SINGULAR:
        return f"The {label} is {value}"
    if colon and label in _PLURAL:
        return f"The {label} are {value}"
    if ambience := _AMBIENCE.fullmatch(text):
        return f"The ambience is {ambience[1] or ''}{ambience[2]}"
    if text == "review":
        return "The business has a review"
    for prefix, opening in _OPENINGS:
        if text.startswith(prefix):
            return f"{opening}{text}"
    return text if colon else f"The business has {text}"


def _tidy(text: str) -> str:
    text = _TWO_DOTS.sub("… ", _with_paired_marks(text))
    text = _SPACE_IN_BRACKETS.sub("", _SPACE_BEFORE_POINT.sub("", " ".join(text.split())))
    return _STOP_AFTER_COLON.sub("", _HANGING_END.sub("", text.strip()))


def _ends_with_symbol(text: str) -> bool:
    """Tell whether a text ends in an emoji, which needs no stop."""
    end = text.rstrip("\u200d\ufe0f")[-1:]
    return bool(end) and end not in "`^" and unicodedata.category(end) in _SYMBOLS


def _with_paired_marks(text: str) -> str:
    """Take out quotes and brackets without a partner, or give first-person speech the partner."""
    lone = _lone_marks(text)
    quote = next((position for position in lone if text[position] in _CLOSING_QUOTES), None)
    before = after = ""
    if quote is not None and _FIRST_PERSON.search(text):
        if not _opens(text, quote):
            before = _OPENING_QUOTES[text[quote]]
        elif text[quote + 1 :].strip(" .!?"):
            after = _CLOSING_QUOTES[text[quote]]
        if before or after:
            lone.discard(quote)
    inner = "".join(" " if at in lone else character for at, character in enumerate(text))
    return f"{before}{inner.strip()}{after}"


def _opens(text: str, position: int) -> bool:
    """Tell whether a quote mark stands before what it quotes."""
    if text[position] != '"':
        return text[position] == "“"
    return text[position - 1 : position] in ("", " ", "(") and text[position + 1 :][:1] != " "


def _lone_marks(text: str) -> set[int]:
    """Return where quotes and brackets without a partner in the same text stand."""
    stack: list[int] = []
    lone: set[int] = set()
    for position, character in enumerate(text):
        if character in _BRACKETS:
            stack.append(position)
        elif character in _BRACKETS.values():
            if stack and _BRACKETS[text[stack[-1]]] == character:
                stack.pop()
            else:
                lone.add(position)
    lone.update(stack)
    quotes = [position for position, character in enumerate(text) if character == '"']
    if len(quotes) % 2:  # one too many; the mark behind a digit may be an inch
        quotes = [position for position in quotes if not text[position - 1 : position].isdigit()]
    if len(quotes) % 2:
        # A first quote that closes is of a pair that began outside; else the last one is open.
        lone.add(quotes[-1] if _opens(text, quotes[0]) else quotes[0])
    return lone
