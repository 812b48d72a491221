"""Words with exact spans: the unit that every lexical comparison counts.

A word's span always points into the text as written; only its `norm` and `stem` are
normalised (NFKC, case folding, no possessive), so that a full-width or ligature spelling
compares equal and no offset ever moves.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

_LETTERS = r"(?:[^\W_]|[\u0300-\u036f])+"  # with combining accents
# A number with inner points, commas or colons is one word; an apostrophe joins ("don't").
_WORD = re.compile(
    rf"\b[Ww]i-[Ff]i\b|\d+(?:[.,:]\d+)+|(?![\u0300-\u036f]){_LETTERS}(?:['’]{_LETTERS})*"
)


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Source: the closed word classes of English (articles, pronouns, prepositions, conjunctions,
# auxiliaries) and a few adverbs that carry no claim.
STOP_WORDS = _listed(
    """
    a about above across additionally after again against all almost along also although always
    am among an and another any anyone are around as at be because been before being below
    between both but by can consequently could despite did do does doing done down during each
    either else etc even ever every few finally for from further furthermore get gets getting
    had has have having he her here hers herself him himself his how however i if in indeed
    instead into is it its itself just least less like made make makes many may maybe me might
    mine more moreover most much must my myself nearly next no none nor not now of off often on
    once only or other others otherwise our ours out over own particularly per perhaps quite
    rather really s same several shall she should since so some specifically such t than that
    the their theirs them themselves then there therefore these they this those though through
    thus to together too toward towards under until up upon us use used uses using usually very
    via was we well were what when where whether which while who whom whose why will with within
    without would yet you your yours yourself
    i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
    they'd i'll you'll he'll she'll we'll they'll that's there's here's what's who's let's
    """
)

# "n't" forms are recognised by their ending, see `is_negation`.
NEGATIONS = _listed(
    """
    no not never none nobody nothing nowhere neither nor without cannot lack lacks lacking
    unable unavailable unlike absent except
    """
)

# Words by which an answer talks about its sources or its task; no source has to contain them.
# Source: the wording of RAGTruth's three prompts ("strictly based on the following passages",
# "Summarize the following news", "an objective overview about the following local business
# based only on the provided structured data … customers' review"), which answers echo.
ATTRIBUTION_WORDS = _listed(
    """
    according answer answers article articles based business businesses conclusion context
    customer customers data detail details example following follows format given include
    included includes including information json local mention mentioned mentioning mentions
    news note objective overall overview passage passages provide provided provides question
    questions rated rating ratings response review reviewed reviewer reviewers reviews source
    sources state stated states structured summarize summarized summary text
    """
)

_VARIANTS = {"wi-fi": "wifi", "ambiance": "ambience", "flavour": "flavor", "colour": "color"}
_ASCII_FOLD = {ord(c): ord(c) + 32 for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_WIDE_FOLD = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_MARKS = {
    "\u00a0": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ", "\u3000": " ",
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-",
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2044": "/",
}  # fmt: skip
_FOLD = (
    _WIDE_FOLD
    | {wide: wide - 0xFEE0 + 32 for wide in range(0xFF21, 0xFF3B)}
    | _ASCII_FOLD
    | {ord(mark): ord(plain) for mark, plain in _MARKS.items()}
)

_VOWEL = re.compile(r"[aeiouy]")
_MIN_STEM = 3


class Word(NamedTuple):
    """One word: `text[start:end]`, its normal form and its stem."""

    start: int
    end: int
    norm: str
    stem: str


def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text in order, with exact code-point spans.

    Args:
        text: Any text.

    Returns:
        Words whose spans do not overlap; underscores, marks and white space are in none.
    """
    found = []
    for match in _WORD.finditer(text):
        norm = normalise(match.group())
        found.append(Word(match.start(), match.end(), norm, stem(norm)))
    return tuple(found)


def normalise(word: str) -> str:
    """Return a word's comparable form: NFKC, case folded, straight apostrophe, no possessive."""
    if word.isascii():
        plain = word.lower()
    else:
        plain = unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
    return _VARIANTS.get(plain, plain[:-2] if plain.endswith("'s") else plain)


def fold(text: str) -> str:
    """Lower a text and make its typographic marks plain, one code point for one.

    Unlike NFKC or `str.lower` on whole texts this never changes a length, so an offset into
    the folded text is an offset into the text.
    """
    return text.translate(_FOLD)


def stem(norm: str) -> str:
    """Strip the inflection of an English word: plural, -ed, -ing, -ly, final e, y to i.

    Source: steps 1a-1c and 5 of Porter, "An algorithm for suffix stripping" (1980), cut down;
    a light stemmer keeps "organ" and "organization" apart.
    """
    if len(norm) <= _MIN_STEM or not norm.isalpha():
        return norm
    base = _strip_plural(norm)
    base = _strip_verb_ending(base)
    if base.endswith("ly") and len(base) > _MIN_STEM + 2:
        base = base[:-2]
    if base.endswith("e") and len(base) > _MIN_STEM:
        base = base[:-1]
    if base.endswith("y") and len(base) > _MIN_STEM:
        base = base[:-1] + "i"
    return base


def is_negation(norm: str) -> bool:
    """Tell whether a normalised word negates: "no", "without", "doesn't", …."""
    return norm in NEGATIONS or norm.endswith("n't")


def is_content(norm: str) -> bool:
    """Tell whether a normalised word carries content: no stop word, negation or lone letter."""
    return norm not in STOP_WORDS and not is_negation(norm) and (len(norm) > 1 or norm.isdigit())


def content_stems(found: Iterable[Word]) -> list[str]:
    """Return the stems of the content words, in order, with repetitions."""
    return [word.stem for word in found if is_content(word.norm)]


def _strip_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > _MIN_STEM + 1 else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def _strip_verb_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= _MIN_STEM and _VOWEL.search(base):
            doubled = base[-1] == base[-2] and base[-1] not in "lsz"
            return base[:-1] if doubled else base
    if word.endswith("ied") and len(word) > _MIN_STEM + 1:
        return word[:-3] + "y"
    return word
