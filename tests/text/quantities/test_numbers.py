import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.text.quantities.numbers import (
    clock_words,
    is_stated,
    number_keys,
    numbers,
    stated_keys,
)


def values(text):
    return [(n.kind, n.value) for n in numbers(text)]


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_no_text_raises_and_every_number_is_a_span_in_order(text):
    position = 0
    for number in numbers(text):
        assert position <= number.start < number.end <= len(text)
        position = number.end


@given(st.text(alphabet="0123456789.,:/-$€%amp MayofthousandJune\n½"))
def test_number_like_rubbish_never_raises(text):
    assert all(number.value for number in numbers(text))


@given(st.integers(0, 23), st.integers(0, 59))
def test_every_time_in_words_is_the_same_time(hour, minute):
    assert values(clock_words(f"{hour}:{minute}")) == [("time", f"{hour:02d}:{minute:02d}")]


@given(st.integers(0, 10**15))
def test_thousands_separators_do_not_change_a_number(number):
    assert values(f"about {number:,}") == values(f"about {number}") == [("number", str(number))]


def test_percentages_differ_by_their_decimal_point():
    assert values("1.25 %") == [("percent", "1.25")]
    assert values("12.5 percent") == [("percent", "12.5")]
    assert values("12.50%") == values("12.5 per cent")


def test_march_26_is_not_march_27():
    assert values("March 26") == values("26th of March") == values("Mar. 26") == [("date", "03-26")]
    assert values("March 27") != values("March 26")


def test_a_full_date_is_one_date_and_states_its_parts():
    for text in ("March 26, 2015", "26 March 2015", "3/26/2015", "the 26th of March, 2015"):
        assert values(text) == [("date", "2015-03-26")]
    assert values("2015-03-26 09:05:00") == [("date", "2015-03-26"), ("time", "09:05")]
    assert values("in April 2014") == [("date", "2014-04")]
    for part in ("March 26", "in March 2015", "in March", "in 2015"):
        assert all(is_stated(number, stated_keys("2015-03-26")) for number in numbers(part)), part


def test_dates_in_the_european_order_are_the_same_dates():
    for text in ("26.03.2015", "26.3.2015", "26/03/2015"):
        assert values(text) == values("March 26, 2015")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("He came in March.", "03"),
        ("in early May, in the rain", "05"),
        ("on Monday", "monday"),
        ("on mondays", "monday"),
        ("Mon: closed", "monday"),
    ],
)
def test_a_month_or_weekday_alone_is_a_date(text, value):
    assert values(text) == [("date", value)]


def test_days_in_short_are_read_in_a_range():
    assert values("Tues-Sat") == [("date", "tuesday"), ("date", "saturday")]


@pytest.mark.parametrize(
    "text",
    ["you may go", "May I go?", "they march on", "an august body", "he sat, the sun, we wed"],
)
def test_verbs_that_look_like_dates_are_none(text):
    assert values(text) == []


def test_a_day_states_its_month():
    source = number_keys(numbers("It was on March 26."))
    assert is_stated(numbers("in March")[0], source)
    assert not is_stated(numbers("in April")[0], source)
    assert not is_stated(numbers("March 26")[0], number_keys(numbers("in March")))


def test_the_verb_may_is_no_month():
    assert values("you may 5 times") == [("number", "5")]
    assert values("on May 5") == [("date", "05-05")]


@pytest.mark.parametrize(
    "text",
    [
        "9:0-22:30",
        "9 am to 10:30 pm",
        "9:00 AM until 10:30 P.M.",
        "09:00 – 22:30",
        "9am-10.30pm",
    ],
)
def test_opening_hours_are_the_same_however_they_are_written(text):
    assert values(text) == [("time", "09:00"), ("time", "22:30")]


def test_the_first_of_two_hours_takes_the_half_of_the_day_that_fits():
    assert values("5 to 9 pm") == [("time", "17:00"), ("time", "21:00")]
    assert values("11-5 pm") == [("time", "11:00"), ("time", "17:00")]


def test_noon_and_midnight_are_times():
    assert values("noon to midnight") == [("time", "12:00"), ("time", "00:00")]
    assert values("12 pm") == values("noon")
    assert values("12:00 AM") == values("0:0") == [("time", "00:00")]


def test_money_in_signs_words_and_scales():
    assert values("$3.5 million") == values("3,500,000 dollars") == [("money", "3500000")]
    assert values("$5k") == values("five thousand dollars") == [("money", "5000")]


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("$5", "$"), ("US$5", "$"), ("5 dollars", "$"), ("five dollars", "$"), ("5 USD", "$"),
        ("€5", "€"), ("5 euros", "€"), ("£5", "£"), ("5 pounds sterling", "£"), ("5 yen", "¥"),
    ],
)  # fmt: skip
def test_money_has_a_currency(text, currency):
    (number,) = numbers(text)
    assert (number.kind, number.value, number.unit) == ("money", "5", currency)


def test_a_currency_is_stated_by_itself_or_by_a_bare_number():
    euros, dollars = numbers("€5")[0], numbers("$5")[0]
    assert is_stated(euros, number_keys([euros]))
    assert not is_stated(euros, number_keys([dollars]))
    assert is_stated(euros, number_keys(numbers("5")))
    assert is_stated(numbers("5")[0], number_keys([euros]))


@pytest.mark.parametrize("text", ["-5", "it was -5 degrees", "−5 °C", "minus 5", "(-5)"])
def test_a_sign_is_part_of_a_number(text):
    assert values(text) == [("number", "-5")]


