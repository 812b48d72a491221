"""Worked cases: which fields are said as sentences, and which are not."""

import re

import pytest

from ragmend.records import Source
from ragmend.repair.extracting.field_sentences import field_sentence, identifies_only
from ragmend.text.fragments import Fragment, source_fragments

PLACE = {
    "name": "Blue Fig", "address": "1 Main St", "city": "Alm", "state": "PA",
    "categories": "Bars, Pizza",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Monday hours: closed (0:0-0:0)", "The business is closed on Monday"),
        ("Friday hours: 5 pm to 12 am (midnight) (17:0-0:0)",
         "The business is open on Friday from 5 pm to 12 am (midnight)"),
        ("open on weekdays 9 am to 5 pm", "The business is open on weekdays from 9 am to 5 pm"),
        ("open Monday to Friday 9:30 am to 5 pm",
         "The business is open Monday to Friday from 9:30 am to 5 pm"),
        ("open on Monday and Tuesday; closed on Sundays",
         "The business is open on Monday and Tuesday; closed on Sundays"),
        ("open Monday and Tuesday 24 hours", "The business is open Monday and Tuesday 24 hours"),
        ("no 24-hour opening", "The business is not open 24 hours"),
        ("no lot parking", "The business has no parking lot"),
        ("free WiFi", "The business has free WiFi"),
        ("no music", "The business has no music"),
        ("offers gluten-free food", "The business offers gluten-free food"),
        ("no halal food", "The business offers no halal food"),
        ("ages allowed: 21 and over (21+)", "The ages allowed are 21 and over (21+)"),
        ("ages allowed: all ages", "All ages are allowed"),
        ("best night: Friday", "Friday is one of the best nights at the business"),
        ("no smoking", "Smoking is not allowed"),
        ("review rated 5.0 stars, written 2022-01-16",
         "A review written on 2022-01-16 rates the business 5.0 stars"),
        # Of these no true sentence is sure.
        ("without music: no", None),
        ("Monday hours: by appointment", None),
        ("something new: yes", None),
        ("review", None),
        ("corkage fee: 5", None),
    ],
)  # fmt: skip
def test_a_field_is_said_as_the_data_have_it(text, expected):
    assert field_sentence(text) == expected


def test_names_places_and_categories_identify_only():
    source = Source(source_id="f", task_type="Data2txt", fields=PLACE)
    said = [part.text for part in source_fragments(source) if not identifies_only(part)]
    assert said == [
        "located at 1 Main St, Alm, PA",
        "located at 1 Main Street, Alm, Pennsylvania",
    ]


def test_a_city_without_a_street_identifies_only():
    fields = {"city": "Alm", "state": "PA"}
    source = Source(source_id="f", task_type="Data2txt", fields=fields)
    assert all(map(identifies_only, source_fragments(source)))


def test_a_sentence_is_never_a_field():
    assert not identifies_only(Fragment("s0", "Alm is old.", "city", "sentence"))


@pytest.mark.parametrize("value", [True, False])
def test_every_flag_gives_a_sentence_or_none_and_never_a_label(value):
    flags = ("HasTV", "Caters", "DriveThru", "CoatCheck", "Open24Hours", "DogsAllowed", "BYOB",
             "BikeParking", "GoodForKids", "HappyHour", "AcceptsInsurance", "OutdoorSeating",
             "RestaurantsTakeOut", "ByAppointmentOnly", "WheelchairAccessible")  # fmt: skip
    source = Source(
        source_id="f", task_type="Data2txt", fields={"attributes": dict.fromkeys(flags, value)}
    )
    for part in source_fragments(source):
        sentence = field_sentence(part.text)
        assert sentence is not None, part.text
        assert re.match(r"(?:The business|Dogs) [a-z]", sentence)
        assert ": " not in sentence
