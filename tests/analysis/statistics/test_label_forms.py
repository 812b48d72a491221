"""P(support) of recorded word probabilities, against the reading of log-probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.analysis import near_threshold, support_of_forms
from ragmend.llm.labels import LABEL_FORMS, form_probabilities, read_support
from ragmend.llm.protocol import LabelScores

FORMS = st.dictionaries(st.sampled_from(LABEL_FORMS), st.floats(-30, -3), min_size=2)


def test_two_tokens_and_all_forms_are_as_by_hand():
    probs = {"Yes": 0.2, "No": 0.3, " Yes": 0.1, " No": 0.0, "no": 0.2}
    assert support_of_forms(probs, "two-token") == pytest.approx(0.2 / 0.5)
    assert support_of_forms(probs, "all-forms") == pytest.approx(0.3 / 0.8)


@pytest.mark.parametrize(
    "probs", [{}, {"Yes": 0.5}, {"No": 0.5}, {" Yes": 0.5, " No": 0.5}, {"Yes": 0.0, "No": 0.0}]
)
def test_without_a_yes_and_a_no_that_count_there_is_none(probs):
    assert support_of_forms(probs, "two-token") is None


@given(FORMS, st.sampled_from(["two-token", "all-forms"]))
def test_what_a_run_records_gives_back_what_it_read(logprobs, scoring):
    scores = LabelScores(logprobs=logprobs, n_prompt_tokens=1)
    found = support_of_forms(form_probabilities(scores), scoring)
    counted = [form for form in logprobs if scoring == "all-forms" or form in ("Yes", "No")]
    if {form.strip().lower() for form in counted} == {"yes", "no"}:
        assert found == pytest.approx(read_support(scores, scoring, min_mass=0).p, abs=1e-12)
    else:
        assert found is None


def test_near_is_within_the_distance_on_either_side_itself_included():
    p = [0.25, 0.375, 0.5, 0.625, 0.75]
    assert near_threshold(p, p, threshold=0.5, within=0.125).tolist() == [0, 1, 1, 1, 0]
    assert near_threshold(p, p, threshold=0.5, within=0).tolist() == [0, 0, 1, 0, 0]


def test_of_an_interval_the_nearer_end_counts():
    found = near_threshold([0.2, 0.2, 0.52], [0.8, 0.48, 0.9], threshold=0.5, within=0.03)
    assert found.tolist() == [True, True, True]
    assert not near_threshold([0.54], [0.9], threshold=0.5, within=0.03).any()


@given(st.lists(st.floats(0, 1), max_size=9), st.floats(0, 1), st.floats(0, 1))
def test_what_is_known_exactly_is_as_far_as_its_difference(p, threshold, within):
    found = near_threshold(p, p, threshold=threshold, within=within)
    assert found.tolist() == [abs(value - threshold) <= within for value in p]
    assert found.dtype == np.bool_


def test_a_low_above_its_high_is_refused():
    with pytest.raises(Exception, match="low_C: a value lies above that of high_C"):
        near_threshold([0.5], [0.4], threshold=0.5, within=0.1)
    assert math.isclose(support_of_forms({"Yes": 1e-300, "No": 1e-300}, "two-token"), 0.5)
