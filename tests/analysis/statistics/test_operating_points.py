from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from ragmend.analysis.statistics.operating_points import best_f1_threshold, budget_threshold
from ragmend.errors import StatisticsError

tenths = st.integers(0, 10).map(lambda k: k / 10)
claims = st.lists(st.tuples(st.booleans(), tenths), min_size=1, max_size=25)


@settings(max_examples=30)
@given(claims)
def test_no_other_threshold_has_a_higher_f1(listed):
    positive, p = (np.array(column) for column in zip(*listed, strict=True))
    found = best_f1_threshold(positive, p)
    # The outside check: sklearn.metrics.f1_score at every threshold that flags other claims.
    f1s = {t: f1_score(positive, p < t, zero_division=0.0) for t in {*p, 1.0}}
    best = max(f1s.values())
    if found is None:
        assert best == 0
        return
    assert f1s[found] == pytest.approx(best)
    assert all(f1 < best - 1e-12 for t, f1 in f1s.items() if t < found)


def test_the_best_threshold_lies_above_the_unsupported_claims():
    assert best_f1_threshold([1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9]) == 0.6
    assert best_f1_threshold([1, 1], [0.1, 0.2]) == 1.0


@given(st.lists(tenths, min_size=1, max_size=30), st.integers(0, 99))
def test_a_budget_is_kept_and_any_higher_threshold_breaks_it(least, percent):
    budget = Fraction(percent, 100)
    found = budget_threshold(least, budget)
    p = np.array(least)
    assert (p < found).sum() <= budget * len(p)
    assert (p < np.nextafter(found, 2)).sum() > budget * len(p)


def test_a_budget_is_counted_exactly():
    # 29 % of 100 answers are 29, though 0.29 * 100 is 28.999… in binary.
    assert budget_threshold(np.arange(100) / 100, Fraction(29, 100)) == 0.29


def test_without_positives_or_answers_there_is_no_threshold():
    assert best_f1_threshold([0, 0], [0.1, 0.2]) is None
    assert best_f1_threshold([1], [1.0]) is None
    assert budget_threshold([], Fraction(1, 10)) is None


def test_what_is_no_probability_or_share_is_refused():
    with pytest.raises(StatisticsError, match="probabilities in"):
        best_f1_threshold([1], [float("nan")])
    with pytest.raises(StatisticsError, match="2 in positive_C and 1 in p_support_C"):
        best_f1_threshold([1, 0], [0.5])
    with pytest.raises(StatisticsError, match="budget"):
        budget_threshold([0.1], Fraction(1))
