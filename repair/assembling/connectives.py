"""Words by which a sentence hangs on the one before it, and what is done when that is gone.

What can be left out without changing what the sentence says is stripped: "However, he left."
becomes "He left." What cannot ("Otherwise, it burns.", "The second reason is …") stays.
What a connective needs:

- a contrast, cause or example: the sentence before it, as it was or rewritten. A sentence of
  the source in its place is not enough, for nobody has verified that it is a contrast to it;
- at the start of a paragraph: a sentence of the paragraph before;
- the first of two sides ("On the one hand,"): the other one behind it;
- an addition or a next step ("Also,", "Then,"), and a conclusion at the start of a paragraph:
  any sentence before it. What a substitute says can be added to, but not be concluded from.
"""

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from ragmend.repair.assembling.sentence_form import capitalise
from ragmend.text.verbs import is_finite
from ragmend.text.words import words

Link = Literal["relation", "conclusion", "addition"]


def _any_of(phrases: str) -> str:
    return "|".join(re.escape(phrase.strip()) for phrase in phrases.split(","))


# Source: the adverbials of Quirk et al., A Comprehensive Grammar of the English Language
# (1985), section 8.136, without those that carry a condition ("otherwise", "in that case").
_RELATION = _any_of(
    "however, nevertheless, nonetheless, on the other hand, on the contrary, in contrast, "
    "by contrast, conversely, instead, rather, still, even so, that said, having said that, "
    "despite this, despite that, in spite of this, for example, for instance, "
    "in other words, in fact, indeed, specifically, in particular, similarly, likewise, "
    "as such, because of this, due to this, for this reason, alternatively, but"
)
_CONCLUSION = _any_of(
    "therefore, thus, hence, so, consequently, accordingly, as a result, as a consequence"
)
_ADDITION = _any_of(
    "additionally, furthermore, moreover, in addition, in addition to this, besides, "
    "besides this, also, further, what is more, what's more, on top of that, then, next, "
    "after that, afterwards, afterward, secondly, thirdly, second, third, finally, lastly, "
    "last but not least, meanwhile, and"
)
_DEMONSTRATIVE = r"(?:despite|in spite of|due to|because of) (?:this|that|these|those)"
_STRIPPED = re.compile(
    rf"(?:(?P<relation>{_RELATION}|{_DEMONSTRATIVE}(?: [\w'’-]+){{0,3}})"
    rf"|(?P<conclusion>{_CONCLUSION})|(?P<addition>{_ADDITION})),\s+"
    r"(?!(?:and|or|but)\b)(?=[\"“(]?[^\W_])",  # "Then, and only then, …" is no next step
    re.IGNORECASE,
)
_COORDINATED = re.compile(
    r"(?:(?P<relation>but|yet)|(?P<conclusion>so)|(?P<addition>and))\s+"
    r"(?=(?:the|there|it|he|she|they|you|we|this|these|a|an|if|when|in|some)\b)",
    re.IGNORECASE,
)
_INFERENCE = re.compile(
    r"this (?:means|shows|implies|indicates) "
    r"(?:that (?=[\w\"“])|(?=(?:the|there|it|he|she|they|you|we|a|an)\b))",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"(?P<subject>[^\W_][\w'’-]*(?: [\w'’-]+){0,5}?) also (?!known|called|referred|as\b)(?=[a-z])"
)
_ANOTHER = re.compile(
    r"(?:Another|A (?:second|third|fourth|fifth)(?= [b-df-gj-np-tv-z])) "
    r"(?!(?:one|of|such|to|that|which|who|few)\b)(?=[^\W\d_])"
)
_SOUNDS_LIKE_A_VOWEL = re.compile(r"(?!one|once|uni|use|usu|eu)[aeiou]|hour|honest|honor")

_ONE_HAND = re.compile(r"on the one hand,\s+(?=[\"“(]?[^\W_])", re.IGNORECASE)
_OTHER_HAND = re.compile(r"\bon the other(?: hand)?\b", re.IGNORECASE)

_WINDOW = 60


class Bond(NamedTuple):
    """What is left of the sentences on which one may hang.

    Attributes:
        has_neighbour: The sentence before it, or at the start of a paragraph one of the
            paragraph before, as it was or rewritten.
        has_earlier: Any sentence before it, as it was or rewritten.
        has_any: Any sentence before it, be it a substitute.
        begins_paragraph: Whether it begins one.
        said: The words of what stands before it.
    """

    has_neighbour: bool
    has_earlier: bool
    has_any: bool
    begins_paragraph: bool
    said: Collection[str] = ()


def without_connective(text: str, bond: Bond) -> str:
    """Strip the words by which a sentence hangs on what is gone; the text itself if none do."""
    match = _STRIPPED.match(text) or _COORDINATED.match(text)
    if match is not None and not _holds(_link(match), bond):
        return capitalise(text[match.end() :])
    if (inference := _INFERENCE.match(text)) and not _holds("conclusion", bond):
        return capitalise(text[inference.end() :])
    if (another := _ANOTHER.match(text)) and _is_first_of_its_kind(text, another.end(), bond):
        is_vowel = _SOUNDS_LIKE_A_VOWEL.match(text, another.end())
        return f"{'An' if is_vowel else 'A'} {text[another.end() :]}"
    if (also := _ALSO.match(text)) and not bond.has_any:
        return f"{also['subject']} {text[also.end() :]}"
    return text


def names_other_side(text: str) -> bool:
    """Tell whether a text is the second of two sides."""
    return _OTHER_HAND.search(text) is not None


def without_one_side(text: str) -> str:
    """Strip the words that announce a second side; the text itself if there are none."""
    match = _ONE_HAND.match(text)
    return text if match is None else capitalise(text[match.end() :])


def _is_first_of_its_kind(text: str, start: int, bond: Bond) -> bool:
    """Tell whether nothing of the kind that "another" counts on stands before."""
    if bond.has_neighbour:
        return False
    counted = [word.norm for word in words(text[start : start + _WINDOW])[:2]]
    is_noun = counted != [] and not is_finite(counted[0])
    return is_noun and not any(norm in bond.said for norm in counted)


def _link(match: re.Match[str]) -> Link:
    if match["relation"]:
        return "relation"
    return "conclusion" if match["conclusion"] else "addition"


def _holds(link: Link, bond: Bond) -> bool:
    if link == "addition":
        return bond.has_any
    if link == "conclusion" and bond.begins_paragraph:
        return bond.has_earlier
    return bond.has_neighbour
