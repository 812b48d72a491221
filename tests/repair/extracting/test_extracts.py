"""Worked cases: a claim's best fragment as its extract, and why it is refused."""

import pytest

from ragmend.records import Claim, Evidence, Source
from ragmend.repair.extracting.extracts import extracts, is_about_the_answer
from ragmend.text.reading import read_source


def extract_of(fragment_id, *, source, claim="The tower fell down.", answer=""):
    own = Claim(record_id="r", claim_id="c", text=claim, start=0, end=len(claim), kind="statement")
    row = Evidence(
        record_id="r", claim_id="c", rank=1, fragment_id=fragment_id, text="x", score=0.5
    )
    (found,) = extracts(read_source(source), answer, [own], {"c": [row]})
    return found


def passage(text):
    return Source(source_id="q", task_type="QA", text=f"passage 1:{text}")


def business(**fields):
    return Source(source_id="d", task_type="Data2txt", fields=fields)


REFUSED = [
    ("Melts at 840°C and boils at 1484°C.", ("not_a_statement",)),
    ("Foods Containing Potassium.", ("not_a_statement",)),
    ("The tower was closed without a stop", ("not_a_statement",)),
    ("Preheat the oven to 400 degrees F.", ("request_for_statement",)),
    ("The guide recommends our soup.", ("first_person",)),
    ("The lamp loses power.elish stays on.", ("not_well_formed",)),
    ("urning the tower was forbidden.", ("not_well_formed",)),
    ("They were closed on Monday by the mayor.", ("refers_back",)),
]


@pytest.mark.parametrize(("text", "reasons"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_fragment_that_says_nothing_by_itself_is_refused(text, reasons):
    assert extract_of("p1-s0", source=passage(text)).reasons == reasons


def test_a_step_may_stand_for_a_step():
    found = extract_of(
        "p1-s0",
        source=passage("Preheat the oven to 400 degrees F."),
        claim="2. Preheat the oven to 350 degrees F.",
    )
    assert (found.text, found.reasons) == ("Preheat the oven to 400 degrees F.", ())


def test_list_numbers_go_before_the_answer_is_looked_through():
    source = passage("3 Heat the old oven to 400 degrees. 4 Bake the cake for an hour.")
    claim, answer = "Bake the cake for a day.", "Bake the cake for an hour."
    assert extract_of("p1-s1", source=source, claim=claim).text == answer
    said = extract_of("p1-s1", source=source, claim=claim, answer=answer)
    assert said.reasons == ("already_in_answer",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We had very good service.", "A reviewer wrote: “We had very good service.”"),
        ("The soup was cold and stale.", "A reviewer wrote: “The soup was cold and stale.”"),
        ("Try the soup for lunch.", "A reviewer wrote: “Try the soup for lunch.”"),
    ],
)
def test_a_reviews_sentence_is_quoted(text, expected):
    found = extract_of("r0-s0", source=business(review_info=[{"review_text": text}]))
    assert (found.text, found.reasons) == (expected, ())


@pytest.mark.parametrize(
    ("fields", "fragment_id", "reasons"),
    [
        ({"name": "Blue Fig"}, "f-name", ("identifies_only",)),
        ({"categories": "Bars, Pizza"}, "f-categories=Bars", ("identifies_only",)),
        ({"attributes": {"WiFi": None}}, "f-attributes.WiFi", ("unknown_value",)),
        (
            {"attributes": {"Music": {"no_music": False}}},
            "f-attributes.Music.no_music",
            ("not_a_statement",),
        ),
        ({"attributes": {"HasTV": False}}, "f-attributes.HasTV", ()),
    ],
)
def test_a_field_is_an_extract_if_it_states_something(fields, fragment_id, reasons):
    assert extract_of(fragment_id, source=business(**fields)).reasons == reasons


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The passages do not mention a bridge.", True),
        ("However, the given passages don't provide any specific information.", True),
        ("Unable to answer based on given passages.", True),
        ("I hope this helps!", True),
        ("There is no mention of a bridge in the passages.", True),
        ("The length is not mentioned in the passages.", True),
        ("Passage 1 talks about bridges.", True),
        ("Based on the given passages, the bridge was closed.", False),
        ("Passage 2 suggests heating the oven to 350 degrees.", False),
        ("The bridge does not open on Mondays.", False),
        ("It is not open.", False),
    ],
)
def test_what_is_said_of_the_passages_or_the_answer_is_known(text, expected):
    assert is_about_the_answer(text) == expected
