"""Whether a sentence of a source says something by itself, where nothing of it stands around.

Rules in closed lists, no parser: in doubt a sentence is none that could stand in an answer.
"""

import re
from typing import Literal

from ragmend.repair.extracting.verbs import (
    REQUESTS,
    main_verb_at,
    opens_as_predicate,
    opens_as_request,
)
from ragmend.text.words import STOP_WORDS

Mood = Literal["statement", "request"]

_MIN_WORDS = 4
_WORD = re.compile(r"[^\W_](?:[\w'’-]|[.:/](?=\w))*|[,;:—–~()]")
_MARKER = re.compile(r"^\W*(?:(?:step )?\(?\d{1,2}[.):] +|step \d{1,2} )?\W*", re.IGNORECASE)
_LABEL = re.compile(r"[^.:!?]{1,60}:[*_]* +(?=\S)")
_SCRAP = re.compile(
    r"\||(?:…|\.\.\.)[\"”’)]*\Z|[:?][\"”’*_ )]*\Z|(?:[.!?:,;]|\b\d{1,2}) \d{1,2}\.?\Z"
    r"|[†‡*]\.?\Z|©"
    r"|\b(?:click here|read more|home ?page|sign up|copyright|all rights reserved|subscribe)\b",
    re.IGNORECASE,
)
_NO_OPENING = frozenset(
    "how what which who whose why here below above and or but nor than like unlike".split()
)
_INTRODUCING = frozenset(
    """
    about according after along although among as at because before behind between beyond by
    depending despite during following for from given if in into like near on once over since
    through throughout to under unless unlike until upon when whenever where while with within
    without
    """.split()
)
_LEADING_ADVERBS = frozenset(
    """
    first second finally generally typically usually often sometimes today now currently
    originally overall once immediately please
    """.split()
)
# An opening that goes on from the sentence before, and a pointer to what stands elsewhere.
_GOES_ON = re.compile(
    r"(?:and|or|but|so|then|also|however|yet|still|nor|thus|hence|therefore|otherwise|instead"
    r"|additionally|furthermore|moreover|meanwhile|nevertheless|nonetheless|consequently"
    r"|similarly|likewise|conversely|besides|next|again|afterwards?|accordingly|both|such|another"
    r"|after that|in (?:addition|contrast|fact|turn|either case|other words|short|conclusion)"
    r"|for (?:example|instance)|as (?:a result|such)|on the (?:other hand|contrary)"
    r"|(?:the|one|some|most|many|all|none|each|any) (?:of )?(?:other|others|same|former|latter"
    r"|these|those|them|which)|other than that|that(?: said|['’]s)?|there(?:fore|by)|not only"
    r"|(?:the|a) (?:second|third|fourth|fifth|next|last|final) (?!half|floor|world)"
    r"|if (?:not|so|necessary|that)"
    r"|there (?:is|are) (?:another|other|further))\b"
    r"|if (?:you|they|it)(?:['’]re| are| is| do(?:es)?)(?: not|n['’]t)?,"
    r"|.*\b(?:as well|though|the two)[.!]?\Z|.*\bbetween the two\b"
    r"|[^.]{0,60}?,? (?:however|therefore|though|then|instead|too),"
    r"|[^.]*?\balso(?! known| called| referred| named)\b|(?:\w+ ){1,3}(?:then|now)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\bthe following\b|\bas follows\b|\(see |\bsee also\b|\b(?:this|that|the above) "
    r"(?:article|page|section|chart|table|video|site|website|guide|list|tutorial|step|recipe"
    r"|(?:online )?(?:\w+ )?calculator)\b"
    r"|\b(?:see|seen|shown|listed|described|mentioned|noted|outlined|discussed|as|pictured) "
    r"(?:above|below)\b|\b(?:is|are) (?:above|below)\b"
    r"|\b(?:link|button|form|box|map) (?:above|below)\b"
    r"|\b(?:table|figure|photo|picture|image) (?:\d|above|below)",
    re.IGNORECASE,
)
_PRONOUNS = frozenset(
    """
    it its it's it’s they they're they’re them their this these those he she him his her he's
    he’s she's she’s they've they’ve itself themselves
    """.split()
)
# "It is important to", "it takes an hour to", "It was then that" have behind them what they mean.
_EXPECTS = re.compile(
    r"it(?:['’]s| is| was| may be| might be| can be| will be| would be)"
    r"(?: (?:also|very|not|most|more|always|usually|often|sometimes|quite|so))? (?:"
    r"advisable|best|better|clear|common|crucial|customary|difficult|easier|easy|essential"
    r"|estimated|good|hard|helpful|important|impossible|likely|necessary|normal|possible"
    r"|recommended|rare|safe|then|true|unclear|unlikely|vital|wise|worth)"
    r"(?: \w+)? (?:to|that|for|if|when)\b|it (?:takes?|took)\b(?: [\w'’-]+){1,5}? (?:to|for)\b",
    re.IGNORECASE,
)
_REMINDER = re.compile(
    r"(?:keep in mind|note|remember|make sure|be sure|be aware)(?: that)?\b", re.IGNORECASE
)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"")
_FIRST_PERSON = re.compile(
    r"(?<!\b[Tt]ype )(?<!\bWar )(?<!\b[Pp]hase )(?<!\b[Cc]lass )\bI\b(?!\.\w)"
    r"|\b(?:[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]ur|[Oo]urs|[Oo]urselves|[Ll]et['’]s)\b"
)
# Two sentences without a space between, or a word whose beginning a crawler cut off behind one.
_FUSED = re.compile(
    r"[.!?;,][\"”’)]*(?=[^\W\d_])|(?<=[a-z])\)(?=[^\W\d_])|(?<=[a-z]{2})[.!?](?=\d)"
)
_UNFUSED = re.compile(
    r"\W*(?:(?:https?://|www\.)\S+|\S+@\S+|(?:[^\W\d_]{1,2}\.)+(?:-\w+|[^\W\d_]{0,2}['’]?s?)|ph\.d\w*\.?"
    r"|\S*[\w-]\.(?:com|org|net|edu|gov|uk|io|co|ca|eu|de|tv|html?|php|aspx?|pdf|docx?|xlsx?|exe"
    r"|jpe?g|png|gif|txt|csv|zip|mp[34]|js|py|dll)(?:[/?#:]\S*)?|\.(?:net|exe|com|pdf))\W*",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(
    r"(?:(?<=[.!?:;] )|\A)\d{1,2} (?-i:(?=[A-Z\d]))"
    r"|\A\d+:|\A(\w+ \w+|\w+) \1\b"
    r"|(?-i:(?<=[a-z]) (?:The|This|These|It|If|When|You|In|Then|To) (?=[a-z]))"
    r"|\A(?:tip|step|method|part|rule|reason|question|way|q|no)\.? ?#?\d",
    re.IGNORECASE,
)


def mood(text: str) -> Mood | None:
    """Tell what a sentence does: it states, or it asks somebody to do something.

    Args:
        text: A sentence, of a source or of an answer; its list marker and label are passed over.

    Returns:
        None if its main clause has no subject of its own, no finite verb, or neither is sure.
    """
    clause = _main_clause(text)
    if not clause:
        return None
    if opens_as_request(clause):
        return "request"
    if opens_as_predicate(clause) or clause[0] in _NO_OPENING | _INTRODUCING:
        return None
    return "statement" if main_verb_at(clause) is not None else None


def is_statement(prose: str) -> bool:
    """Tell whether a text says something by itself: no lead-in, title, question or scrap."""
    words = [word for word in _WORD.findall(prose) if word[0].isalnum()]
    is_short = len(words) < _MIN_WORDS
    is_aside = prose.startswith(("(", "["))
    if is_short or is_aside or _SCRAP.search(prose.strip()) or words[0].lower() in _NO_OPENING:
        return False
    return not _is_title(words) and mood(prose) is not None


def refers_back(prose: str) -> bool:
    """Tell whether a text points to what its source says around it: "It", "So", "see below"."""
    bare = prose.lstrip("\"“‘'(*_ ")
    label = _LABEL.match(bare)
    parts = [bare, bare[label.end() :]] if label else [bare]
    return _ELSEWHERE.search(prose) is not None or any(
        _GOES_ON.match(part) is not None or _opens_with_pronoun(part) for part in parts
    )


def is_first_person(prose: str) -> bool:
    """Tell whether a text speaks as "I" or "we" outside its quotes."""
    return _FIRST_PERSON.search(_QUOTED.sub(" ", prose)) is not None


def is_garbled(text: str) -> bool:
    """Tell whether a crawled text has sentences fused, or numbers or headings left in it."""
    is_fused = any(_FUSED.search(word) and not _UNFUSED.fullmatch(word) for word in text.split())
    return is_fused or _LEFT_OVER.search(text) is not None


def _main_clause(text: str) -> list[str]:
    """Return a sentence's words, in lower case, from its main clause on; none if unclear."""
    text = _MARKER.sub("", _ASIDE.sub(" ", text), count=1)
    label = _LABEL.match(text)
    found = _WORD.findall(text[label.end() :] if label else text)
    words = [word.lower() for word in found]
    for _ in range(3):
        if not words or not _is_introduction(words):
            break
        if "," not in words:
            return []
        words = words[words.index(",") + 1 :]
    while words and words[0] in _LEADING_ADVERBS:
        words = words[1:]
    end = next((at for at, word in enumerate(words) if word in (";", "—", "–", "~")), len(words))
    return words[:end]


def _is_introduction(words: list[str]) -> bool:
    """Tell whether a sentence begins with an adverbial that a comma ends: "In 2014, it"."""
    first = words[0]
    if "," not in words[:25]:
        return first in _INTRODUCING
    is_participle = first.endswith(("ing", "ed")) and main_verb_at(_before_comma(words)) is None
    is_adverb = words[1] == "," and (first in _LEADING_ADVERBS or first.endswith("ly"))
    return first in _INTRODUCING or is_participle or is_adverb


def _before_comma(words: list[str]) -> list[str]:
    return words[: words.index(",")] if "," in words else words


def _is_title(words: list[str]) -> bool:
    """Tell whether nearly all longer words have capitals, as in a heading or a list of names."""
    longer = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    return len(longer) > 1 and sum(word[0].isupper() for word in longer) >= 0.75 * len(longer)


def _opens_with_pronoun(text: str) -> bool:
    """Tell whether the first clause has a pronoun with no noun before that it could mean."""
    opening = _EXPECTS.match(text) or _REMINDER.match(text)
    start = opening.end() if opening else 0
    for position, found in enumerate(_WORD.finditer(text, start)):
        word = found.group().lower()
        if word in _PRONOUNS:
            return _EXPECTS.match(text, found.start()) is None
        is_function = word in STOP_WORDS or not word[0].isalpha() or word.endswith("ly")
        if word == ";" or not (is_function or (word in REQUESTS and position < 3)):
            return False
    return False
