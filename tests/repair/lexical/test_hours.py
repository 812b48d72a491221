import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.repair.lexical.hours import WEEK, hours_findings


def week(value, **other):
    return {day.capitalize(): other.get(day, value) for day in WEEK}


DAILY = week("7:0-22:0")
SHUT_ON_MONDAY = week("11:0-0:0", monday="0:0-0:0")
LATE = week("9:0-17:0", friday="9:0-21:30", saturday="10:0-22:0", sunday="10:0-22:0")

CASES = [
    (DAILY, "It is open seven days a week from 7 am to 10 pm.", (2, 0)),
    (DAILY, "It is open seven days a week from 7am to 9pm.", (1, 1)),
    (DAILY, "It is open six days a week.", (0, 1)),
    (DAILY, "The hours are Monday through Sunday, 7:00 AM - 10:00 PM.", (1, 0)),
    (DAILY, "Opening hours are 7:00 to 22:00 daily.", (1, 0)),
    (DAILY, "It opens at 7 am and closes at 10 pm.", (1, 0)),
    (DAILY, "Its hours vary throughout the week.", (0, 1)),
    (DAILY, "The hours vary, with extended hours on weekends.", (0, 2)),
    (DAILY, "It is open on Mondays.", (1, 0)),
    (DAILY, "It is closed on Mondays.", (0, 1)),
    (SHUT_ON_MONDAY, "It is open from 11 am to midnight Tuesday to Sunday.", (1, 0)),
    (SHUT_ON_MONDAY, "It operates from 11 am till midnight from Monday to Sunday.", (0, 1)),
    (SHUT_ON_MONDAY, "It is open every day.", (0, 1)),
    (SHUT_ON_MONDAY, "It is open from Tuesday to Sunday and closed on Monday.", (2, 0)),
    (SHUT_ON_MONDAY, "On weekdays it is open from 11 am to midnight.", (1, 0)),
    (LATE, "It is open 9 am to 5 pm on weekdays.", (0, 1)),
    (LATE, "Monday to Thursday from 9 am to 5 pm, Friday 9 am to 9:30 pm; open.", (2, 0)),
    (
        LATE,
        "Open from 9 am to 5 pm on Mondays, and from 10 am to 10 pm on Saturdays and Sundays.",
        (2, 0),
    ),
    (LATE, "It is open from 9 am to 5 pm on Mondays, and from 10 am to 9 pm on Saturdays.", (1, 1)),
    (LATE, "It has extended hours on weekends.", (1, 0)),
    (LATE, "Happy hour runs from 3 pm to 6 pm daily.", (0, 0)),
    (LATE, "Bake it from 9 to 5 minutes.", (0, 0)),
    (SHUT_ON_MONDAY, "It is not open on Mondays.", (1, 0)),
    (SHUT_ON_MONDAY, "It isn't open on Tuesday.", (0, 1)),
    (SHUT_ON_MONDAY, "It is open 11 am to midnight Tuesday to Friday.", (1, 0)),
    (SHUT_ON_MONDAY, "Open Tuesday to Sunday, 11 am to midnight, except on Fridays.", (0, 0)),
    (LATE, "It opens at 8 am on Tuesday.", (0, 0)),
    (LATE, "The kitchen closes at 9 on Fridays.", (0, 0)),
    ({"Monday": "9:0-17:0"}, "It is closed on Sundays.", (1, 0)),  # not listed
    ({"Monday": "9:0-17:0", "Sunday": None}, "It is closed on Sundays.", (0, 0)),
    ({"Monday": "9:0-17:0", "Sunday": None}, "It is open one day a week.", (0, 0)),
    ({}, "It is open from 9 am to 5 pm.", (0, 0)),
    (week(None), "It is open from 9 am to 5 pm.", (0, 0)),
    (week("soon"), "It is open from 9 am to 5 pm.", (0, 0)),
]


@pytest.mark.parametrize(("hours", "claim", "expected"), CASES)
def test_days_and_hours_are_joined_and_compared(hours, claim, expected):
    assert tuple(hours_findings(claim, hours)) == expected


@given(st.text(max_size=200), st.dictionaries(st.sampled_from(WEEK), st.none() | st.text()))
def test_any_text_and_any_hours_give_counts(text, hours):
    found = hours_findings(text, hours)
    assert min(found) >= 0


@given(st.lists(st.sampled_from("open 9 am - 5 pm to monday friday and , closed daily".split())))
def test_any_order_of_days_and_clocks_is_read_to_the_end(pieces):
    assert min(hours_findings("open " + " ".join(pieces), DAILY)) >= 0
