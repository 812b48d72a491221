import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.records import Claim, Source
from ragmend.repair.evidence import match_evidence
from ragmend.repair.lexical.features import (
    ANSWER_FEATURES,
    CLAIM_FEATURES,
    answer_places,
    claim_features,
)
from ragmend.repair.lexical.source import VerifiedSource
from ragmend.repair.lexical.wording import Commonplaces
from ragmend.text.tfidf import Match

QA = Source(
    source_id="q",
    task_type="QA",
    text=(
        "passage 1:Technicians in Alaska earn $23.70 an hour.\n\n"
        "passage 2:Overtime is not paid to technicians in Texas.\n\n"
    ),
    question="How are automotive technicians paid?",
)
BUSINESS = Source(
    source_id="b",
    task_type="Data2txt",
    fields={
        "name": "Corner Diner",
        "hours": {"Monday": "9:0-17:0"},
        "attributes": {"WiFi": "no", "OutdoorSeating": None, "RestaurantsTakeOut": True},
        "review_info": [{"review_stars": 5.0, "review_text": "They have a sunny patio."}],
    },
)
EQUAL = Commonplaces(n_answers=10, missing_in={})
ONE = math.log(2)


def claim(text, kind="statement"):
    return Claim(record_id="r", claim_id="c", text=text, start=0, end=len(text), kind=kind)


def measure(text, source=QA, kind="statement"):
    read = VerifiedSource(source)
    rows = match_evidence(source, [claim(text)], top_k=3)
    matches = [Match(read.reading.position_of[row.fragment_id], row.score) for row in rows]
    return dict(
        zip(CLAIM_FEATURES, claim_features(read, text, matches, EQUAL, kind=kind), strict=True)
    )


def test_a_copied_sentence_is_covered_aligned_and_has_nothing_missing():
    copied = measure("Technicians in Alaska earn $23.70 an hour.")
    assert copied["coverage"] == copied["bigrams"] == copied["alignment"] == 1.0
    assert copied["longest_run"] == copied["cosine"] == pytest.approx(1.0)
    assert copied["missing_words"] == copied["missing_share"] == copied["missing_most"] == 0.0
    assert copied["unstated_numbers"] == copied["unstated_names"] == 0.0
    assert copied["stated_numbers"] == pytest.approx(ONE)


def test_each_invented_detail_is_counted():
    invented = measure("Technicians in Ohio earn $23.70 and 12 %.")
    assert invented["missing_share"] == pytest.approx(1 / 3)  # of technicians, Ohio, earn
    assert invented["missing_most"] == 1.0
    assert invented["unstated_names"] == pytest.approx(ONE)  # Ohio
    assert invented["unstated_numbers"] == pytest.approx(ONE)  # 12 %
    assert invented["stated_numbers"] == pytest.approx(ONE)  # $23.70


def test_a_detail_of_another_fragment_is_elsewhere_and_not_unstated():
    text = "Paul Smith won 40 votes. The mayor of Rome praised the city council."
    read = VerifiedSource(Source(source_id="s", task_type="Summary", text=text))
    mixed = "The mayor Smith gave the council 40 votes."
    for matches, expected in (([Match(1, 0.5)], ONE), ([Match(1, 0.5), Match(0, 0.1)], 0.0)):
        found = dict(zip(CLAIM_FEATURES, claim_features(read, mixed, matches, EQUAL), strict=True))
        assert found["unstated_numbers"] == found["unstated_names"] == 0.0
        assert found["numbers_elsewhere"] == pytest.approx(expected)
        assert found["names_elsewhere"] == pytest.approx(expected)


def test_the_question_is_context_and_never_evidence():
    asked = measure("Automotive pensions rise.")
    assert asked["coverage"] == 0.0
    assert asked["asked_share"] == pytest.approx(1 / 3)


def test_only_a_negation_that_the_evidence_lacks_is_a_lone_one():
    assert measure("Alaska pays no overtime.")["lone_negation"] == 0.0  # passage 2 negates
    assert measure("Alaska does not earn.")["lone_negation"] == 1.0
    assert measure("The passages do not name Alaska.")["lone_negation"] == 0.0


def test_quantifiers_connectives_and_kinds_are_noticed():
    said = measure("However, most technicians earn well.")
    assert said["foreign_quantifier"] == said["opens_with_connective"] == 1.0
    assert measure("Technicians earn.")["foreign_quantifier"] == 0.0
    assert measure("Here is a list:", kind="lead_in")["is_lead_in"] == 1.0


def test_fields_are_compared_with_polarity_and_reviews_count_as_known():
    assert measure("It offers free WiFi.", BUSINESS)["attribute_conflicts"] == pytest.approx(ONE)
    assert measure("There is no WiFi.", BUSINESS)["attribute_conflicts"] == 0.0
    assert measure("Outdoor seating.", BUSINESS)["attributes_unknown"] == pytest.approx(ONE)
    assert measure("There is a patio.", BUSINESS)["attributes_unknown"] == 0.0  # a review says so
    assert measure("Open from 9 am to 5 pm.", BUSINESS)["hours_agree"] == 1.0
    assert measure("Open from 9 am to 6 pm.", BUSINESS)["hours_conflict"] == 1.0


def test_running_text_has_no_field_features():
    found = measure("It offers free WiFi from 9 am to 5 pm, open daily.")
    names = ("attribute_conflicts", "attributes_unknown", "hours_agree", "hours_conflict")
    assert not any(found[name] for name in names)
    assert found["is_structured"] == 0.0


def test_a_common_word_weighs_less_than_a_rare_one():
    weights = Commonplaces(n_answers=99, missing_in={"ensur": 49, "various": 99})
    assert weights.weight("quartz") == 1.0
    assert weights.weight("ensur") == pytest.approx(math.log(2) / math.log(100))
    assert weights.weight("various") == 0.0


def test_a_place_in_an_answer_runs_from_its_first_claim_to_its_last():
    listed = [claim("One."), claim("Two."), claim("Three.")]
    places = answer_places(listed)
    assert [place.position for place in places] == [0.0, 0.5, 1.0]
    assert {place.n_claims for place in places} == {math.log1p(3)}
    assert {place.answer_length for place in places} == {math.log1p(len("Three."))}
    assert [place.position for place in answer_places(listed[:1])] == [0.0]
    assert answer_places([]) == []
    assert len(ANSWER_FEATURES) == len(CLAIM_FEATURES) + 3


@given(st.text(max_size=120), st.sampled_from([QA, BUSINESS]))
def test_any_text_has_finite_features(text, source):
    found = claim_features(VerifiedSource(source), text, (), EQUAL)
    assert len(found) == len(CLAIM_FEATURES)
    assert all(math.isfinite(value) for value in found)
