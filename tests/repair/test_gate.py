"""Worked cases: what an edit must not bring in."""

import pytest

from ragmend.records import Source
from ragmend.repair.gate import check_gate
from ragmend.text.reading import read_source

READING = read_source(
    Source(
        source_id="s",
        task_type="Summary",
        text=(
            "The old bridge was closed on Monday, March 26, 2015 after a flood. Mayor Ada Holt "
            "asked for 3.5 million dollars and 3½ trucks. She could face 15 years in prison. "
            "John Smith and Mary Jones paid $5 to Keylor Núñez at -7 degrees. "
            "Robert Lee Frost, another mayor, sued the Bank of America. "
            "Yemen has a Health Ministry."
        ),
    )
)
FIELDS = read_source(
    Source(
        source_id="f",
        task_type="Data2txt",
        fields={"name": "Blue Fig", "attributes": {"Music": None, "Zither": None}},
    )
)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge was closed on March 26.",
        "It was closed in March 2015, on a Monday.",
        "It was closed on 26.03.2015.",
        "It was closed on 26/03/2015.",
        "Mayor Ada Holt asked for $3.5 million.",
        "The mayor wanted 3.5 trucks, or 3 1/2.",
        "She could face fifteen years.",
        "They paid 5 dollars to Nunez at minus 7 degrees.",
        "He met John Smith and then Mary Jones.",
        "Jones paid. Mary Jones paid.",
        "He met Robert Frost at the Bank of America.",
        "He met Mayor Frost.",
        "He met Yemen's Health Ministry.",
        "Water is free. Diners praised it. Closing was wise. Today is fine.",
    ],
)
def test_what_the_source_states_passes(text):
    assert check_gate(text, READING).reasons == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The bridge was closed on March 27.", "unsupported_date: March 27"),
        ("He came in April.", "unsupported_date: April"),
        ("He came on a Tuesday.", "unsupported_date: Tuesday"),
        ("She asked for $35 million.", "unsupported_number: $35 million"),
        ("They paid €5.", "unsupported_number: €5"),
        ("It was 7 degrees.", "unsupported_number: 7"),
        ("It was -15 degrees.", "unsupported_number: -15"),
        ("She took 15½ trucks.", "unsupported_number: 15½"),
        ("She could face 16 years.", "unsupported_number: 16"),
        ("The mayor, Bea Holt, asked.", "unsupported_name: Bea Holt"),
        ("He met John Jones.", "unsupported_name: John Jones"),
        ("John Jones paid.", "unsupported_name: John Jones"),
        ("Murphy met Mary Jones.", "unsupported_name: Murphy"),
        ("It rained. Adams was there.", "unsupported_name: Adams"),
    ],
)
def test_what_it_does_not_state_is_named(text, reason):
    gate = check_gate(text, READING)
    assert (gate.passed, gate.reasons) == (False, (reason,))


def test_a_null_states_nothing():
    assert check_gate("It is the Blue Fig.", FIELDS).passed
    assert check_gate("They like Zither here.", FIELDS).reasons == ("unsupported_name: Zither",)
