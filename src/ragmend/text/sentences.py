"""Where the sentences of running prose begin and end, as exact character spans.

Rules with a list of abbreviations (`ragmend.text.abbreviations`), not a trained splitter:
of the 18,000 boundaries inside the lines of RAGTruth's answers, the unsupervised model of
nupunkt 0.8.0 missed 200 ("rated 3.5 stars. Customers …", "in the wall. Buy …"), because
it takes short frequent words for abbreviations.

A sentence ends at `.`, `!`, `?`, `…` or their full-width forms, with the quotes and brackets
that close there, when what follows can begin one. It does not end inside a decimal, a time,
an address, an abbreviation, or a bracket or quotation that opened in mid-sentence. A short
bracketed note behind a full stop, such as "(Passage 2)", ends the sentence it stands behind.
"""

import re
from typing import NamedTuple

from ragmend.text import abbreviations
from ragmend.text.delimiters import paired_marks
from ragmend.text.lines import (
    CLOSING,
    INVISIBLE,
    STOPS,
    UNSPACED_STOPS,
    follows_directly,
    is_soft_wrap,
    line_spans,
)

# Pictographs with what joins, varies and colours them; no arrows or shapes, which are bullets.
_EMOJI = (
    "[\u203c\u2049\u2300-\u23ff\u2600-\u2793\u2b00-\u2bff\U0001f000-\U0001faff"
    "\ufe0f\u200d\u20e3\U000e0020-\U000e007f]"
)
_EVENT = re.compile(
    rf"(?P<stop>[{STOPS}]+)"
    rf"(?P<close>(?:\s?{_EMOJI}{{1,60}}(?=[{CLOSING}]))?[{CLOSING}]*(?:“(?!\w))?)"
    r"|(?P<open>[\"“„«(\[{「『（【《〈]|['‘](?<!\w['‘])|`+|~~~|\*{1,3}|_{2,3})"
)
_INVISIBLE = re.compile(rf"[{INVISIBLE}]+")
_NEXT = re.compile(
    r"\s*(?P<lead>(?:&[a-z]{2,6};|[^\w\s]|\s(?=[^\w\s])){0,24}\s?)(?P<word>[^\W_][\w'’-]{0,30})?"
)
_SMILE = re.compile(
    rf"(?:{_EMOJI}{{1,60}})?(?:\s+(?:{_EMOJI}{{1,60}}|[:;=][-']?[()DP])){{0,4}}(?=\s)"
)
_FUSED = re.compile(r"[\"“(]?([A-Z][a-z]{0,20})(?=[\s'’])")
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)*[^\W\d_]|(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_LISTED_LETTER = re.compile(
    r"(?:\d\s*|degrees?\s+|[°º]\s*|\b[A-Z],?\s+(?:and|or)\s+"
    r"|\b(?:vitamins?|hepatitis|types?|grade|class|war|part|appendix|plan|figure|column)\s+)\Z",
    re.IGNORECASE,
)
_GOING_ON = ("& ", "- ", "– ", "— ", ". ")
_APOSTROPHE = re.compile("['’]")
_LABEL = re.compile(r"\W*(?:step|part|phase|tip|method|option|rule|day|week)\s+\Z", re.IGNORECASE)
_PRONOUN_I = re.compile(r"\b(?:than|do|did|am|was|can|could|will|would|should|have|had)\s+I\Z")
_WRAPPERS = "()[]{}\"'“”‘’*_`"
_CLOSING_BRACKETS = frozenset(")]}）】》〉")
_LONGEST_GUARD = 400
_LONGEST_NOTE = 80
_WINDOW = 40


class _Stop(NamedTuple):
    """A run of terminators between two words: all that the decision needs.

    Attributes:
        marks: The terminators.
        is_closed: Whether a quote or bracket closes behind them.
        before: The text before `token` in the same sentence, a window of it.
        token: The word before, without quotes; nothing if a bracket closes between the two.
        lead: The marks between white space and `word`.
        word: The word that follows.
        follower: The character after `word`.
    """

    marks: str
    is_closed: bool
    before: str
    token: str
    lead: str
    word: str
    follower: str


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of `text`, one or several paragraphs.

    A line break ends a sentence, unless the line was merely wrapped (`is_soft_wrap`). Spans
    are ordered, do not overlap, have no white space at their edges, and cover everything
    else.
    """
    groups: list[tuple[int, int]] = []
    for start, end in line_spans(text):
        if groups and follows_directly(text, groups[-1][1], start):
            before = text[max(groups[-1][0], groups[-1][1] - _WINDOW) : groups[-1][1]]
            if is_soft_wrap(before, text[start : start + _WINDOW]):
                groups[-1] = (groups[-1][0], end)
                continue
        groups.append((start, end))
    return [span for start, end in groups for span in prose_spans(text, start=start, end=end)]


def prose_spans(text: str, *, start: int, end: int) -> list[tuple[int, int]]:
    """Return the sentences of `text[start:end]`, line breaks being plain white space there."""
    pairs = paired_marks(text, start=start, end=end)
    cuts: list[int] = []
    begin = guard = start
    for event in _EVENT.finditer(text, start, end):
        if event["open"]:
            if event.start() >= guard:
                guard = max(guard, _guarded_until(text, pairs, begin, event.start(), end))
        elif event.end() > guard or (event.end() == guard and event["close"]):
            is_quoted = event.end() <= guard
            cut = _cut_at(text, pairs, begin, event, end, is_quoted=is_quoted)
            if cut is not None:
                cuts.append(cut)
                begin = guard = cut
    return _trimmed(text, start, [*cuts, end])


def _guarded_until(text: str, pairs: dict[int, int], begin: int, opening: int, end: int) -> int:
    """Return where a mark opened in mid-sentence closes; `begin` when it guards nothing."""
    closing = pairs.get(opening)
    if closing is None or closing - opening > _LONGEST_GUARD:
        return begin
    opens_sentence = opening - begin < _WINDOW and not _has_word(text[begin:opening])
    holds_sentences = text[opening:closing].rstrip("\"'”’»“)]}*_`」』）】》〉")[-1:] in tuple(STOPS)
    if opens_sentence and holds_sentences:
        after = _NEXT.match(text, closing, end)
        word = after["word"] if after else None
        goes_on = closing < end and _goes_on(text, closing)
        if not goes_on and not (word and word[0].islower()):
            return begin
    return closing


def _goes_on(text: str, closing: int) -> bool:
    """Whether text is glued to a closing mark; behind a bracket, in a script without spaces."""
    after = text[closing]
    if after.isspace() or _SMILE.match(text, closing):
        return False
    return text[closing - 1] not in _CLOSING_BRACKETS or not after.isalpha() or _has_case(after)


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()


def _cut_at(
    text: str,
    pairs: dict[int, int],
    begin: int,
    event: re.Match[str],
    end: int,
    *,
    is_quoted: bool,
) -> int | None:
    """Return where the sentence ends that these terminators end, or None if they end none.

    With `is_quoted` they end a quotation or bracket that opened in mid-sentence: only a
    capital or a digit shows that the sentence around it ends there too.
    """
    cut = event.end()
    if cut < end and not text[cut].isspace():
        hidden = _INVISIBLE.match(text, cut, end)
        cut = hidden.end() if hidden else cut
    if cut == end:
        return None
    smile = _SMILE.match(text, cut, end)
    cut = smile.end() if smile else cut
    if not text[cut].isspace():
        return cut if not is_quoted and _is_fused(text, event, begin, end) else None
    ahead = _NEXT.match(text, cut, end)
    note_end = _note_end(text, pairs, ahead)
    if note_end is not None:
        cut = note_end
        ahead = _NEXT.match(text, cut, end)
        if cut == end or not text[cut].isspace():
            return None
    if ahead is None or ahead["word"] is None:
        return None
    if is_quoted and ahead["word"][0].isalpha() and not _has_case(ahead["word"][0]):
        return None
    window = text[max(begin, event.start() - _WINDOW) : event.start()]
    token = window.split()[-1] if window and not window[-1].isspace() else ""
    bare = token.strip(_WRAPPERS)
    stop = _Stop(
        marks=event["stop"],
        is_closed=bool(event["close"]),
        before=window[: len(window) - len(token)],
        token=bare if token[-1:] not in _CLOSING_BRACKETS else "",
        lead=ahead["lead"],
        word=ahead["word"],
        follower=text[ahead.end() : ahead.end() + 1],
    )
    return cut if _ends_sentence(stop) else None


def _is_fused(text: str, event: re.Match[str], begin: int, end: int) -> bool:
    """Whether the next sentence follows without a space: "so good.The food", or full width."""
    if event["stop"][-1] in UNSPACED_STOPS:
        return True
    word = _FUSED.match(text, event.end(), end)
    if word is None or "…" in event["stop"]:
        return False
    window = text[max(begin, event.start() - _WINDOW) : event.start()]
    token = window.split()[-1] if window.strip() else ""
    if not token.isalpha() or not token[1:].islower():
        return False
    return word[1] in abbreviations.SENTENCE_STARTERS or (token.islower() and len(token) > 2)


def _note_end(text: str, pairs: dict[int, int], ahead: re.Match[str] | None) -> int | None:
    """Return the end of a short bracketed note that has no full stop of its own."""
    if ahead is None or ahead["lead"][:1] not in ("(", "["):
        return None
    opening = ahead.start("lead")
    closing = pairs.get(opening)
    if closing is None or closing - opening > _LONGEST_NOTE:
        return None
    return None if text[closing - 2] in STOPS else closing


def _ends_sentence(stop: _Stop) -> bool:
    """Decide on terminators that white space and a word follow."""
    token = stop.token.lower()
    if stop.lead[:1] in tuple(",;:/=+") or stop.lead.startswith(_GOING_ON):
        return False
    if stop.word[0].islower():
        return _ends_before_lower_case(stop)
    if stop.marks[-1] in UNSPACED_STOPS:
        return True
    if "!" in stop.marks or "?" in stop.marks:
        return token not in abbreviations.BRANDS_WITH_A_MARK
    if len(stop.marks) > 1 or stop.marks == "…":
        return stop.word[0].isupper() and _APOSTROPHE.split(stop.word)[0] != "I"
    if token.isdecimal() and len(token) < 4 and _opens_list(stop.before):
        return False
    if stop.word[0].isdigit():
        return token not in abbreviations.NEVER_BEFORE_A_DIGIT | abbreviations.NEVER_LAST
    return _ends_before_capital(stop, token)


def _ends_before_lower_case(stop: _Stop) -> bool:
    """Only behind a plain word: careless writing, not an abbreviation and no quotation."""
    token = stop.token
    return (
        not stop.is_closed
        and stop.lead in ("", "&nbsp;")
        and len(token) > 3
        and token.isalpha()
        and token.islower()
        and token not in abbreviations.NEVER_BEFORE_LOWER_CASE
    )


def _ends_before_capital(stop: _Stop, token: str) -> bool:
    starts = stop.word in abbreviations.SENTENCE_STARTERS and stop.follower != "."
    if token in abbreviations.NEVER_LAST:
        return False
    if token in ("a.m", "p.m"):
        return _APOSTROPHE.split(stop.word)[0] not in abbreviations.AFTER_A_CLOCK
    if token in abbreviations.LAST_BEFORE_A_STARTER:
        return starts
    if _INITIALS.fullmatch(stop.token) and stop.token.isascii():
        is_pronoun = _PRONOUN_I.search(stop.before + stop.token) is not None
        is_listed = len(token) == 1 and _LISTED_LETTER.search(stop.before) is not None
        return starts or is_pronoun or is_listed
    return True


def _opens_list(before: str) -> bool:
    """Whether a number behind this text counts an item: "so: 1. Preheat", "2. Cut", "Step 2."."""
    return (
        not _has_word(before)
        or _LABEL.match(before) is not None
        or before.rstrip()[-1:] in (":", ";")
    )


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _trimmed(text: str, start: int, cuts: list[int]) -> list[tuple[int, int]]:
    """Turn cuts into spans without white space at their edges.

    A piece without a word joins the sentence before it, or behind it at the start.
    """
    spans: list[tuple[int, int]] = []
    for end in cuts:
        piece = text[start:end]
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip())
        if _has_word(piece) or (first < last and end == cuts[-1] and not spans):
            spans.append((first, last))
        elif spans:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            continue
        start = end
    return spans
