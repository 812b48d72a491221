"""Sources cut into fragments: passages, running text, reviews, fields and windows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.records import Source
from ragmend.text.fragments import MAX_WINDOW, source_fragments
from ragmend.text.names import names
from ragmend.text.quantities.numbers import is_stated, numbers
from ragmend.text.reading import read_source

PASSAGES = (
    "passage 1:Techs earn $23.70. Some earn more.\n\n"
    "passage 2:Pay varies.\n\n"
    "passage 3:See passage 2: it says so.\n\n"
)
REVIEWS = [
    {"review_stars": 5.0, "review_date": "2022-01-16 23:37:37", "review_text": "Great. Go!"},
    {"review_stars": 1.0, "review_date": "2021-01-16 23:37:37", "review_text": "Bad."},
]
BUSINESS = {"name": "Tinker's", "address": "1 State St", "city": "Goleta", "review_info": REVIEWS}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400)])
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["0:0-0:0", "9:0-17:0", "{a: None}", "{'a': {b: 1}}", "u''", "None", "CA"])
)
keys = st.text() | st.sampled_from(
    "hours attributes review_info address city state categories Monday Sunday Ambience Music "
    "BusinessParking review_text review_stars review_date business_stars a a.b hours.Monday "
    "a#2 hours=weekdays".split()
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=15,
)


def question(text):
    return Source(source_id="q", task_type="QA", text=text, question="How is pay?")


def news(text):
    return Source(source_id="s", task_type="Summary", text=text)


def structured(fields):
    return Source(source_id="d", task_type="Data2txt", fields=fields)


def ids(source, window=1):
    return [part.fragment_id for part in source_fragments(source, window=window)]


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


def test_two_passages_of_one_number_keep_their_ids_apart():
    twice = question("passage 1:One here.\n\npassage 1:Two here.")
    assert ids(twice) == ["p1-s0", "p1-s0#2"]


def test_a_number_too_long_for_a_passage_marks_none():
    assert ids(question("passage " + "9" * 5000 + ":One here."))[0] == "p0-s0"


def test_running_text_becomes_sentences():
    assert [tuple(part[:4]) for part in source_fragments(news("It rained. It snowed.\n"))] == [
        ("s0", "It rained.", "text", "sentence"),
        ("s1", "It snowed.", "text", "sentence"),
    ]


def test_reviews_become_sentences_with_stars_and_date_before_them():
    found = source_fragments(structured(BUSINESS))
    reviews = [part for part in found if part.path == "review_info[0]"]
    assert [(part.fragment_id, part.text, part.kind) for part in reviews] == [
        ("r0-head", "review rated 5.0 stars, written 2022-01-16", "field"),
        ("r0-s0", "Great.", "review"),
        ("r0-s1", "Go!", "review"),
    ]


def test_nothing_of_a_review_is_lost():
    fields = {"review_info": [{"review_date": " ", "review_text": None, "useful": 3}, "Fine."]}
    found = [(part.fragment_id, part.text) for part in source_fragments(structured(fields))]
    assert found == [
        ("r0-head", "review"),
        ("f-review_info[0].review_text", "review text: unknown"),
        ("f-review_info[0].useful", "useful: 3"),
        ("f-review_info[1]", "review info: Fine."),
    ]


# The question is context, never evidence.


def test_the_question_is_in_no_fragment_and_states_nothing():
    source = Source(
        source_id="q",
        task_type="QA",
        text="passage 1:Technicians are paid by the hour.",
        question="Did Margaret Holt pay 512 technicians in 1987?",
    )
    reading = read_source(source)
    assert [part.text for part in reading.fragments] == ["Technicians are paid by the hour."]
    claim = "Holt paid 512 of them in 1987, said Margaret Holt."
    assert not any(is_stated(number, reading.number_keys) for number in numbers(claim))
    assert not any(reading.states_name(name) for name in names(claim))
    assert {"margaret", "holt", "1987"} <= reading.question_stems
    assert not {"margaret", "holt", "1987"} & reading.stems


# Windows.


@pytest.mark.parametrize(
    ("source", "window", "expected"),
    [
        (news("A one. B two. C three."), 1, "s0 s1 s2"),
        (news("A one. B two. C three."), 2, "s0 s1 s2 s0+s1 s1+s2"),
        (news("A one. B two. C three."), 3, "s0 s1 s2 s0+s1 s1+s2 s0+s1+s2"),
        (news("A one."), 3, "s0"),
        (news(""), 3, ""),
        (question(PASSAGES), 2, "p1-s0 p1-s1 p2-s0 p3-s0 p1-s0+s1"),
        (question("passage 1:A. passage 1: no\n\npassage 1:B b. C c."), 2, None),
        (structured(BUSINESS | {"review_info": REVIEWS}), 2, None),
    ],
    ids=["1", "2", "3", "one-sentence", "empty", "passages", "twin-passages", "reviews"],
)
def test_windows_are_neighbours_within_one_stretch(source, window, expected):
    found = source_fragments(source, window=window)
    if expected is not None:
        assert [part.fragment_id for part in found] == expected.split()
    by_id = {part.fragment_id: part for part in found}
    for part in found:
        if part.is_window:
            inner = [by_id[own] for own in part.parts]
            assert {own.path for own in inner} == {part.path}
            assert " ".join(part.text.split()) == " ".join(own.text for own in inner)


def test_the_windows_of_twin_passages_are_made_of_their_own_sentences():
    twins = question("passage 1:A one. B two.\n\npassage 1:C three. D four.")
    windows = {
        part.fragment_id: part for part in source_fragments(twins, window=2) if part.is_window
    }
    assert list(windows) == ["p1-s0+s1", "p1-s0+s1#2"]
    assert windows["p1-s0+s1#2"].parts == ("p1-s0#2", "p1-s1#2")
    assert windows["p1-s0+s1#2"].text == "C three. D four."


def test_fields_make_no_windows():
    found = source_fragments(structured(BUSINESS), window=3)
    assert [part.fragment_id for part in found if part.is_window] == ["r0-s0+s1"]


def test_a_fragments_place_does_not_depend_on_the_window():
    source = question(PASSAGES)
    for smaller, larger in pairwise(range(1, MAX_WINDOW + 1)):
        narrow = source_fragments(source, window=smaller)
        assert source_fragments(source, window=larger)[: len(narrow)] == narrow


def test_a_reading_states_no_more_by_windows_and_compares_them():
    reading = read_source(news("We met Smith. Jones said no."), window=2)
    (name,) = names("we met Smith Jones")
    assert not reading.states_name(name)
    assert ("smith", "jone") not in reading.bigrams | reading.name_pairs
    position = reading.position_of["s0+s1"]
    assert reading.content_F[position] == reading.content_F[0] | reading.content_F[1]
    assert reading.negates_F[position]


# Any input.


@given(st.dictionaries(keys, json_values, max_size=6))
def test_any_fields_give_readable_fragments_with_unique_ids(fields):
    parts = source_fragments(structured(fields), window=2)
    assert all(part.text.strip() for part in parts)
    unique = {part.fragment_id for part in parts}
    assert len(unique) == len(parts)
    assert all(unique.issuperset(part.parts) for part in parts)
    assert source_fragments(structured(fields), window=2) == parts


@given(st.dictionaries(keys, json_values, max_size=4))
def test_any_fields_can_be_read(fields):
    reading = read_source(structured(fields), window=2)
    assert reading.tfidf.n_fragments <= len(reading.fragments)
    unknown = [at for at, part in enumerate(reading.fragments) if part.is_unknown]
    assert all(not reading.content_F[at] for at in unknown)


def test_integers_longer_than_the_interpreter_writes_are_fragments_too():
    (part,) = source_fragments(structured({"n": 10**5000}))
    assert part.text.startswith("n: 0x")


def test_a_key_that_looks_like_a_marked_id_stays_apart():
    fields = {"a.b": 1, "a": {"b": 2}, "a.b#2": 3}
    assert ids(structured(fields)) == ["f-a.b", "f-a.b#2", "f-a.b#2#2"]


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text_gives_pieces_of_it_in_order(text):
    parts = source_fragments(news(text))
    position = 0
    for part in parts:
        position = text.index(part.text, position) + len(part.text)
    assert len({part.fragment_id for part in parts}) == len(parts)


@given(st.text(alphabet="ab.? \nP", max_size=40), st.integers(1, MAX_WINDOW))
def test_any_window_is_a_piece_of_the_text(text, window):
    assert all(part.text in text for part in source_fragments(news(text), window=window))
