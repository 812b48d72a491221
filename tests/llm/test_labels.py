"""P(support): exact arithmetic, named forms, a floor for the mass, intervals for the unknown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import AnswerFaultError
from ragmend.llm.labels import (
    LABEL_FORMS,
    NO_FORMS,
    YES_FORMS,
    Support,
    form_probabilities,
    read_support,
)
from ragmend.llm.protocol import NEGATIVE_INFINITY, LabelScores


def scores(probs, *, bound=None, absent=()):
    logprobs = {form: math.log(p) if p else NEGATIVE_INFINITY for form, p in probs.items()}
    return LabelScores(logprobs=logprobs, bound=bound, absent=absent, n_prompt_tokens=1)


MEASURED = {"Yes": 0.12, " Yes": 0.11, "yes": 0.02, "No": 0.47, " No": 0.05, "NO": 0.03}


def test_two_tokens_read_yes_and_no_alone_and_all_forms_read_the_rest_too():
    two = read_support(scores(MEASURED), "two-token", min_mass=0.5)
    assert two.p == pytest.approx(0.12 / 0.59)
    assert two.mass == pytest.approx(0.59)
    every = read_support(scores(MEASURED), "all-forms", min_mass=0.5)
    assert every.p == pytest.approx(0.25 / 0.80)
    assert every.mass == pytest.approx(0.80)
    assert (two.interval, every.interval) == (None, None)


@pytest.mark.parametrize(("mass", "fine"), [(0.4999, False), (0.5, True)])
def test_a_mass_under_the_floor_is_a_fault(mass, fine):
    given_scores = scores({"Yes": mass / 4, "No": mass * 3 / 4})
    if fine:
        support = read_support(given_scores, "two-token", min_mass=0.5 - 1e-12)
        assert support.p == pytest.approx(0.25)
        return
    with pytest.raises(AnswerFaultError) as caught:
        read_support(given_scores, "two-token", min_mass=0.5)
    assert caught.value.status == "low_mass"


def test_no_mass_at_all_is_a_fault_even_without_a_floor():
    with pytest.raises(AnswerFaultError) as caught:
        read_support(scores({"Yes": 0.0, "No": 0.0}), "two-token", min_mass=0.0)
    assert caught.value.status == "non_finite"


def test_one_label_of_minus_infinity_is_a_probability_of_zero():
    support = read_support(scores({"Yes": 0.0, "No": 0.9}), "two-token", min_mass=0.5)
    assert support.p == 0.0


@pytest.mark.parametrize("forms", [{"Yes": 0.9}, {"No": 0.9}, {}, {"yes": 0.4, "no": 0.5}])
def test_a_model_without_a_token_for_a_label_gives_no_answer(forms):
    with pytest.raises(AnswerFaultError) as caught:
        read_support(scores(forms), "two-token", min_mass=0.0)
    assert caught.value.status == "empty"


def test_an_absent_label_is_bounded_by_the_least_probable_token_that_was_told():
    told = scores({"Yes": 0.9}, bound=math.log(0.01), absent=("No",))
    support = read_support(told, "two-token", min_mass=0.5)
    assert support.interval == pytest.approx((0.9 / 0.91, 1.0))
    assert support.p == pytest.approx((0.9 / 0.91 + 1.0) / 2)
    assert support.decides(0.5)


def test_an_interval_around_the_threshold_decides_nothing():
    told = scores({"Yes": 0.3}, bound=math.log(0.25), absent=("No", "no", " No"))
    support = read_support(told, "all-forms", min_mass=0.2)
    low, high = support.interval
    assert low == pytest.approx(0.3 / 1.05)
    assert high == 1.0
    assert not support.decides(0.5)
    assert support.decides(low)
    assert not support.decides(high)
    assert Support(0.2, interval=(0.1, 0.3)).decides(0.4)


probabilities = st.floats(0.0, 1.0 / len(LABEL_FORMS))


@given(st.fixed_dictionaries(dict.fromkeys(LABEL_FORMS, probabilities)), st.data())
def test_what_a_server_leaves_out_lies_within_the_interval(probs, data):
    """The fallback's interval holds the exact value, whatever the twentieth token was."""
    known = sorted(probs.values(), reverse=True)
    n_told = data.draw(st.integers(1, len(known)))
    bound = known[n_told - 1]
    told = {form: p for form, p in probs.items() if p >= bound > 0}
    absent = tuple(form for form in probs if form not in told)
    try:
        exact = read_support(scores(probs), "all-forms", min_mass=0.0)
        vague = read_support(
            scores(told, bound=math.log(bound or 1e-300), absent=absent), "all-forms", min_mass=0.0
        )
    except AnswerFaultError:
        return
    low, high = vague.interval
    assert low - 1e-9 <= exact.p <= high + 1e-9
    assert low <= vague.p <= high


@given(st.fixed_dictionaries(dict.fromkeys(LABEL_FORMS, st.floats(1e-6, 0.08))))
def test_p_is_the_share_of_yes_and_the_probabilities_are_kept(probs):
    support = read_support(scores(probs), "all-forms", min_mass=0.0)
    yes, no = (math.fsum(probs[form] for form in forms) for forms in (YES_FORMS, NO_FORMS))
    assert support.p == pytest.approx(yes / (yes + no))
    assert support.mass == pytest.approx(min(yes + no, 1.0))
    assert form_probabilities(scores(probs)) == pytest.approx(probs)
