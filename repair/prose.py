"""Source fragments as sentences that can stand in an answer."""

import re
import unicodedata

from ragmend.repair.assembling.sentence_form import capitalise, ends_with_stop
from ragmend.repair.extracting.field_sentences import field_sentence
from ragmend.text.fragments import Fragment

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
_DOUBLE_QUOTES = re.compile(r"[\"“”]")
_SYMBOLS = frozenset({"So", "Sk", "Mn", "Cf"})  # an emoji and what modifies it


def as_prose(fragment: Fragment) -> str:
    """Render a fragment as a sentence: a field in words, a sentence tidied and closed.

    Tidying changes no word: list markers and spaces before points go, and so do quotes and
    brackets whose partner lies outside the fragment. Only speech in the first person, which
    would become the answer's own, keeps its quotes: the partner is set where the fragment
    begins or ends. A field of which no sentence can be made is closed as it stands.
    """
    text = " ".join(fragment.text.split())
    if fragment.kind == "field":
        return f"{field_sentence(text) or capitalise(text)}."
    text = capitalise(_tidy(_LIST_MARKER.sub("", text)))
    return text if ends_with_stop(text) or _ends_with_symbol(text) else f"{text}."


def quoted(prose: str) -> str:
    """Return a sentence of a review as its writer's own words, an opinion being no fact."""
    inner = _DOUBLE_QUOTES.sub("'", prose)
    return f"A reviewer wrote: “{inner}”"


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
