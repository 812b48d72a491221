import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.records import Source
from ragmend.text.fragments import source_fragments

PASSAGES = (
    "passage 1:Techs earn $23.70. Some earn more.\n\n"
    "passage 2:Pay varies.\n\n"
    "passage 3:See passage 2: it says so.\n\n"
)
BUSINESS = {
    "name": "Tinker's",
    "address": "1 State St",
    "city": "Goleta",
    "state": "CA",
    "categories": "Burgers, Restaurants",
    "hours": {"Monday": "0:0-0:0", "Tuesday": "9:0-22:30"},
    "attributes": {
        "BusinessParking": {"street": True, "lot": False, "valet": None},
        "RestaurantsReservations": False,
        "OutdoorSeating": True,
        "WiFi": "no",
        "Music": None,
        "Ambience": {"casual": True, "romantic": False},
        "BikeParking": True,
        "HasTV": False,
        "GoodForMeal": {"dinner": True},
        "Alcohol": "u'full_bar'",
    },
    "is_open": 1,
    "business_stars": 4.0,
    "review_info": [
        {"review_stars": 5.0, "review_date": "2022-01-16 23:37:37", "review_text": "Great. Go!"},
        {"review_stars": 1.0, "review_date": "2021-01-16 23:37:37", "review_text": "Bad."},
    ],
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def question(text):
    return Source(source_id="q", task_type="QA", text=text, question="How is pay?")


def business(**changes):
    return Source(source_id="d", task_type="Data2txt", fields=BUSINESS | changes)


def rendered(source):
    return {part.path: part.text for part in source_fragments(source)}


def test_passages_become_sentences_without_their_markers_and_with_their_numbers():
    found = [
        (part.fragment_id, part.text, part.path) for part in source_fragments(question(PASSAGES))
    ]
    assert found[:3] == [
        ("p1-s0", "Techs earn $23.70.", "passage 1"),
        ("p1-s1", "Some earn more.", "passage 1"),
        ("p2-s0", "Pay varies.", "passage 2"),
    ]
    assert found[3][1].startswith("See passage 2")
    assert not any("How is pay" in part.text for part in source_fragments(question(PASSAGES)))


def test_two_passages_of_one_number_keep_their_ids_apart():
    twice = question("passage 1:One here.\n\npassage 1:Two here.")
    assert [part.fragment_id for part in source_fragments(twice)] == ["p1-s0", "p1-s0#2"]


def test_running_text_becomes_sentences():
    news = Source(source_id="s", task_type="Summary", text="It rained. It snowed.\n")
    assert [tuple(part[:4]) for part in source_fragments(news)] == [
        ("s0", "It rained.", "text", "sentence"),
        ("s1", "It snowed.", "text", "sentence"),
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("hours.Monday", "Monday hours: closed (0:0-0:0)"),
        ("hours.Tuesday", "Tuesday hours: 9 am to 10:30 pm (9:0-22:30)"),
        ("hours", "open 1 day a week: Tuesday"),
        ("attributes.WiFi", "no WiFi"),
        ("attributes.OutdoorSeating", "has outdoor seating"),
        ("attributes.RestaurantsReservations", "no reservations"),
        ("attributes.BusinessParking.street", "street parking"),
        ("attributes.BusinessParking.lot", "no lot parking"),
        ("attributes.BusinessParking.valet", "valet parking: unknown"),
        ("attributes.Music", "music: unknown"),
        ("attributes.Ambience.casual", "casual ambience"),
        ("attributes.Ambience.romantic", "not romantic ambience"),
        ("attributes.BikeParking", "bike parking: yes"),
        ("attributes.HasTV", "no TV"),
        ("attributes.GoodForMeal.dinner", "good for dinner"),
        ("attributes.Alcohol", "alcohol: full bar"),
        ("hours.Friday", "Friday hours: open 24 hours (0:0-24:0)"),
        ("is_open", "open for business"),
        ("business_stars", "rated 4.0 stars"),
        ("state", "state: CA (California)"),
        ("categories", "categories: Burgers, Restaurants"),
    ],
)
def test_a_field_reads_as_english(path, text):
    hours = BUSINESS["hours"] | {"Friday": "0:0-24:0"} if "Friday" in path else BUSINESS["hours"]
    assert rendered(business(hours=hours))[path] == text


def test_only_nulls_and_empty_values_are_unknown():
    unknown = {part.path for part in source_fragments(business(address="")) if part.is_unknown}
    assert unknown == {"address", "attributes.BusinessParking.valet", "attributes.Music"}


def test_the_address_also_stands_whole():
    texts = {part.fragment_id: part.text for part in source_fragments(business())}
    assert texts["f-address+city+state"] == "located at 1 State St, Goleta, CA"
    assert texts["f-city"] == "city: Goleta"


def test_reviews_become_sentences_with_stars_and_date_before_them():
    reviews = [part for part in source_fragments(business()) if part.path == "review_info[0]"]
    assert [(part.fragment_id, part.text, part.kind) for part in reviews] == [
        ("r0-head", "review rated 5.0 stars, written 2022-01-16", "field"),
        ("r0-s0", "Great.", "review"),
        ("r0-s1", "Go!", "review"),
    ]


def test_python_literals_in_strings_are_read():
    attributes = {"WiFi": "u'free'", "Music": "{dj: False, live: True, jkebox: None}"}
    found = rendered(business(attributes=attributes))
    assert found["attributes.WiFi"] == "free WiFi"
    assert found["attributes.Music.dj"] == "no DJ music"
    assert found["attributes.Music.live"] == "live music"
    assert found["attributes.Music.jkebox"] == "jukebox music: unknown"


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_any_fields_give_readable_fragments_with_unique_ids(fields):
    parts = source_fragments(Source(source_id="x", task_type="Data2txt", fields=fields))
    assert all(part.text.strip() for part in parts)
    assert len({part.fragment_id for part in parts}) == len(parts)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text_gives_pieces_of_it_in_order(text):
    parts = source_fragments(Source(source_id="x", task_type="Summary", text=text))
    position = 0
    for part in parts:
        position = text.index(part.text, position) + len(part.text)
    assert len({part.fragment_id for part in parts}) == len(parts)
