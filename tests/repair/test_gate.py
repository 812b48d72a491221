"""What an edit must not bring in, for one longer source; `test_gate_cases.py` has the table."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.datasets.ragtruth import find_files, load_ragtruth
from ragmend.records import TASKS, Source
from ragmend.repair.gate import check_gate
from ragmend.text.names import names
from ragmend.text.quantities.numbers import SPELLED_NUMBERS, is_stated, numbers, stated_keys
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
        ("It was 7 degrees.", "unsupported_number: 7 degrees"),
        ("It was -15 degrees.", "unsupported_number: -15 degrees"),
        ("She took 15½ trucks.", "unsupported_number: 15½"),
        ("She could face 16 years.", "unsupported_number: 16 years"),
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


def test_house_numbers_and_price_ranges_are_of_no_unit():
    fields = {
        "name": "Blue Fig",
        "address": "232 W Carrillo St",
        "attributes": {"RestaurantsPriceRange2": 2},
    }
    reading = read_source(Source(source_id="f", task_type="Data2txt", fields=fields))
    assert check_gate("Blue Fig at 232 W Carrillo St is of price range 2.", reading).passed
    for made_up in ("$2", "2 miles", "232 miles", "232 guests", "$232"):
        reasons = check_gate(f"It is {made_up}.", reading).reasons
        assert reasons == (f"unsupported_number: {made_up.removesuffix(' guests')}",)


def test_the_question_is_no_evidence():
    asked = read_source(
        Source(
            source_id="q",
            task_type="QA",
            text="passage 1:The bridge was closed.",
            question="Did Ada Holt close the bridge in 1987?",
        )
    )
    reasons = ("unsupported_number: 1987", "unsupported_name: Ada Holt")
    assert check_gate("Then Ada Holt closed it in 1987.", asked).reasons == reasons


# Places at which a text can be cut without cutting a number or name: between small words
# that are part of none.
NUMBER_PARTS = SPELLED_NUMBERS | {"a", "an", "and", "half", "of", "on", "to", "her"}


def cuts(text):
    taken = [(found.start, found.end) for found in (*numbers(text), *names(text))]
    whole_words = [word for word in text.split(" ") if word]
    position, places = 0, [0, len(text)]
    for left, right in pairwise(whole_words):
        position = text.index(left, position) + len(left)
        is_small = left.isalpha() and left.islower() and right.isalpha() and right.islower()
        is_inside = any(start < position < end for start, end in taken)
        if is_small and not is_inside and NUMBER_PARTS.isdisjoint((left, right)):
            places.append(position)
    return sorted(places)


PIECES = st.sampled_from(
    """
    the bridge was closed|on March 26, 2015|by Ada Holt|for $3.5 million|about 80 to 90 %|in 2014
    Theresa May said|the World Health Organization|J. K. Rowling wrote it|at 9:00-22:30|in the 1990s
    two and a half hours later|half of the guests|a 35-year-old driver|5 km off|version 3.10.2
    called 555-123-4567|2014 people came|the U.S. Senate voted|the WHO warned|José Núñez paid €5
    20 were hurt|at 232 W Carrillo St|heat it to 350 F|8 to 12 in. deep|45 more minutes
    ages 45 to 54|those 50 and older|see note [7]|Mr. Smith left|half the guests
    it was 7 degrees below zero|the first time|twice a day|in her late 90s|a third of it fell
    """.replace("\n", "|").split("|")
).map(str.strip)


@given(st.lists(PIECES.filter(bool), min_size=1, max_size=8), st.data())
def test_what_is_cut_from_a_fragment_passes(pieces, data):
    text = "Then " + " when ".join(pieces) + "."
    places = cuts(text)
    start = data.draw(st.sampled_from(places[:-1]))
    end = data.draw(st.sampled_from([place for place in places if place > start]))
    reading = read_source(Source(source_id="c", task_type="Summary", text=text))
    assert check_gate(text[start:end].strip(), reading).reasons == ()


FORMS = ("{n}", "{n:,} rooms", "{n} %", "${n}", "{n} km", "{n}th", "-{n}", "€{n:,} million")


@given(st.integers(2101, 10**9), st.sampled_from(FORMS))
def test_a_number_that_the_source_lacks_is_always_named(number, form):
    written = form.format(n=number)
    text = f"The bridge was closed on March 26, see {written}."
    reasons = check_gate(text, READING).reasons
    assert len(reasons) == 1
    assert reasons[0].startswith(f"unsupported_number: {written.removesuffix(' rooms')}")


@given(st.text(), st.text())
def test_no_text_makes_the_gate_raise(source, text):
    reading = read_source(Source(source_id="u", task_type="Summary", text=source))
    assert check_gate(text, reading).passed == (not check_gate(text, reading).reasons)


@given(st.text(alphabet="0123456789.,:/-$€%°'amphkft AJMay.W\n½ onehalf"))
def test_what_looks_like_numbers_and_names_states_itself(text):
    keys = stated_keys(text)
    assert all(is_stated(number, keys) for number in numbers(text))


def test_every_sentence_of_real_sources_passes(real_data):
    loaded = load_ragtruth(find_files(real_data / "ragtruth", "train"), split="train", tasks=TASKS)
    for source in list(loaded.sources.values())[::5]:
        reading = read_source(source)
        stating = [p for p in reading.fragments if not p.is_unknown and not p.is_window]
        refused = [part for part in stating if not check_gate(part.text, reading).passed]
        assert refused == [], source.source_id
