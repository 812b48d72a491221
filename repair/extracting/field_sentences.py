"""Structured fields as sentences: for "no WiFi", "The business has no WiFi".

Only what the data say, in plain English; a field of which no true sentence can be made gives
none, and so do those that only identify the business. No sentence begins with "It": it may
come to open an answer.
"""

import re

from ragmend.text.fields.opening_hours import WEEK
from ragmend.text.fragments import Fragment

_IDENTIFYING = frozenset(
    {"name", "address", "city", "state", "postal_code", "categories", "latitude", "longitude"}
)
_RAW_HOURS = re.compile(r" \(\d{1,2}:\d{1,2}-\d{1,2}:\d{1,2}\)$")
_DAY_HOURS = re.compile(rf"({'|'.join(WEEK)}) hours: (.+)")
_SPAN = re.compile(r"\d{1,2}(?::\d\d)? [ap]m(?: \(\w+\))? to \d{1,2}(?::\d\d)? [ap]m(?: \(\w+\))?")
_SPAN_AT_END = re.compile(rf"(?<= ){_SPAN.pattern}\Z")
_SPECIAL_DAYS = {"closed": "closed on {}", "open 24 hours": "open 24 hours on {}"}
# The wording of a field (`ragmend.text.fields.field_words`) and the sentence for it: the first
# that fits is used, the last ones being general.
_SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(wording), sentence)
    for wording, sentence in (
        (r"(rated .+|good for .+|not good for .+|permanently closed)", r"The business is \1"),
        (r"((?:not )?wheelchair accessible|open .+)", r"The business is \1"),
        (r"(located at .+)", r"The business is \1"),
        (r"no 24-hour opening", "The business is not open 24 hours"),
        (r"((?:has|offers|takes|accepts) .+)", r"The business \1"),
        (r"(no reservations)", r"The business takes \1"),
        (r"(no credit cards)", r"The business accepts \1"),
        (r"(no (?:takeout|delivery|catering|counter service|table service))",
         r"The business offers \1"),
        (r"(no .+ food)", r"The business offers \1"),
        (r"(no alcohol)", r"The business serves \1"),
        (r"no appointment needed", "The business does not work by appointment only"),
        (r"no smoking", "Smoking is not allowed"),
        (r"smoking: yes", "Smoking is allowed"),
        (r"smoking: outdoor only", "Smoking is allowed outdoors only"),
        (r"dogs allowed: yes", "Dogs are allowed"),
        (r"dogs allowed: no", "Dogs are not allowed"),
        (r"ages allowed: all ages", "All ages are allowed"),
        (r"(ages allowed): (.+)", r"The \1 are \2"),
        (r"(bike parking|corkage): yes", r"The business has \1"),
        (r"(bike parking): no", r"The business has no \1"),
        (r"alcohol: full bar", "The business has a full bar"),
        (r"alcohol: (beer and wine)", r"The business serves \1"),
        (r"(noise level|attire|price range): (.+)", r"The \1 is \2"),
        (r"lot parking", "The business has a parking lot"),
        (r"no lot parking", "The business has no parking lot"),
        (r"best night: (.+)", r"\1 is one of the best nights at the business"),
        (r"not a best night: (.+)", r"\1 is not one of the best nights at the business"),
        (r"hair specialty: (.+)", r"The hair specialties of the business include \1"),
        (r"not a hair specialty: (.+)", r"The hair specialties of the business do not include \1"),
        (r"(not )?([^:]+) ambience", r"The ambience is \1\2"),
        (r"review rated ([^:]+) stars, written (.+)",
         r"A review written on \2 rates the business \1 stars"),
        (r"review rated ([^:]+) stars", r"A review rates the business \1 stars"),
        (r"review, written (.+)", r"A review was written on \1"),
        (r"([^:]+ (?:music|parking|WiFi)|no [^:]+)", r"The business has \1"),
    )
)  # fmt: skip


def identifies_only(fragment: Fragment) -> bool:
    """Tell whether a field only says which business it is, by a name, place or category.

    An address with its street is a statement: "The business is located at 1 Main St, Alm, PA."
    """
    if fragment.kind != "field" or fragment.path not in _IDENTIFYING:
        return False
    return not (fragment.text.startswith("located at ") and "f-address" in fragment.parts)


def field_sentence(text: str) -> str | None:
    """Return what a field's wording says as a sentence without its stop; None if nothing sure.

    Args:
        text: A field in words, as fragments have it.
    """
    wording = _RAW_HOURS.sub("", text)
    if hours := _DAY_HOURS.fullmatch(wording):
        return _day_sentence(hours[1], hours[2])
    for pattern, sentence in _SENTENCES:
        if found := pattern.fullmatch(wording):
            return _with_from(found.expand(sentence))
    return None


def _day_sentence(day: str, hours: str) -> str | None:
    if hours in _SPECIAL_DAYS:
        return f"The business is {_SPECIAL_DAYS[hours].format(day)}"
    return f"The business is open on {day} from {hours}" if _SPAN.fullmatch(hours) else None


def _with_from(sentence: str) -> str:
    """Set "from" before the hours of several days: "open on weekdays from 9 am to 5 pm"."""
    return _SPAN_AT_END.sub(r"from \g<0>", sentence)