@pytest.mark.parametrize("text", ["3-5", "3 -5", "(3)-5", "3 – 5", "3\n-5"])
def test_a_dash_between_numbers_or_before_an_item_is_no_sign(text):
    assert values(text) == [("number", "3"), ("number", "5")]


@pytest.mark.parametrize("text", ["3½", "3 ½", "3 1/2", "3-1/2", "3.5"])
def test_a_fraction_belongs_to_its_number(text):
    assert values(text) == [("number", "3.5")]


@pytest.mark.parametrize(
    ("text", "value"), [("½ cup", "0.5"), ("1/4", "0.25"), ("⅔", "0.6667"), ("2/3", "0.6667")]
)
def test_a_fraction_stands_alone_too(text, value):
    assert values(text) == [("number", value)]


def test_only_common_fractions_are_fractions():
    assert values("24/7, 9/11") == [("number", n) for n in ("24", "7", "9", "11")]


def test_five_metres_are_not_five_million():
    assert values("5 m") == [("number", "5")]
    assert values("$5m") == [("money", "5000000")]


def test_number_words_have_values():
    assert values("twenty-one") == [("number", "21")]
    assert values("two hundred and fifty thousand") == [("number", "250000")]
    assert values("sixteen percent") == [("percent", "16")]
    assert values("the third time") == values("the 3rd time") == [("ordinal", "3")]


def test_trailing_zeros_do_not_count():
    assert values("rated 4.0 stars") == values("rated four stars") == [("number", "4")]


@pytest.mark.parametrize(
    "text",
    [
        "1. Preheat the oven",
        "Do this:\n2) Stir",
        "Stir. 3. Bake (well). 4) Eat",
        "Method 2: Grilling",
        "a few thousand people, hundreds of them",
        "cut it in half",
        "see passage 3",
        "as in Passages 1, 2 and 3",
        "repeat steps 7 to 8",
        "a summary in 70 words",
        "one of them",
        "first of all",
        "out of 5 stars",
        "a third customer",
        "vitamin B12",
    ],
)
def test_what_states_no_quantity_is_no_number(text):
    assert values(text) == []


def test_a_number_is_stated_by_the_same_value_of_the_same_or_no_kind():
    source = number_keys(numbers("It costs $50 for 30 people, or 16 %, on March 26 at 5 pm."))
    for claim in ("$50", "50", "30", "30 guests", "16%", "March 26", "17:00"):
        assert all(is_stated(number, source) for number in numbers(claim)), claim
    for claim in ("50 percent", "30 percent", "30 miles", "$16", "1.6 %", "March 27", "5 am", "26"):
        assert not any(is_stated(number, source) for number in numbers(claim)), claim


def test_spans_point_into_the_text_beyond_the_basic_plane():
    text = "😀 costs ＄12.50 now"
    (number,) = numbers(text)
    assert text[number.start : number.end] == "＄12.50"
    assert (number.kind, number.value) == ("money", "12.5")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("5 kg", "kilogram", "5"),
        ("a 5-mile walk", "mile", "5"),
        ("35-year-olds", "year old", "35"),
        ("aged 35", "year old", "35"),
        ("an hour and a half", "hour", "1.5"),
        ("1 hour and 30 minutes", "minute", "90"),
        ("half an hour", "hour", "0.5"),
        ("6 feet, 2 inches", "inch", "74"),
        ("7 degrees below zero", "degree", "-7"),
        ("15 guests", "count", "15"),
        ("15 was", "", "15"),
    ],
)
def test_a_number_has_the_unit_behind_it(text, unit, value):
    assert [(n.kind, n.unit, n.value) for n in numbers(text)] == [("number", unit, value)]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("10-12 days", ["day", "day"]),
        ("between 5 and 6 km", ["kilometre", "kilometre"]),
        ("5 and 6 km", ["", "kilometre"]),
        ("$5-10", ["$", "$"]),
    ],
)
def test_both_ends_of_a_range_have_its_unit(text, units):
    assert [number.unit for number in numbers(text)] == units


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("in 2014", "year", "2014"),
        ("2014 people", "number", "2014"),
        ("the 1990s", "year", "1990s"),
        ("the late nineties", "year", "1990s"),
        ("his late 90s", "number", "90s"),
        ("version 3.10", "code", "3.10"),
        ("+1 (555) 123-4567", "code", "5551234567"),
        ("nineteen eighty-four", "number", "1984"),
        ("half a million", "number", "500000"),
        ("a third of it", "number", "0.3333"),
        ("twenty-first", "ordinal", "21"),
        ("9 o'clock", "time", "9 o'clock"),
        ("03/04/2015", "date", "2015-03/04"),
        ("25/01", "date", "01-25"),
    ],
)
def test_each_kind_has_its_value(text, kind, value):
    assert values(text) == [(kind, value)]


def test_the_keys_of_a_part_of_a_source_state_what_that_part_does():
    parts = [stated_keys(part) for part in ("It took an hour.", "One child came first, at 5.")]
    claims = ["60 minutes", "1st", "5"]
    stated = [[is_stated(numbers(claim)[0], keys) for claim in claims] for keys in parts]
    assert stated == [[True, False, False], [False, True, True]]
    assert not is_stated(numbers("60 minutes")[0], number_keys(numbers("It took an hour.")))


def test_long_number_words_do_not_grow_without_end():
    assert all(len(number.value) < 50 for number in numbers("hundred " * 5000))
