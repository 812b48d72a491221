"""How many labels a width needs: the inverse of the intervals, and hand arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, t
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import (
    correlation_limit,
    gold_correlation,
    half_width_expected,
    labels_needed,
    prediction_powered_rate,
)
from ragmend.errors import StatisticsError

WIDTHS = st.floats(0.5, 20)
RATES = st.floats(0.02, 0.98)


@given(WIDTHS, RATES)
def test_without_a_judge_the_labels_give_wilsons_interval_of_that_width(half_width_pp, rate):
    n = labels_needed(half_width_pp, rate=rate)
    # statsmodels proportion_confint(n · rate, n, method="wilson")
    reaches = [wilson_reach(size, rate) for size in (n, n - 1) if size]
    assert reaches[0] <= half_width_pp * (1 + 1e-9)
    assert len(reaches) == 1 or reaches[1] > half_width_pp * (1 - 1e-9)


def wilson_reach(n, rate):
    low, high = proportion_confint(n * rate, n, method="wilson")
    return 100 * (high - low) / 2


def test_the_textbook_numbers_come_out():
    # z²/4h² − z²: 1.96² · .25 / .05² = 384.15 and / .03² = 1067.07, less 3.84
    assert labels_needed(5) == 381
    assert labels_needed(3) == 1064


@pytest.mark.parametrize("rate", [0.01, 0.02, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("half_width_pp", [1, 2, 3, 5, 10])
def test_the_interval_of_the_labels_recommended_covers(rate, half_width_pp):
    # A normal interval of as many labels as it needs covers .04 at 1 % and ± 10 points.
    n = labels_needed(half_width_pp, rate=rate)
    counts = np.arange(n + 1)
    low, high = proportion_confint(counts, n, method="wilson")
    assert binom.pmf(counts, n, rate)[(low <= rate) & (rate <= high)].sum() >= 0.83


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
    # The plan is with the normal quantile, the interval with t of 249 degrees of freedom.
    assert width == pytest.approx(expected * t.isf(0.025, 249) / 1.959964, rel=5e-3)


@pytest.mark.parametrize(("rate", "least"), [(0.5, 20), (0.1, 100), (0.95, 200)])
def test_a_judge_that_is_gold_itself_still_needs_ten_labels_of_each_kind(rate, least):
    found = labels_needed(3, rate=rate, correlation=1.0, n_records=10_000)
    assert found == pytest.approx(least, abs=1)


def test_a_judge_that_contradicts_gold_saves_nothing():
    alone = labels_needed(5, n_records=1000)
    assert labels_needed(5, correlation=-0.9, n_records=1000) == alone


def test_the_correlation_is_numpys():
    judge, gold = [1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 1, -1, -1]
    # numpy.corrcoef of the six records with gold
    assert gold_correlation(judge, gold) == pytest.approx(np.corrcoef(judge[:6], gold[:6])[0, 1])
    assert gold_correlation([1, 1, 1], [1, 0, -1]) == 0.0
    assert gold_correlation([1, 0, 1], [1, 1, -1]) is None


def test_the_limit_of_the_correlation_is_that_of_the_jackknife():
    judge, gold = np.repeat([(1, 1), (0, 1), (1, 0), (0, 0)], [60, 12, 8, 20], axis=0).T
    # The infinitesimal jackknife: how atanh φ changes with the weight of a record of each cell.
    smoothed = np.array([60.5, 12.5, 8.5, 20.5])
    cells = np.array([[1, 1], [0, 1], [1, 0], [0, 0]], dtype=float)

    def fisher(weights):
        centred = cells - weights @ cells / weights.sum()
        return np.arctanh((weights @ centred.prod(axis=1)) / np.prod(np.sqrt(weights @ centred**2)))

    one_less = np.array([fisher(smoothed - 1e-4 * unit) for unit in np.eye(4)])
    pulls = (fisher(smoothed) - one_less) / 1e-4
    deviation = np.sqrt(smoothed @ pulls**2)
    expected = np.tanh(fisher(smoothed) - 1.959963984540054 * deviation)
    assert correlation_limit(judge, gold) == pytest.approx(expected, rel=1e-4)


def test_full_agreement_of_few_labels_is_not_taken_for_certainty():
    labels = [1, 0] * 20
    assert gold_correlation(labels, labels) == 1
    assert 0.6 < correlation_limit(labels, labels) < 0.8


@pytest.mark.parametrize(("positives", "negatives"), [(14, 15), (4, 100), (100, 4), (0, 0)])
def test_too_few_golds_tell_nothing_of_what_a_judge_saves(positives, negatives):
    gold = [1] * positives + [0] * negatives + [-1] * 50
    assert correlation_limit([1] * len(gold), gold) is None


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity"), [(0.5, 0.8, 0.8), (0.05, 0.7, 0.95), (0.1, 0.97, 0.99)]
)
def test_the_limit_lies_below_the_true_correlation_as_often_as_it_says(
    rate, sensitivity, specificity
):
    # With Fisher's 1/√(n − 3), which is for normal variables, .80 in the second case.
    shares = np.outer([rate, 1 - rate], [1, 1]) * [
        [sensitivity, 1 - sensitivity], [1 - specificity, specificity]
    ]  # fmt: skip
    margins = np.prod(shares.sum(axis=0)) * np.prod(shares.sum(axis=1))
    truth = np.linalg.det(shares) / margins**0.5
    stream = np.random.default_rng(5)
    cells = [(1, 1), (0, 1), (1, 0), (0, 0)]
    below = []
    for counts in stream.multinomial(500, shares.ravel(), 400):
        judge, gold = np.repeat(cells, counts, axis=0).T
        below.append(correlation_limit(judge, gold) <= truth)
    assert np.mean(below) >= 0.96


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_correlation_lies_between_minus_one_and_one(pairs):
    judge, gold = zip(*pairs, strict=True)
    found = gold_correlation(judge, gold)
    assume(found is not None)
    assert -1 - 1e-12 <= found <= 1 + 1e-12


@pytest.mark.parametrize(
    ("half_width_pp", "case", "message"),
    [
        (0, {}, "half_width_pp: "),
        (math.nan, {}, "half_width_pp: "),
        (5, {"rate": 0}, "rate: "),
        (5, {"correlation": 1.1}, "correlation: "),
        (5, {"n_records": 0}, "n_records: "),
        (5, {"confidence": 1}, "confidence: "),
    ],
)
def test_what_is_out_of_range_is_refused(half_width_pp, case, message):
    with pytest.raises(StatisticsError, match=message):
        labels_needed(half_width_pp, **case)


def test_more_labels_than_records_are_refused():
    with pytest.raises(StatisticsError, match="expected 1 to 10 labels, got 11"):
        half_width_expected(11, n_records=10)
