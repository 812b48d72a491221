"""A source cut into fragments: the pieces of evidence that a claim can be held against.

Running text gives sentences, structured fields give one readable line a value, reviews give
their sentences. A null is a fragment too, marked unknown: unknown is not absent.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.records import Source
from ragmend.text.numbers import clock_words
from ragmend.text.places import STATE_NAMES
from ragmend.text.sentences import sentence_spans

FragmentKind = Literal["sentence", "field", "review"]

_PASSAGE_MARKER = re.compile(r"(?:\A|(?<=\n))[ \t]*passage (\d+):[ \t]*", re.IGNORECASE)
_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})-(\d{1,2}):(\d{1,2})")
_CLOSED = "0:0-0:0"  # how Yelp's data write a day on which a business does not open
_WHOLE_DAYS = {_CLOSED: "closed", "0:0-24:0": "open 24 hours"}
_PYTHON_STRING = re.compile(r"u?'(.*)'|u?\"(.*)\"", re.DOTALL)
_PYTHON_DICT = re.compile(r"\{(.*)\}", re.DOTALL)
_PYTHON_WORDS: dict[str, bool | None] = {"True": True, "False": False, "None": None}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")

# How a yes/no value reads, for keys whose name alone would not make English.
_SAID = {
    "is_open": ("open for business", "permanently closed"),
    "BusinessAcceptsCreditCards": ("accepts credit cards", "no credit cards"),
    "HasTV": ("has a TV", "no TV"),
    "WheelchairAccessible": ("wheelchair accessible", "not wheelchair accessible"),
    "no_music": ("no music", "without music: no"),
    "no_msic": ("no music", "without music: no"),
    "RestaurantsReservations": ("takes reservations", "no reservations"),
    "OutdoorSeating": ("has outdoor seating", "no outdoor seating"),
    "RestaurantsTakeOut": ("offers takeout", "no takeout"),
    "RestaurantsDelivery": ("offers delivery", "no delivery"),
    "RestaurantsGoodForGroups": ("good for groups", "not good for groups"),
    "GoodForKids": ("good for kids", "not good for kids"),
}
# Values that are codes: "full_bar", "very_loud".
_CODED = frozenset({"Alcohol", "NoiseLevel", "RestaurantsAttire", "Smoking"})
# What a flag inside a group is a flag of: BusinessParking.street is "street parking".
_GROUPS = {"BusinessParking": "parking", "Ambience": "ambience", "Music": "music"}
_SPELLING = {
    "jkebox": "jukebox",
    "backgrond_msic": "background",
    "background_music": "background",
    "no_msic": "no",
    "no_music": "no",
    "dj": "DJ",
    "RestaurantsPriceRange2": "price range",
}


class Fragment(NamedTuple):
    """One piece of a source.

    Attributes:
        fragment_id: Unique and stable within the source: "p2-s0", "f-attributes.WiFi", "r1-s3",
            "s4".
        text: The piece, or a readable rendering of a field.
        path: Where it stands: "passage 2", "attributes.WiFi", "review_info[1]", "text".
        kind: A sentence of running text, a field, or a sentence of a review.
        is_unknown: The source holds null here: neither the thing nor its absence is stated.
    """

    fragment_id: str
    text: str
    path: str
    kind: FragmentKind
    is_unknown: bool = False


def source_fragments(source: Source) -> tuple[Fragment, ...]:
    """Cut a source into fragments, in the source's order; the question is never one."""
    return tuple(_with_unique_ids(_fragments(source)))


def _fragments(source: Source) -> Iterator[Fragment]:
    if source.fields is not None:
        return _field_fragments(source.fields)
    text = source.text or ""
    if source.task_type == "QA":
        return _passage_fragments(text)
    return _sentences(text, prefix="", path="text", kind="sentence")


