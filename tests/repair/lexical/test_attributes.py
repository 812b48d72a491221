import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.repair.lexical.attributes import attribute_findings, stated_value

BUSINESS = {
    "WiFi": "free",
    "OutdoorSeating": False,
    "RestaurantsReservations": False,
    "RestaurantsTakeOut": True,
    "RestaurantsGoodForGroups": None,
    "BusinessParking": {"garage": False, "street": True, "lot": False, "valet": False},
    "Ambience": {"casual": True, "romantic": False, "trendy": None},
    "Music": "u'no'",
    "Alcohol": "u'full_bar'",
}

CASES = [
    ("It offers free WiFi.", {"WiFi": "agrees"}),
    ("There is no Wi-Fi.", {"WiFi": "conflicts"}),
    ("Wi-Fi is not available.", {"WiFi": "conflicts"}),
    ("Outdoor seating is available.", {"OutdoorSeating": "conflicts"}),
    ("It does not offer outdoor seating.", {"OutdoorSeating": "agrees"}),
    ("It lacks outdoor seating and has takeout.",
     {"OutdoorSeating": "agrees", "RestaurantsTakeOut": "agrees"}),
    ("They don't accept reservations or provide WiFi.",
     {"RestaurantsReservations": "agrees", "WiFi": "conflicts"}),
    ("They take reservations, but do not offer takeout.",
     {"RestaurantsReservations": "conflicts", "RestaurantsTakeOut": "conflicts"}),
    ("Reservations are not accepted.", {"RestaurantsReservations": "agrees"}),
    ("Street parking is available.", {"BusinessParking.street": "agrees"}),
    ("There is no garage or valet parking.",
     {"BusinessParking.garage": "agrees", "BusinessParking.valet": "agrees"}),
    ("While there is no valet parking, street parking is available.",
     {"BusinessParking.valet": "agrees", "BusinessParking.street": "agrees"}),
    ("Parking is available.", {"BusinessParking": "agrees"}),
    ("The place has no parking.", {"BusinessParking": "conflicts"}),
    ("The ambience is romantic.", {"Ambience.romantic": "conflicts"}),
    ("A casual atmosphere.", {"Ambience.casual": "agrees"}),
    ("A trendy spot.", {"Ambience.trendy": "unknown"}),
    ("It is good for groups.", {"RestaurantsGoodForGroups": "unknown"}),
    ("They offer delivery.", {"RestaurantsDelivery": "absent"}),
    ("It has a full bar.", {"Alcohol": "agrees"}),
    ("There is live music.", {"Music.live": "conflicts"}),
    ("The soup is hot.", {}),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_mention_is_compared_with_its_field_in_its_polarity(claim, expected):
    found = {
        finding.path: "conflicts"
        if finding.conflicts
        else "agrees"
        if finding.agrees
        else finding.stated
        for finding in attribute_findings(claim, BUSINESS)
    }
    assert found == expected


def test_null_is_unknown_and_neither_agrees_nor_conflicts():
    (finding,) = attribute_findings("It has WiFi.", {"WiFi": None})
    assert finding.stated == "unknown"
    assert not finding.conflicts
    assert not finding.agrees


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, "yes"), (False, "no"), (None, "unknown"), ("u'free'", "yes"), ("no", "no"),
     ("'none'", "no"), ({}, "unknown"), ({"a": None}, "unknown"), ({"a": False}, "no"),
     ({"a": False, "b": True}, "yes")],
)  # fmt: skip
def test_every_way_of_writing_a_value_is_read(value, expected):
    assert stated_value({"WiFi": value}, "WiFi") == expected


@given(st.text(max_size=200), st.dictionaries(st.text(max_size=8), st.none() | st.booleans()))
def test_any_text_and_any_attributes_give_findings_with_exact_spans(text, attributes):
    for finding in attribute_findings(text, attributes):
        assert 0 <= finding.start < finding.end <= len(text)
        assert not (finding.agrees and finding.conflicts)


SAID_OTHERWISE = [
    ("It has no lack of outdoor seating.", "OutdoorSeating", True),
    ("They never fail to offer takeout.", "RestaurantsTakeOut", True),
    ("It is not just casual in its ambience.", "Ambience.casual", True),
    ("Street parking isn't available.", "BusinessParking.street", False),
    ("There is neither valet nor WiFi.", "WiFi", False),
    ("Without WiFi, it has outdoor seating.", "WiFi", False),
]


@pytest.mark.parametrize(("claim", "path", "is_affirmed"), SAID_OTHERWISE)
def test_idioms_are_read_as_they_are_meant(claim, path, is_affirmed):
    (finding,) = (f for f in attribute_findings(claim, BUSINESS) if f.path == path)
    assert finding.is_affirmed is is_affirmed


@pytest.mark.parametrize(
    "claim",
    [
        "There is no wait for takeout.",
        "Reservations are unnecessary.",
        "It is located in a vacant parking lot.",
        "It is a casual dining spot.",
        "The park is nearby.",
    ],
)
def test_a_mention_that_says_nothing_of_the_business_is_none(claim):
    assert attribute_findings(claim, BUSINESS) == ()
