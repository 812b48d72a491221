"""The prediction-powered rate, against ppi-python, algebra and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import prediction_powered_rate
from ragmend.errors import StatisticsError

# 40 records with gold (19 + 3 hallucinated, 8 + 10 clean), 60 without.
JUDGE = [1] * 19 + [0] * 3 + [1] * 8 + [0] * 10 + [1] * 35 + [0] * 25
GOLD = [1] * 22 + [0] * 18 + [-1] * 60
LABELS = st.lists(st.integers(0, 1), min_size=5, max_size=60)


@pytest.mark.parametrize(
    ("weight", "rate", "low", "high"),
    [
        (1.0, 0.45833333333333337, 0.25715946656489563, 0.6595072001017711),
        (0.5, 0.5041666666666667, 0.35263248207672915, 0.6557008512566042),
        (None, 0.5260221243633276, 0.38089213489969465, 0.6711521138269606),
    ],
)
def test_rate_and_interval_are_those_of_ppi_python(weight, rate, low, high):
    # ppi-python 0.2.3, with Y and Yhat the 40, Yhat_unlabeled the 60:
    # ppi_mean_pointestimate(Y, Yhat, Yhat_unlabeled, lam=weight)
    # ppi_mean_ci(Y, Yhat, Yhat_unlabeled, alpha=.05, lam=weight)
    found = prediction_powered_rate(JUDGE, GOLD, weight=weight)
    assert found.rate == pytest.approx(rate, abs=1e-12)
    assert found.interval == pytest.approx((low, high), abs=1e-12)


def test_with_gold_for_every_record_it_is_the_gold_rate_and_the_judge_counts_nothing():
    found = prediction_powered_rate(JUDGE[:40], GOLD[:40])
    assert (found.rate, found.weight) == (22 / 40, None)
    # proportion_confint(22, 40, method="normal")
    assert found.interval == pytest.approx(proportion_confint(22, 40, method="normal"))


def test_a_weight_of_zero_is_the_gold_alone():
    found = prediction_powered_rate(JUDGE, GOLD, weight=0)
    assert found.rate == 22 / 40
    assert found.interval == pytest.approx(proportion_confint(22, 40, method="normal"))


@given(LABELS, LABELS)
def test_a_perfect_judge_gives_the_interval_of_gold_for_every_record(known, unknown):
    found = prediction_powered_rate([*known, *unknown], [*known, *[-1] * len(unknown)])
    n, m = len(known), len(unknown)
    share = np.mean([*known, *unknown])
    if found.interval is None:
        assert np.var(known) == np.var(unknown) == 0 or found.weight == 0
        return
    # λ estimates m/(n + m) from samples, so that it is near it and not on it.
    spread = np.var([*known, *unknown], ddof=1)
    expected = np.var(known) / spread * m / (n + m)
    assert found.weight == pytest.approx(min(1, expected))
    best = prediction_powered_rate([*known, *unknown], [*known, *[-1] * m], weight=m / (n + m))
    assert best.rate == pytest.approx(share)
    # Within both samples; the classical variance has the distance of their means besides.
    within = (n * np.var(known) + m * np.var(unknown)) / (n + m) ** 2
    between = n * m / (n + m) ** 3 * (np.mean(known) - np.mean(unknown)) ** 2
    assert within + between == pytest.approx(np.var([*known, *unknown]) / (n + m))
    reach = 1.959963984540054 * within**0.5
    assert best.interval == pytest.approx((max(0, share - reach), min(1, share + reach)))


@given(LABELS, st.randoms(use_true_random=False))
def test_the_tuned_weight_and_the_interval_stay_between_0_and_1(known, random):
    judge = [random.randint(0, 1) for _ in range(2 * len(known))]
    gold = [*known, *[-1] * len(known)]
    tuned = prediction_powered_rate(judge, gold)
    assert 0 <= tuned.weight <= 1
    assert tuned.interval is None or 0 <= tuned.interval.low <= tuned.interval.high <= 1


def test_it_is_unbiased_and_covers_whatever_the_judge_is_like():
    stream = np.random.default_rng(2)
    rates, covers = [], []
    for _ in range(800):
        truth = stream.random(400) < 0.7
        judge = np.where(truth, stream.random(400) < 0.95, stream.random(400) < 0.6).astype(int)
        gold = np.where(np.arange(400) < 100, truth, -1).astype(int)
        found = prediction_powered_rate(judge, gold)
        rates.append(found.rate)
        covers.append(found.interval.low <= 0.7 <= found.interval.high)
    assert np.mean(rates) == pytest.approx(0.7, abs=0.004)
    assert 0.93 <= np.mean(covers) <= 0.97


def test_a_judge_that_always_says_the_same_gets_no_weight():
    found = prediction_powered_rate([1] * 100, GOLD)
    assert (found.weight, found.rate) == (0.0, 22 / 40)


def test_gold_of_one_kind_only_has_no_interval():
    found = prediction_powered_rate([1, 0, 1, 0], [1, 1, -1, -1])
    assert (found.rate, found.interval) == (1.0, None)
    assert prediction_powered_rate([1, 0], [1, 1]).interval is None
    assert prediction_powered_rate([1, 0, 0], [1, -1, -1]).interval is None


@pytest.mark.parametrize(
    ("judge", "gold", "weight", "message"),
    [
        ([1, 0], [-1, -1], None, "needs gold for at least one record"),
        ([1, 0], [1, -1], 1.5, r"weight lies in \[0, 1\], got 1.5"),
        ([1, 7], [1, -1], None, "labels must be 0 or 1"),
        ([1, 0], [1, np.nan], None, "gold must be 0, 1, or -1"),
    ],
)
def test_bad_input_is_refused(judge, gold, weight, message):
    with pytest.raises(StatisticsError, match=message):
        prediction_powered_rate(judge, gold, weight=weight)
