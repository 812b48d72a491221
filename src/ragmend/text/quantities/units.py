"""Units of measure and currencies: how they are written, and which convert exactly.

"90 minutes" is "1.5 hours" and "5 km" is "5,000 metres", but no number of miles is stated by a
number of kilometres: an edit that converts has rounded.
"""

import re
from decimal import Decimal
from typing import NamedTuple

from ragmend.text.quantities.types import Number, NumberKind, canonical


class _Unit(NamedTuple):
    """A unit as a multiple of its base; a "*" in its spellings stands for an optional "s"."""

    base: str
    factor: str
    spellings: str


# Source of the factors: NIST Handbook 44 (2024), appendix C; a month has no fixed days.
_UNITS = {
    "second": _Unit("second", "1", "second* sec*"),
    "minute": _Unit("second", "60", "minute* min*"),
    "hour": _Unit("second", "3600", "hour* hr*"),
    "day": _Unit("second", "86400", "day*"),
    "week": _Unit("second", "604800", "week* wk*"),
    "month": _Unit("month", "1", "month*"),
    "year": _Unit("month", "12", "year* yr*"),
    "decade": _Unit("month", "120", "decade*"),
    "century": _Unit("month", "1200", "century centuries"),
    "millimetre": _Unit("metre", "0.001", "mm millimeter* millimetre*"),
    "centimetre": _Unit("metre", "0.01", "cm centimeter* centimetre*"),
    "metre": _Unit("metre", "1", "m meter* metre*"),
    "kilometre": _Unit("metre", "1000", "km* kilometer* kilometre*"),
    "inch": _Unit("inch", "1", "inch inches"),
    "foot": _Unit("inch", "12", "foot feet ft"),
    "yard": _Unit("inch", "36", "yard* yd*"),
    "mile": _Unit("inch", "63360", "mile* mi"),
    "square foot": _Unit("square foot", "1", "square_foot square_feet sq_ft sq._ft"),
    "square mile": _Unit("square mile", "1", "square_mile*"),
    "square metre": _Unit("square metre", "1", "square_meter* square_metre*"),
    "square kilometre": _Unit("square kilometre", "1", "square_kilometer* square_kilometre*"),
    "acre": _Unit("acre", "1", "acre*"),
    "hectare": _Unit("hectare", "1", "hectare*"),
    "milligram": _Unit("gram", "0.001", "mg milligram*"),
    "gram": _Unit("gram", "1", "g gram*"),
    "kilogram": _Unit("gram", "1000", "kg* kilo* kilogram*"),
    "tonne": _Unit("gram", "1000000", "tonne* metric_ton*"),
    "ounce": _Unit("ounce", "1", "oz ounce*"),
    "pound": _Unit("ounce", "16", "lb* pound*"),
    "ton": _Unit("ton", "1", "ton*"),
    "millilitre": _Unit("millilitre", "1", "ml milliliter* millilitre*"),
    "litre": _Unit("millilitre", "1000", "liter* litre*"),
    "teaspoon": _Unit("teaspoon", "1", "teaspoon* tsp*"),
    "tablespoon": _Unit("teaspoon", "3", "tablespoon* tbsp*"),
    "cup": _Unit("teaspoon", "48", "cup*"),
    "pint": _Unit("teaspoon", "96", "pint*"),
    "quart": _Unit("teaspoon", "192", "quart*"),
    "gallon": _Unit("teaspoon", "768", "gallon* gal"),
    "degree": _Unit("degree", "1", "degree* deg ° ˚ º"),
    "degree Celsius": _Unit(
        "degree Celsius", "1", "°c °_c ˚c ºc ℃ degree*_celsius degree*_c degree*_centigrade celsius"
    ),
    "degree Fahrenheit": _Unit(
        "degree Fahrenheit", "1", "°f °_f ˚f ºf ℉ degree*_fahrenheit degree*_f fahrenheit"
    ),
    "mile an hour": _Unit("mile an hour", "1", "mph mile*_per_hour mile*_an_hour"),
    "kilometre an hour": _Unit(
        "kilometre an hour", "1", "km/h kmh kph kilometer*_per_hour kilometre*_per_hour"
    ),
    "calorie": _Unit("calorie", "1", "calorie* kcal"),
    "watt": _Unit("watt", "1", "watt*"),
    "kilowatt": _Unit("watt", "1000", "kilowatt* kw"),
    "megawatt": _Unit("watt", "1000000", "megawatt* mw"),
    "volt": _Unit("volt", "1", "volt*"),
    "kilobyte": _Unit("kilobyte", "1", "kb kilobyte*"),
    "megabyte": _Unit("megabyte", "1", "mb megabyte*"),
    "gigabyte": _Unit("gigabyte", "1", "gb gigabyte*"),
    "terabyte": _Unit("terabyte", "1", "tb terabyte*"),
    "percentage point": _Unit("percentage point", "1", "percentage_point* percent_point*"),
    "basis point": _Unit("basis point", "1", "basis_point*"),
    "star": _Unit("star", "1", "star* /5_star* out_of_5_star* out_of_five_star*"),
    "time": _Unit("time", "1", "time*"),
    "cent": _Unit("cent", "1", "cent*"),
}  # fmt: skip
_CURRENCIES = {
    "$": "$ us$ usd dollar* buck* us_dollar* u.s._dollar*",
    "A$": "a$ au$ aud australian_dollar*",
    "C$": "c$ ca$ cad canadian_dollar*",
    "HK$": "hk$ hkd hong_kong_dollar*",
    "€": "€ eur euro*",
    "£": "£ gbp pounds_sterling pound_sterling british_pound*",
    "¥": "¥ jpy yen",
    "₹": "₹ inr rupee*",
    "CHF": "chf swiss_franc*",
}
_PERCENT = "% percent per_cent pct"
_OLD = re.compile(r"[ -]olds?\b| of age\b")
_AGED = re.compile(r"\b(?:aged?|ages|ages? of) \Z")
_BELOW_ZERO = re.compile(r" below (?:zero|freezing)\b")
_OLD_UNIT = " old"


