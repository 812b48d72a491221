"""What a claim says about a business's attributes, held against the structured source.

Word overlap cannot tell "offers free WiFi" from "no WiFi"; here a mention is read with its
polarity ("they do not accept reservations") and compared with the field that holds the answer.
A null means that nothing is known: neither that nor the opposite is stated.

Source: the attribute keys of the Yelp Open Dataset, from which RAGTruth's data-to-text sources
were made (Niu et al. 2024, section 3.1).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.text.words import fold

Stated = Literal["yes", "no", "unknown", "absent"]

# How English mentions an attribute. A group without a member ("parking") means any of them.
_MENTIONS = {
    "WiFi": r"wi-?fi|wireless internet|internet access",
    "OutdoorSeating": r"outdoor\w*|(?:seating|dining|sit|eat|dine|seats|tables) outside|patio",
    "RestaurantsTakeOut": r"take-? ?outs?|take-?away|to-go|carry-?out",
    "RestaurantsDelivery": r"deliver(?:y|s|ies)?",
    "RestaurantsReservations": r"reservations?|bookings?",
    "RestaurantsGoodForGroups": r"groups?|group dining|large parties",
    "GoodForKids": r"kids?|children|family-friendly|kid-friendly|child-friendly",
    "BusinessParking.street": r"street parking|park\w*(?: \w+){0,3} on the street|on-street",
    "BusinessParking.lot": r"parking lots?|lot parking|(?:private|dedicated|own|large) lot"
    r"|park\w*(?: \w+){0,5} lot|lots?(?= parking)",
    "BusinessParking.garage": r"garages?",
    "BusinessParking.valet": r"valet",
    "BusinessParking.validated": r"validat(?:ed|ion)",
    "BusinessParking": r"parking|(?:can|to|could|may) park",
    "Music.live": r"live (?:music|bands?|performances?|entertainment)",
    "Music.dj": r"djs?",
    "Music": r"music",
    "Ambience.casual": r"casual\w*",
    "Ambience.classy": r"classy|elegant",
    "Ambience.divey": r"divey|dive bar",
    "Ambience.hipster": r"hip(?:ster)?s?",
    "Ambience.intimate": r"intimate",
    "Ambience.romantic": r"romantic",
    "Ambience.touristy": r"touristy|tourist (?:trap|spot|destination)",
    "Ambience.trendy": r"trendy|fashionable",
    "Ambience.upscale": r"upscale|high-end|fancy",
    "Caters": r"cater(?:s|ing)",
    "HasTV": r"tvs?|televisions?",
    "HappyHour": r"happy hours?",
    "BusinessAcceptsCreditCards": r"credit cards?",
    "WheelchairAccessible": r"wheelchairs?",
    "DogsAllowed": r"dogs?|pet-friendly|pets",
    "DriveThru": r"drive-? ?(?:thru|through)",
    "BikeParking": r"bike (?:parking|racks?)",
    "Alcohol": r"alcohol\w*|full bar",
}
_ANY_MENTION = re.compile(
    r"\b(?:"
    + "|".join(
        f"(?P<{path.replace('.', '__')}>{pattern})"
        for path, pattern in sorted(_MENTIONS.items(), key=lambda item: "." not in item[0])
    )
    + r")\b"
)
# A negation reaches to the next of these: a stop, a contrast, or a verb that says something anew.
_BOUNDARY = re.compile(
    r"[.;:!?]\s|\b(?:but|however|although|though|while|whereas|instead|yet)\b"
    r"|,\s(?:the|it|they|he|she|we|there|this|which|with|making)\b"
    r"|,\s(?=[\w -]{3,40}?\b(?:is|are)\b)"
    r"|\b(?:and|also|it|they) (?:is|are|has|have|offers?|provides?|accepts?|allows?|does|do|can)\b"
    r"(?!\s*(?:not\b|n't))"
)
# "No lack of", "never fails to", "not just" say yes; "no wait for" says nothing of the thing.
_SAYS_YES = re.compile(
    r"\b(?:no (?:lack|shortage) of|(?:never|not|n't) fails? to|(?:not|n't) (?:just|only))\b"
)
_BEFORE = re.compile(
    r"\b(?:no|not|none|neither|nor|without|lacks?|lacking|never|unable|cannot|except|absence)\b"
    r"|n't\b"
)
# "reservations are not accepted", "parking is unavailable", but not "a garage, but not a lot".
_AFTER = re.compile(
    r"(?:\s+(?!(?:but|and|or|while|though|although|with|is|are)\b)[\w-]+){0,3}?"
    r"\s+(?:(?:is|are|was|were)(?: not\b|n't\b)|(?:is |are )?unavailable\b)"
)
_REACH = 120
_NEAR = 40
# "Casual dining" is a kind of restaurant; the attribute is the ambience.
_AMBIENCE = re.compile(r"\b(?:ambien\w+|atmosphere|vibes?|setting|environment|feel|decor)\b")
_LOCATED = re.compile(r"\b(?:located|situated|sits|parked)\b|\bin a (?:\w+ )?$")
_NEEDLESS = re.compile(r"\s+(?:are|is) (?:unnecessary|not (?:needed|necessary|required))\b")
_WAIT = re.compile(r"\b(?:wait|waiting|line|queue) for (?:\w+ )?$")
_NO_WORDS = frozenset({"no", "none", "false", "0", ""})


class AttributeFinding(NamedTuple):
    """One attribute that a text mentions.

    Attributes:
        path: The field, below "attributes": "WiFi", "BusinessParking.street".
        is_affirmed: Whether the text says that the business has it.
        stated: What the source says: that it has it, that it has not, null, or no such field.
        start: Where the mention begins.
        end: Where it ends.
    """

    path: str
    is_affirmed: bool
    stated: Stated
    start: int
    end: int

    @property
    def conflicts(self) -> bool:
        """Whether the source says the opposite."""
        return self.stated == ("no" if self.is_affirmed else "yes")

    @property
    def agrees(self) -> bool:
        """Whether the source says the same."""
        return self.stated == ("yes" if self.is_affirmed else "no")


def attribute_findings(
    text: str, attributes: Mapping[str, JsonValue]
) -> tuple[AttributeFinding, ...]:
    """Return every attribute that a text mentions, in order, with what the source says of it.

    Args:
        text: A claim.
        attributes: The source's `attributes` object; strings, booleans, groups or null.
    """
    found = tuple(_findings(fold(text), attributes))
    groups = {finding.path.partition(".")[0] for finding in found if "." in finding.path}
    # "no garage or validated parking" speaks of members, not of parking as such.
    return tuple(finding for finding in found if finding.path not in groups)


def _findings(folded: str, attributes: Mapping[str, JsonValue]) -> Iterator[AttributeFinding]:
    for match in _ANY_MENTION.finditer(folded):
        if _is_about_something_else(folded, match):
            continue
        path = (match.lastgroup or "").replace("__", ".")
        yield AttributeFinding(
            path=path,
            is_affirmed=not _is_negated(folded, match.start(), match.end()),
            stated=stated_value(attributes, path),
            start=match.start(),
            end=match.end(),
        )


def _is_about_something_else(folded: str, mention: re.Match[str]) -> bool:
    """Tell whether a mention says nothing of the business: "located in a vacant parking lot"."""
    before = folded[max(0, mention.start() - _NEAR) : mention.start()]
    after = folded[mention.end() : mention.end() + _NEAR]
    match mention.lastgroup:
        case "Ambience__casual":
            return not (_AMBIENCE.search(before) or _AMBIENCE.search(after))
        case "BusinessParking__lot":
            return _LOCATED.search(before) is not None
        case "RestaurantsReservations":
            return _NEEDLESS.match(after) is not None
        case _:
            return _WAIT.search(before) is not None


def stated_value(attributes: Mapping[str, JsonValue], path: str) -> Stated:
    """Return what a source says of an attribute; a group is had if any member of it is."""
    key, _, member = path.partition(".")
    if key not in attributes:
        return "absent"
    value = attributes[key]
    if isinstance(value, dict):
        if member:
            return _as_stated(value[member]) if member in value else "absent"
        members = {_as_stated(inner) for inner in value.values()}
        return next((answer for answer in _STRONGEST_FIRST if answer in members), "unknown")
    if member and _as_stated(value) == "yes":
        return "absent"  # "Music: true" does not say which
    return _as_stated(value)


_STRONGEST_FIRST: tuple[Stated, ...] = ("yes", "no", "unknown")


def _as_stated(value: JsonValue) -> Stated:
    if value is None:
        return "unknown"
    if isinstance(value, str):
        return "no" if value.strip("u'\" ").lower() in _NO_WORDS else "yes"
    return "yes" if value else "no"


def _is_negated(folded: str, start: int, end: int) -> bool:
    begin = max(0, start - _REACH)
    for boundary in _BOUNDARY.finditer(folded, begin, end + _REACH):
        if boundary.end() <= start:
            begin = boundary.end()
    begin = max([begin, *(yes.end() for yes in _SAYS_YES.finditer(folded, begin, start))])
    return (
        _BEFORE.search(folded, begin, start) is not None
        or _AFTER.match(folded[end : end + _REACH]) is not None
    )
