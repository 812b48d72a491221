"""One value of structured data in words: ("attributes.WiFi", "no") is "no WiFi".

Source: the attribute keys and values of the Yelp Open Dataset, from which RAGTruth's
data-to-text sources are made; a key that is not known here reads "label: value".
"""

import re

from pydantic import JsonValue

from ragmend.text.fields.addresses import other_state
from ragmend.text.fields.opening_hours import hours_words

# A word begins at a capital behind a small letter or digit, at the last of several capitals,
# at a number and at an underscore.
_WORD_START = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|_"
)
_DECIMAL_DIGITS = 4000  # the interpreter refuses to write much longer integers

# How a yes/no value reads, for keys whose name alone would not make English.
_SAID = {
    "is_open": ("open for business", "permanently closed"),
    "AcceptsInsurance": ("accepts insurance", "accepts no insurance"),
    "BYOB": ("has BYOB (bring your own bottle)", "no BYOB (bring your own bottle)"),
    "BusinessAcceptsBitcoin": ("accepts Bitcoin", "accepts no Bitcoin"),
    "BusinessAcceptsCreditCards": ("accepts credit cards", "no credit cards"),
    "ByAppointmentOnly": ("takes customers by appointment only", "no appointment needed"),
    "Caters": ("offers catering", "no catering"),
    "CoatCheck": ("has a coat check", "no coat check"),
    "Corkage": ("corkage: yes", "no corkage"),
    "DriveThru": ("has a drive-thru (drive-through)", "no drive-thru (drive-through)"),
    "GoodForDancing": ("good for dancing", "not good for dancing"),
    "GoodForKids": ("good for kids", "not good for kids"),
    "HappyHour": ("has a happy hour", "no happy hour"),
    "HasTV": ("has a TV", "no TV"),
    "Open24Hours": ("open 24 hours", "no 24-hour opening"),
    "OutdoorSeating": ("has outdoor seating", "no outdoor seating"),
    "RestaurantsCounterService": ("offers counter service", "no counter service"),
    "RestaurantsDelivery": ("offers delivery", "no delivery"),
    "RestaurantsGoodForGroups": ("good for groups", "not good for groups"),
    "RestaurantsReservations": ("takes reservations", "no reservations"),
    "RestaurantsTableService": ("offers table service", "no table service"),
    "RestaurantsTakeOut": ("offers takeout", "no takeout"),
    "WheelchairAccessible": ("wheelchair accessible", "not wheelchair accessible"),
    "WiFi": ("has WiFi", "no WiFi"),
    "no_music": ("no music", "without music: no"),
    "no_msic": ("no music", "without music: no"),
}
# How a flag inside a group reads, "{}" being its label.
_SAID_IN_GROUP = {
    "Ambience": ("{} ambience", "not {} ambience"),
    "BestNights": ("best night: {}", "not a best night: {}"),
    "BusinessParking": ("{} parking", "no {} parking"),
    "DietaryRestrictions": ("offers {} food", "no {} food"),
    "GoodForMeal": ("good for {}", "not good for {}"),
    "HairSpecializesIn": ("hair specialty: {}", "not a hair specialty: {}"),
    "Music": ("{} music", "no {} music"),
}
# Values that are codes.
_CODES = {
    "AgesAllowed": {
        "allages": "ages allowed: all ages",
        "18plus": "ages allowed: 18 and over (18+)",
        "19plus": "ages allowed: 19 and over (19+)",
        "21plus": "ages allowed: 21 and over (21+)",
    },
    "BYOBCorkage": {
        "no": "no BYOB (bring your own bottle)",
        "yes_corkage": "has BYOB (bring your own bottle) with a corkage fee",
        "yes_free": "has BYOB (bring your own bottle) free of corkage",
    },
    "Smoking": {"no": "no smoking", "outdoor": "smoking: outdoor only", "yes": "smoking: yes"},
    "WiFi": {"no": "no WiFi", "yes": "has WiFi"},
}
_CODED = frozenset({"Alcohol", "NoiseLevel", "RestaurantsAttire", *_CODES})  # "full_bar"
_SPELLING = {
    "BYOB": "BYOB",
    "BYOBCorkage": "BYOB corkage",
    "BusinessParking": "parking",
    "GoodForMeal": "meals",
    "RestaurantsPriceRange2": "price range",
    "WiFi": "WiFi",
    "africanamerican": "African American",
    "background_music": "background",
    "backgrond_msic": "background",
    "dj": "DJ",
    "jkebox": "jukebox",
    "latenight": "late night",
    "no_msic": "no",
    "no_music": "no",
    "straightperms": "straight perms",
}
_CAPITALISED = frozenset({"BestNights"})


def value_words(path: str, value: JsonValue) -> str:
    """Return a known value in words.

    Args:
        path: The keys that lead to it, joined by dots.
        value: A string, number or boolean, neither null nor empty.
    """
    *above, key = path.split(".")
    if isinstance(value, bool) or (key == "is_open" and value in (0, 1)):
        return _yes_or_no(path, is_so=bool(value))
    label, text = label_of(path), scalar_text(value)
    if key in _CODED:
        return _code_words(key, label, text)
    if above and above[-1] == "hours":
        return f"{label}: {hours_words(text)}"
    if key == "state" and (other := other_state(text)):
        return f"{label}: {text} ({other})"
    if key.endswith("stars"):
        return f"rated {text} stars"
    return f"{label}: {text}"


def label_of(path: str) -> str:
    """Return a path's readable name: "attributes.BusinessParking.lot" is "lot parking"."""
    *above, key = path.split(".")
    key, group = key.partition("[")[0], above[-1] if above else ""
    if group == "hours":
        return f"{key} hours"
    if group in _SAID_IN_GROUP:
        return _SAID_IN_GROUP[group][0].format(_member(group, key))
    return _words_of(key)


def scalar_text(value: JsonValue) -> str:
    """Return a string, number or boolean as written, "" for anything else."""
    if isinstance(value, int) and value.bit_length() > 3 * _DECIMAL_DIGITS:
        return f"{value:#x}"
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _yes_or_no(path: str, *, is_so: bool) -> str:
    """Say a flag in words where its name gives English, as "label: yes" elsewhere."""
    *above, key = path.split(".")
    group = above[-1] if above else ""
    if key in _SAID:
        return _SAID[key][0 if is_so else 1]
    if group in _SAID_IN_GROUP:
        return _SAID_IN_GROUP[group][0 if is_so else 1].format(_member(group, key))
    return f"{label_of(path)}: {'yes' if is_so else 'no'}"


def _code_words(key: str, label: str, code: str) -> str:
    if known := _CODES.get(key, {}).get(code):
        return known
    if key == "WiFi":
        return f"{code} WiFi"
    return f"no {label}" if code == "none" else f"{label}: {code.replace('_', ' ')}"


def _member(group: str, key: str) -> str:
    word = _words_of(key)
    return word.capitalize() if group in _CAPITALISED else word


def _words_of(key: str) -> str:
    """Split a key into words; abbreviations keep their capitals."""
    if key in _SPELLING:
        return _SPELLING[key]
    parts = [part for part in _WORD_START.split(key.removeprefix("Restaurants")) if part]
    return " ".join(part if part.isupper() else part.lower() for part in parts) or key
