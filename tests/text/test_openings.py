import pytest

from ragmend.text.openings import can_only_be_a_name
from ragmend.text.words import words


@pytest.mark.parametrize("text", ["Smith met", "Murphy was", "Fred said", "King owns", "Adams was"])
def test_a_bare_singular_before_a_verb_is_a_name(text):
    assert can_only_be_a_name(*words(text))


@pytest.mark.parametrize(
    "text",
    [
        "Water is",  # a substance
        "Parking was",
        "Delivery was",
        "Diners praised",  # a plural
        "Officials said",
        "She said",
        "Nobody came",
        "Overall was",
        "Preheat the",  # an order
        "Murphy the",
    ],
)
def test_ordinary_openings_are_no_names(text):
    assert not can_only_be_a_name(*words(text))