def _spelled(spellings: str) -> list[str]:
    """Return the spellings of a list: "cup*" is "cup" and "cups"."""
    listed = [spelling.replace("_", " ") for spelling in spellings.split()]
    return [s.replace("*", plural) for s in listed for plural in ("", "s")]


_UNIT_OF: dict[str, tuple[NumberKind, str]] = {
    **{s: ("number", name) for name, unit in _UNITS.items() for s in _spelled(unit.spellings)},
    **{s: ("money", name) for name, listed in _CURRENCIES.items() for s in _spelled(listed)},
    **dict.fromkeys(_spelled(_PERCENT), ("percent", "")),
}
_LONGEST_FIRST = sorted(_UNIT_OF, key=lambda spelling: (-len(spelling), spelling))
_BEHIND = re.compile(rf"[ -]?({'|'.join(map(re.escape, _LONGEST_FIRST))})(?!\w)")
_IN_FRONT = [s for s in _LONGEST_FIRST if _UNIT_OF[s][0] == "money" and len(s) < 4]
SIGN = rf"(?:{'|'.join(map(re.escape, _IN_FRONT))})"


class UnitBehind(NamedTuple):
    """What stands behind a number.

    Attributes:
        kind: What the number is by it.
        unit: The unit or currency.
        end: Where it ends.
        is_below_zero: It reads "degrees below zero".
    """

    kind: NumberKind
    unit: str
    end: int
    is_below_zero: bool = False


def read_unit(plain: str, at: int) -> UnitBehind | None:
    """Return the unit that stands at a place of a folded text, or None."""
    match = _BEHIND.match(plain, at)
    if match is None:
        below = _BELOW_ZERO.match(plain, at)
        return below and UnitBehind("number", "degree", below.end(), is_below_zero=True)
    kind, unit = _UNIT_OF[match[1]]
    if unit in ("day", "week", "month", "year") and (old := _OLD.match(plain, match.end())):
        return UnitBehind(kind, unit + _OLD_UNIT, old.end())
    if unit.startswith("degree") and (below := _BELOW_ZERO.match(plain, match.end())):
        return UnitBehind(kind, unit, below.end(), is_below_zero=True)
    return UnitBehind(kind, unit, match.end())


def read_currency(sign: str) -> str:
    """Return the currency of the sign or code in front of a number."""
    return _UNIT_OF[sign.strip()][1]


def is_age_before(plain: str, at: int) -> bool:
    """Tell whether "aged" or "age of" stands right before a place of a folded text."""
    return bool(_AGED.search(plain, max(0, at - 9), at))


def combined(larger: Number, smaller: Number) -> Number | None:
    """Return "1 hour 30 minutes" as one number in the smaller unit; None where it is none."""
    if larger.unit not in _UNITS or smaller.unit not in _UNITS:
        return None
    above, below = _UNITS[larger.unit], _UNITS[smaller.unit]
    ratio = Decimal(above.factor) / Decimal(below.factor)
    is_whole = "." not in larger.value and Decimal(smaller.value) < ratio
    if above.base != below.base or ratio <= 1 or not is_whole:
        return None
    value = Decimal(larger.value) * ratio + Decimal(smaller.value)
    return smaller._replace(start=larger.start, value=canonical(value))


def measured(number: Number) -> str:
    """Return a plain number and its unit in the base unit: "90 minutes" is "second 5400"."""
    name = number.unit.removesuffix(_OLD_UNIT)
    if name not in _UNITS or number.value.endswith("s"):  # "her 90s"
        return f"{number.unit} {number.value}".lstrip()
    unit = _UNITS[name]
    suffix = number.unit[len(name) :]
    return f"{unit.base}{suffix} {canonical(Decimal(number.value) * Decimal(unit.factor))}"


def implied(number: Number) -> str | None:
    """Return what a number of degrees states beside itself, as `measured` would write it.

    "35 °C" is "35 degrees"; "350 degrees" without a scale are Fahrenheit, as in American recipes
    and forecasts, and never Celsius.
    """
    if number.unit == "degree":
        return f"degree Fahrenheit {number.value}"
    return f"degree {number.value}" if number.unit.startswith("degree ") else None
