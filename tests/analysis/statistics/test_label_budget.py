"""How many labels a width needs: the inverse of the intervals, and hand arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.proportion import samplesize_confint_proportion

from ragmend.analysis import (
    gold_correlation,
    half_width_expected,
    labels_needed,
    prediction_powered_rate,
)
from ragmend.errors import StatisticsError

WIDTHS = st.floats(0.5, 20)
RATES = st.floats(0.02, 0.98)


@given(WIDTHS, RATES)
def test_without_a_judge_it_is_statsmodels_sample_size(half_width_pp, rate):
    # samplesize_confint_proportion(rate, half_width, alpha=.05, method="normal")
    expected = samplesize_confint_proportion(rate, half_width_pp / 100)
    found = labels_needed(half_width_pp, rate=rate)
    assert found == pytest.approx(math.ceil(expected), abs=1 if expected % 1 < 1e-6 else 0)


def test_the_textbook_numbers_come_out():
    # 1.96² · .25 / .05² = 384.15 and / .03² = 1067.07
    assert labels_needed(5) == 385
    assert labels_needed(3) == 1068


@given(WIDTHS, RATES, st.floats(-0.99, 0.99), st.one_of(st.none(), st.integers(1, 5000)))
def test_so_many_labels_reach_the_width_and_one_fewer_does_not(
    half_width_pp, rate, correlation, n_records
):
    case = {"rate": rate, "correlation": correlation, "n_records": n_records}
    n = labels_needed(half_width_pp, **case)
    if n is None:
        assert half_width_expected(n_records, **case) > half_width_pp
        return
    assert half_width_expected(n, **case) <= half_width_pp * (1 + 1e-9)
    if n > 1:
        assert half_width_expected(n - 1, **case) > half_width_pp * (1 - 1e-9)


@given(WIDTHS, RATES, st.floats(0, 0.99), st.integers(50, 5000))
def test_a_judge_never_costs_labels(half_width_pp, rate, correlation, n_records):
    alone = labels_needed(half_width_pp, rate=rate, n_records=n_records)
    helped = labels_needed(half_width_pp, rate=rate, correlation=correlation, n_records=n_records)
    assert (alone is None) == (helped is None)
    assert alone is None or helped <= alone


def test_the_width_is_that_of_the_interval_computed_at_that_size():
    # 1,000 records of which 250 have gold, the share of each cell the same with and without.
    cells = {(1, 1): 60, (0, 1): 12, (1, 0): 8, (0, 0): 20}
    judge, gold = np.repeat(list(cells), list(cells.values()), axis=0).T
    judge, gold = np.tile(judge, 10), np.tile(gold, 10)
    known = np.arange(len(gold)) % 4 == 0  # every cell's count is a multiple of 4
    found = prediction_powered_rate(judge, np.where(known, gold, -1))
    expected = half_width_expected(
        250, rate=0.72, correlation=gold_correlation(judge, gold), n_records=1000
    )
    width = 100 * (found.interval.high - found.interval.low) / 2
    assert width == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("correlation", [-1.0, 1.0])
def test_a_judge_that_is_gold_itself_needs_one_label(correlation):
    assert labels_needed(5, correlation=correlation, n_records=1000) == 1


def test_the_correlation_is_numpys():
    judge, gold = [1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 1, -1, -1]
    # numpy.corrcoef of the six records with gold
    assert gold_correlation(judge, gold) == pytest.approx(np.corrcoef(judge[:6], gold[:6])[0, 1])
    assert gold_correlation([1, 1, 1], [1, 0, -1]) == 0.0
    assert gold_correlation([1, 0, 1], [1, 1, -1]) is None


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_correlation_lies_between_minus_one_and_one(pairs):
    judge, gold = zip(*pairs, strict=True)
    found = gold_correlation(judge, gold)
    assume(found is not None)
    assert -1 - 1e-12 <= found <= 1 + 1e-12


@pytest.mark.parametrize(
    ("half_width_pp", "case", "message"),
    [
        (0, {}, "half width lies in"),
        (math.nan, {}, "half width lies in"),
        (5, {"rate": 0}, "expected rate lies in"),
        (5, {"correlation": 1.1}, "correlation lies in"),
        (5, {"n_records": 0}, "at least one record"),
        (5, {"confidence": 1}, "confidence level lies in"),
    ],
)
def test_what_is_out_of_range_is_refused(half_width_pp, case, message):
    with pytest.raises(StatisticsError, match=message):
        labels_needed(half_width_pp, **case)


def test_more_labels_than_records_are_refused():
    with pytest.raises(StatisticsError, match="expected 1 to 10 labels, got 11"):
        half_width_expected(11, n_records=10)
