"""What a source's number without a unit states of other texts' units."""

import pytest

from ragmend.text.quantities.numbers import is_stated, numbers, stated_keys

# A source, what it states, and what it does not although the digits are the same.
CASES = [
    ("It was 20.", ["20", "20 people", "$20", "20 %", "20 miles"], []),
    ("20 were hurt.", ["20", "20 people"], ["$20", "20 %", "20 miles", "20 years old", "20th"]),
    ("Bo, 20, left.", ["20", "20 years old"], []),
    ("Stir.  20  Bake it.", ["20"], ["20 people", "$20", "20 minutes"]),
    ("Stir.\n20) Bake it.", [], ["20", "20 people", "20 minutes"]),
    ("Stir. 20Bake it.", ["20"], ["20 people", "20 minutes"]),
    ("It had 20 Hill Road signs.", ["20"], ["20 people", "20 miles"]),
    ("20 N. Main St is old.", ["20"], ["20 people", "20 miles"]),
    ("20 E 5th Ave is old.", ["20"], ["20 people", "20 miles"]),
    ("price range: 2", ["2"], ["$2", "2 stars", "2 people"]),
    ("located at 20 Nowhere", ["20"], ["20 miles", "20 people"]),
    ("as shown [20] there", ["20"], ["20 years", "20 people"]),
    ("Heat it to 350F.", ["350 °F", "350"], ["$350", "350 miles", "350 °C"]),
    ("It was 20 C then.", ["20 °C"], ["$20", "20 °F"]),
    ("Add 20 C. rice.", ["20 cups"], ["20 spoons of 5 km", "20 km"]),
    ("It is 20 in. long.", ["20 inches"], ["20 km", "20 people out of 7"]),
    ("a 20 percentage chance", ["20 %"], ["$20"]),
    ("It took 20 or more days.", ["20 days"], ["20 miles"]),
    ("It took several (20) hours.", ["20 hours"], ["20 miles"]),
    ("It took 5 to 20 more minutes.", ["5 minutes", "20 minutes"], ["5 miles", "20 miles"]),
    ("Ages 5 to 20 came.", ["5 years old", "20 years old"], ["5 miles", "20 miles"]),
    ("It cost $5 in May and 20 in June.", ["$20"], ["20 %"]),
    ("A 1- to 20-pound drop.", ["1 pound", "20 pounds"], ["1 kg", "20 kg"]),
]


@pytest.mark.parametrize(("source", "stated", "unstated"), CASES, ids=[row[0] for row in CASES])
def test_a_bare_number_states_no_unit_that_is_not_its_own(source, stated, unstated):
    keys = stated_keys(source)
    for text in stated:
        assert all(is_stated(number, keys) for number in numbers(text)), text
    for text in unstated:
        assert not all(is_stated(number, keys) for number in numbers(text)), text


@pytest.mark.parametrize("source", [row[0] for row in CASES])
def test_every_text_states_its_own_numbers(source):
    keys = stated_keys(source)
    assert all(is_stated(number, keys) for number in numbers(source))


@pytest.mark.parametrize(
    ("part", "percentage"),
    [
        ("half", "50 %"),
        ("½", "50 %"),
        ("1/2", "50 %"),
        ("one half", "50 %"),
        ("a quarter of it", "25 %"),
        ("three-quarters", "75 %"),
        ("¾", "75 %"),
        ("two fifths", "40 %"),
        ("⅛", "12.5 %"),
        ("three tenths", "30 percent"),
    ],
)
def test_a_part_of_a_whole_and_its_percentage_state_each_other(part, percentage):
    assert is_stated(numbers(percentage)[0], stated_keys(part))
    assert is_stated(numbers(part)[0], stated_keys(percentage))


@pytest.mark.parametrize(
    ("part", "percentage"),
    [("half", "55 %"), ("a third of it", "33 %"), ("half a cup", "50 %"), ("3 1/2", "350 %")],
)
def test_other_parts_and_percentages_do_not(part, percentage):
    assert not is_stated(numbers(percentage)[0], stated_keys(part))
    assert not is_stated(numbers(part)[0], stated_keys(percentage))