def _with_unique_ids(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Mark the second use of an id: two passages with one number, a key with a dot in it."""
    seen: Counter[str] = Counter()
    for fragment in fragments:
        seen[fragment.fragment_id] += 1
        count = seen[fragment.fragment_id]
        is_first = count == 1
        yield (
            fragment
            if is_first
            else fragment._replace(fragment_id=f"{fragment.fragment_id}#{count}")
        )


def _passage_fragments(text: str) -> Iterator[Fragment]:
    """Yield the sentences of each passage; text before the first marker is passage 0."""
    marks = list(_PASSAGE_MARKER.finditer(text))
    starts = [(0, 0), *((mark.end(), int(mark[1])) for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    for (start, number), end in zip(starts, ends, strict=True):
        path = f"passage {number}"
        yield from _sentences(text[start:end], prefix=f"p{number}-", path=path, kind="sentence")


def _sentences(text: str, *, prefix: str, path: str, kind: FragmentKind) -> Iterator[Fragment]:
    for index, (start, end) in enumerate(sentence_spans(text)):
        if sentence := text[start:end].strip():
            yield Fragment(f"{prefix}s{index}", sentence, path, kind)


def _field_fragments(fields: dict[str, JsonValue]) -> Iterator[Fragment]:
    for key, value in fields.items():
        if key == "review_info" and isinstance(value, list):
            yield from _review_fragments(value)
        else:
            yield from _flatten(key, value)
    yield from _whole_address(fields)
    yield from _open_days(fields.get("hours"))


def _flatten(path: str, value: JsonValue) -> Iterator[Fragment]:
    value = _plain_value(value)
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flatten(f"{path}.{key}", inner)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _flatten(f"{path}[{index}]", inner)
    else:
        is_unknown = value is None or value == "" or value == {} or value == []
        text = f"{_label(path)}: unknown" if is_unknown else _render(path, value)
        yield Fragment(f"f-{path}", text, path, "field", is_unknown)


def _plain_value(value: JsonValue) -> JsonValue:
    """Read a value that is a Python literal written as a string: "u'free'", "{dj: False}"."""
    if not isinstance(value, str):
        return value
    plain = value.strip()
    if plain in _PYTHON_WORDS:
        return _PYTHON_WORDS[plain]
    if quoted := _PYTHON_STRING.fullmatch(plain):
        return quoted[1] or quoted[2] or ""
    if braced := _PYTHON_DICT.fullmatch(plain):
        pairs = [item.partition(":") for item in braced[1].split(",") if item.strip()]
        if all(colon for _, colon, _ in pairs):
            return {key.strip(" '\""): _plain_value(inner) for key, _, inner in pairs}
    return plain


def _label(path: str) -> str:
    """Return a path's readable name: "attributes.BusinessParking.lot" is "lot parking"."""
    *above, key = path.partition("[")[0].split(".")
    if above and above[-1] == "hours":
        return f"{key} hours"
    if above and above[-1] in _GROUPS:
        return f"{_words_of(key)} {_GROUPS[above[-1]]}"
    return _words_of(key)


def _words_of(key: str) -> str:
    """Split a key into words; abbreviations and "WiFi" keep their capitals."""
    if key in _SPELLING:
        return _SPELLING[key]
    if key == "WiFi":
        return key
    parts = [part for part in _CAMEL.split(key.removeprefix("Restaurants")) if part]
    return " ".join(part if part.isupper() else part.lower() for part in parts) or key


def _render(path: str, value: JsonValue) -> str:
    *above, key = path.split(".")
    label = _label(path)
    if isinstance(value, bool) or (key == "is_open" and value in (0, 1)):
        return _yes_or_no(path, is_so=bool(value))
    if isinstance(value, str) and above and above[-1] == "hours":
        return f"{label}: {_hours(value)}"
    if key == "state" and value in STATE_NAMES:
        return f"{label}: {value} ({STATE_NAMES[value]})"
    if key == "WiFi":
        return f"{value} WiFi"
    if key.endswith("stars"):
        return f"rated {value} stars"
    if key in _CODED and isinstance(value, str):
        return f"no {label}" if value == "none" else f"{label}: {value.replace('_', ' ')}"
    return f"{label}: {value}"


def _yes_or_no(path: str, *, is_so: bool) -> str:
    """Say a flag in words where its name gives English, as "label: yes" elsewhere."""
    *above, key = path.split(".")
    label, group = _label(path), above[-1] if above else ""
    if key in _SAID:
        return _SAID[key][0 if is_so else 1]
    if group == "GoodForMeal":
        return f"good for {label}" if is_so else f"not good for {label}"
    if group == "Ambience":
        return label if is_so else f"not {label}"
    if group in _GROUPS:
        return label if is_so else f"no {label}"
    return f"{label}: {'yes' if is_so else 'no'}"


def _hours(value: str) -> str:
    """Render opening hours such as "9:0-22:30"."""
    match = _HOURS.fullmatch(value)
    if match is None or int(match[1]) > 24 or int(match[3]) > 24:
        return value
    if value in _WHOLE_DAYS:
        return f"{_WHOLE_DAYS[value]} ({value})"
    since, until = (
        clock_words(f"{int(hour) % 24}:{minute}")
        for hour, minute in ((match[1], match[2]), (match[3], match[4]))
    )
    return f"{since} to {until} ({value})"


def _review_fragments(reviews: list[JsonValue]) -> Iterator[Fragment]:
    for index, review in enumerate(reviews):
        path = f"review_info[{index}]"
        if not isinstance(review, dict):
            yield from _flatten(path, review)
            continue
        yield Fragment(f"r{index}-head", _review_head(review), path, "field")
        text = review.get("review_text")
        if isinstance(text, str):
            yield from _sentences(text, prefix=f"r{index}-", path=path, kind="review")


def _review_head(review: dict[str, JsonValue]) -> str:
    stars, date = review.get("review_stars"), review.get("review_date")
    rated = "review" if stars is None else f"review rated {stars} stars"
    return rated if date is None else f"{rated}, written {str(date).split()[0]}"


def _whole_address(fields: dict[str, JsonValue]) -> Iterator[Fragment]:
    """Yield the address with city and state as one fragment, if at least two are known."""
    parts = [fields.get(key) for key in ("address", "city", "state")]
    known = [part for part in parts if isinstance(part, str) and part]
    if len(known) > 1:
        yield Fragment("f-address+city+state", "located at " + ", ".join(known), "address", "field")


def _open_days(hours: JsonValue) -> Iterator[Fragment]:
    """Yield on how many and which days a business is open, if its hours are known."""
    if isinstance(hours, dict):
        days = [day for day, value in hours.items() if value and value != _CLOSED]
        count = f"open {len(days)} day{'s' if len(days) != 1 else ''} a week"
        text = f"{count}: {', '.join(days)}" if days else count
        yield Fragment("f-hours", text, "hours", "field")
