"""What a claim is: a statement, a heading, a lead-in or a question.

- `heading`: a markdown heading, the header row of a table, a line ending in a colon without
  a verb ("Ingredients:"), or a title: a line by itself without a stop, all bold or in title
  case, with something below.
- `lead_in`: a sentence that only introduces what follows: one that ends in a colon, or an
  opening "Sure, here is a summary of the article."
- `question`: it ends in a question mark.
"""

import re

from ragmend.records import ClaimKind
from ragmend.repair.splitting.clauses import has_finite_verb
from ragmend.text.lines import STOPS

_CLOSERS = "\"'“”‘’()[]*_`~ \t\n"
_WORD = re.compile(r"[^\W_][\w'’-]*")
_ASSENT = r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|great question)\b"
_INTERJECTION = re.compile(rf"{_ASSENT}[!.,]*\Z", re.IGNORECASE)
_META = re.compile(
    rf"(?:{_ASSENT}[ ,!.:–—-]*)?(?:based on (?:the|these|this)\b[^,:\n]{{0,80}},\s*)?"
    r"(?:here|below|the following)(?:['’]s| is| are)\b",
    re.IGNORECASE,
)
_ABOUT_THE_ANSWER = re.compile(
    r"\b(?:summary|overview|answers?|response|list|steps|rewritten|version|explanation|outline)\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"\b(?:follow|following|below|here['’]s|including|such as)\b|\Abased on\b", re.IGNORECASE
)
_INLINE_LEAD = re.compile(
    rf"(?:{_ASSENT}[^:\n]{{0,40}}?)?(?:here|below)(?:['’]s| is| are)\b[^:\n]{{0,160}}:"
    r"(?=\s[\W_]*[^\W_])",
    re.IGNORECASE,
)
_NUMBERED_PART = re.compile(
    r"(?:step|passage|method|option|part|phase|section|tip|day|chapter) ?\d[^:]{0,16}:",
    re.IGNORECASE,
)
_ENDS_IN_STOP = re.compile(rf"[{STOPS}:：]\W*\Z")
_QUOTES = "\"'“”‘’"
_LONGER_WORD = 4
_LONGEST_HEADING = 8
_LONGEST_TITLE = 120


def claim_kind(text: str, *, is_first: bool, is_title: bool) -> ClaimKind:
    """Name the kind of a claim that is no markdown heading.

    Args:
        text: The claim.
        is_first: Whether it opens the answer.
        is_title: Whether it stands where a title does and looks like one (`looks_like_title`).
    """
    bare = text.rstrip(_CLOSERS)
    if bare.endswith((":", "：")):
        return "lead_in" if _is_sentence(text) else "heading"
    if bare.endswith(("?", "？", "؟")) and not _quotes_at_end(text):
        return "question"
    if is_first and (is_interjection(text) or (is_meta(text) and _ABOUT_THE_ANSWER.search(text))):
        return "lead_in"
    if is_meta(text) and _quotes_at_end(text):
        return "lead_in"
    return "heading" if is_title else "statement"


def _is_sentence(text: str) -> bool:
    """Whether what ends in a colon is more than a few words without a verb."""
    if has_finite_verb(text) or _INTRODUCES.search(text):
        return True
    return len(_WORD.findall(text)) > _LONGEST_HEADING


def _quotes_at_end(text: str) -> bool:
    """Whether a text ends in a quotation that does not begin it: `She asked, "Why?"`."""
    return text[-1] in _QUOTES and text[0] not in _QUOTES


def is_interjection(text: str) -> bool:
    """Whether a sentence is a bare "Sure!"."""
    return _INTERJECTION.match(text) is not None


def is_meta(text: str) -> bool:
    """Whether a sentence begins as one that presents the answer: "Based on …, here is …"."""
    return _META.match(text) is not None


def inline_lead_end(text: str, start: int, end: int) -> int:
    """Return where the lead-in "Here is …:" ends that starts a longer line; `start` if none."""
    match = _INLINE_LEAD.match(text, start, end)
    return match.end() if match else start


def looks_like_title(text: str) -> bool:
    """Whether a line is short, has no stop, and is all bold or capitalised in most longer words.

    "Hours: 9 to 5" is a statement, "Step 2: Clean the Chain" a title.
    """
    if len(text) > _LONGEST_TITLE or _ENDS_IN_STOP.search(text):
        return False
    if text.startswith("**") and text.endswith("**"):
        return True
    part = _NUMBERED_PART.match(text)
    name = text[part.end() :].lstrip() if part else text
    if ":" in name or "=" in name or not name[:1].isalpha():
        return False
    words = [word for word in _WORD.findall(name) if len(word) >= _LONGER_WORD]
    n_capitals = sum(not word[0].islower() for word in words)
    return bool(words) and n_capitals >= 0.7 * len(words)
