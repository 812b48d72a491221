"""Addresses as an answer may write them: "35 W Haley St" is "35 West Haley Street"."""

import re
from collections.abc import Iterator

from ragmend.text.places import STATE_NAMES

# Source: United States Postal Service, Publication 28, appendices C1 (the common street
# suffixes), C2 (unit designators) and section 233 (directionals).
_STREETS = {
    "Aly": "Alley", "Ave": "Avenue", "Av": "Avenue", "Blvd": "Boulevard", "Cir": "Circle",
    "Ct": "Court", "Cv": "Cove", "Cres": "Crescent", "Dr": "Drive", "Expy": "Expressway",
    "Fwy": "Freeway", "Hwy": "Highway", "Ln": "Lane", "Pkwy": "Parkway", "Pl": "Place",
    "Plz": "Plaza", "Rd": "Road", "Sq": "Square", "St": "Street", "Ter": "Terrace",
    "Trl": "Trail", "Tpke": "Turnpike",
}  # fmt: skip
_UNITS = {"Apt": "Apartment", "Bldg": "Building", "Fl": "Floor", "Rm": "Room", "Ste": "Suite"}
_DIRECTIONS = {
    "N": "North", "S": "South", "E": "East", "W": "West",
    "NE": "Northeast", "NW": "Northwest", "SE": "Southeast", "SW": "Southwest",
}  # fmt: skip
_STATE_CODES = {name: code for code, name in STATE_NAMES.items()}

_DIRECTION = "|".join(sorted(_DIRECTIONS, key=len, reverse=True))
_STREET_KIND = "|".join(_STREETS)
# "St" is a street only where the street's name has come before it and nothing of it follows.
_STREET = re.compile(
    rf"(?<=[^\W_] )({_STREET_KIND})\b\.?"
    rf"(?=\s*(?:$|,|#|(?:{_STREET_KIND}|{_DIRECTION}|Unit|{'|'.join(_UNITS)})\b))"
)
_UNIT = re.compile(rf"\b({'|'.join(_UNITS)})\b\.?(?= )")
_AHEAD = re.compile(rf"(?<=\d )({_DIRECTION})\b\.?(?= [^\W\d_])")  # behind the house number


def spelled_out(address: str) -> str:
    """Return an address with street kinds, units and directions written as words."""
    address = _AHEAD.sub(lambda match: _DIRECTIONS[match[1]], address)
    address = _STREET.sub(lambda match: _STREETS[match[1]], address)
    return _UNIT.sub(lambda match: _UNITS[match[1]], address)


def other_state(state: str) -> str | None:
    """Return a state's name for its code and its code for its name; None if it is neither."""
    return STATE_NAMES.get(state) or _STATE_CODES.get(state)


def whole_addresses(street: str, city: str, state: str) -> Iterator[tuple[str, str]]:
    """Yield an address as one line, as given and then as it may be written, each with a name.

    Args:
        street: The street with its number; "" where unknown.
        city: The city; "" where unknown.
        state: Its code or name; "" where unknown.
    """
    given = _line(street, city, state)
    yield "", given
    long = _line(spelled_out(street), city, STATE_NAMES.get(state, state))
    if long != given:
        yield "spelled-out", long
    if state in _STATE_CODES:
        yield "state-code", _line(street, city, _STATE_CODES[state])


def _line(*parts: str) -> str:
    return "located at " + ", ".join(part for part in parts if part)
