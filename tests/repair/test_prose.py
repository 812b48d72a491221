"""Worked cases: fragments as sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.records import Source
from ragmend.repair.prose import as_prose, is_statement
from ragmend.text.fragments import Fragment, source_fragments
from ragmend.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no WiFi", "There is no WiFi."),
        ("has outdoor seating", "The business has outdoor seating."),
        ("good for groups", "The business is good for groups."),
        ("rated 4.0 stars", "The business is rated 4.0 stars."),
        ("located at 1 Main St, Alm, PA", "The business is located at 1 Main St, Alm, PA."),
        (
            "open 2 days a week: Monday, Friday",
            "The business is open 2 days a week: Monday, Friday.",
        ),
        ("Monday hours: 9 am to 5 pm (9:0-17:0)", "Monday hours: 9 am to 5 pm."),
        ("Monday hours: open 24 hours (0:0-24:0)", "Monday hours: open 24 hours."),
        ("categories: Bars, Pizza", "The categories are Bars, Pizza."),
        ("address: 27 State St", "The address is 27 State St."),
        ("bike parking: no", "Bike parking: no."),
        ("street parking", "The business has street parking."),
        ("casual ambience", "The ambience is casual."),
        ("not romantic ambience", "The ambience is not romantic."),
        ("review rated 5.0 stars", "The business has a review rated 5.0 stars."),
        ("review, written 2022-01-16", "The business has a review, written 2022-01-16."),
        ("review", "The business has a review."),
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
        ({"HasTV": False}, "There is no TV."),
        ({"WheelchairAccessible": True}, "The business is wheelchair accessible."),
        ({"WheelchairAccessible": False}, "The business is not wheelchair accessible."),
        ({"BikeParking": True}, "Bike parking: yes."),
        ({"DogsAllowed": False}, "Dogs allowed: no."),
        ({"GoodForMeal": {"dinner": True}}, "The business is good for dinner."),
        ({"GoodForMeal": {"dinner": False}}, "The business is not good for dinner."),
        ({"RestaurantsPriceRange2": 2}, "Price range: 2."),
        ({"Alcohol": "u'full_bar'"}, "Alcohol: full bar."),
        ({"Alcohol": "none"}, "There is no alcohol."),
        ({"Music": {"no_msic": True}}, "There is no music."),
        ({"Music": {"no_msic": False}}, "Without music: no."),
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


@pytest.mark.parametrize("text", ["Do this:", "**Do this:**", "Do this: ”"])
def test_a_lead_in_is_no_statement(text):
    assert not is_statement(as_prose(Fragment("f", text, "p", "sentence")))
    assert is_statement("Do this: stir.")


@given(st.text(alphabet='abI "“”()[].:,;!?…–-', max_size=30))
def test_a_sentence_keeps_all_its_words(text):
    prose = as_prose(Fragment("f", text, "p", "sentence"))
    assert [word.norm for word in words(prose)] == [word.norm for word in words(text)]
