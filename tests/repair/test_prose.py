"""Worked cases: fragments as sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.records import Source
from ragmend.repair.prose import as_prose, quoted
from ragmend.text.fragments import Fragment, source_fragments
from ragmend.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no WiFi", "The business has no WiFi."),
        ("has outdoor seating", "The business has outdoor seating."),
        ("good for groups", "The business is good for groups."),
        ("rated 4.0 stars", "The business is rated 4.0 stars."),
        ("located at 1 Main St, Alm, PA", "The business is located at 1 Main St, Alm, PA."),
        (
            "open 2 days a week: Monday, Friday",
            "The business is open 2 days a week: Monday, Friday.",
        ),
        (
            "Monday hours: 9 am to 5 pm (9:0-17:0)",
            "The business is open on Monday from 9 am to 5 pm.",
        ),
        ("Monday hours: open 24 hours (0:0-24:0)", "The business is open 24 hours on Monday."),
        ("bike parking: no", "The business has no bike parking."),
        ("street parking", "The business has street parking."),
        ("casual ambience", "The ambience is casual."),
        ("not romantic ambience", "The ambience is not romantic."),
        ("review rated 5.0 stars", "A review rates the business 5.0 stars."),
        ("review, written 2022-01-16", "A review was written on 2022-01-16."),
    ],
)
def test_a_field_becomes_a_statement(text, expected):
    assert as_prose(Fragment("f", text, "p", "field")) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"BusinessAcceptsCreditCards": True}, "The business accepts credit cards."),
        ({"BusinessAcceptsCreditCards": False}, "The business accepts no credit cards."),
        ({"HasTV": True}, "The business has a TV."),
        ({"HasTV": False}, "The business has no TV."),
        ({"WheelchairAccessible": True}, "The business is wheelchair accessible."),
        ({"WheelchairAccessible": False}, "The business is not wheelchair accessible."),
        ({"BikeParking": True}, "The business has bike parking."),
        ({"DogsAllowed": False}, "Dogs are not allowed."),
        ({"GoodForMeal": {"dinner": True}}, "The business is good for dinner."),
        ({"GoodForMeal": {"dinner": False}}, "The business is not good for dinner."),
        ({"RestaurantsPriceRange2": 2}, "The price range is 2."),
        ({"Alcohol": "u'full_bar'"}, "The business has a full bar."),
        ({"Alcohol": "none"}, "The business serves no alcohol."),
        ({"Music": {"no_msic": True}}, "The business has no music."),
        ({"ByAppointmentOnly": False}, "The business does not work by appointment only."),
        ({"NoiseLevel": "loud"}, "The noise level is loud."),
        ({"Smoking": "outdoor"}, "Smoking is allowed outdoors only."),
        ({"RestaurantsReservations": False}, "The business takes no reservations."),
        ({"RestaurantsDelivery": False}, "The business offers no delivery."),
    ],
)
def test_yelp_attributes_read_neutrally(attributes, expected):
    source = Source(source_id="f", task_type="Data2txt", fields={"attributes": attributes})
    assert [as_prose(fragment) for fragment in source_fragments(source)] == [expected]


@pytest.mark.parametrize(
    ("is_open", "expected"),
    [(1, "The business is open for business."), (0, "The business is permanently closed.")],
)
def test_an_open_business_is_said_to_be_open(is_open, expected):
    source = Source(source_id="f", task_type="Data2txt", fields={"is_open": is_open})
    assert [as_prose(fragment) for fragment in source_fragments(source)] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the food   was cold!", "The food was cold!"),
        ("he said no", "He said no."),
        ("Dirty tables ..dirty floors !", "Dirty tables… dirty floors!"),
        ("Wait... what?", "Wait... what?"),
        ("It rained , -", "It rained."),
        ("What a place 😊", "What a place 😊"),
        ("What a place ❤️", "What a place ❤️"),
        # List markers.
        ("2) Bake it.", "Bake it."),
        ("4. Choose one.", "Choose one."),
        ("- Stir.", "Stir."),
        ("Bake it. 3) Stir.", "Bake it. Stir."),
        ("12. 5 cups", "12. 5 cups."),
        ("He is no. 2. Then he", "He is no. 2. Then he."),
        # Brackets and quotes.
        ("the ( best ) food", "The (best) food."),
        ("One frosé , same (across", "One frosé, same across."),
        ("It was old) and red.", "It was old and red."),
        ('Try the 12" pizza.', 'Try the 12" pizza.'),
        ('He said "no" to "it".', 'He said "no" to "it".'),
        ('It was "great.', "It was great."),
        ('"It works, he said.', "It works, he said."),
        # Speech in the first person stays speech.
        ('"We are glad.', '"We are glad."'),
        ('We are glad," he said.', '"We are glad," he said.'),
        ("“I was there.", "“I was there.”"),
        ("I was there,” he said.", "“I was there,” he said."),
        ('He said: "I was there', 'He said: "I was there".'),
        # Nothing is said yet behind a colon.
        ('The next question is: "', "The next question is:"),
        ("The next question is:.", "The next question is:"),
    ],
)
def test_tidying_changes_no_word(text, expected):
    assert as_prose(Fragment("f", text, "p", "review")) == expected


def test_the_words_of_a_review_are_its_writers():
    assert quoted('We had "good" food.') == "A reviewer wrote: “We had 'good' food.”"


@given(st.text(alphabet='abI "“”()[].:,;!?…–-', max_size=30))
def test_a_sentence_keeps_all_its_words(text):
    prose = as_prose(Fragment("f", text, "p", "sentence"))
    assert [word.norm for word in words(prose)] == [word.norm for word in words(text)]
