"""The prediction-powered rate, against ppi-python, algebra and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import prediction_powered_rate
from ragmend.errors import StatisticsError

# 40 records with gold (19 + 3 hallucinated, 8 + 10 clean), 60 without.
JUDGE = [1] * 19 + [0] * 3 + [1] * 8 + [0] * 10 + [1] * 35 + [0] * 25
GOLD = [1] * 22 + [0] * 18 + [-1] * 60
LABELS = st.lists(st.integers(0, 1), min_size=5, max_size=60)
GOLDS = LABELS.map(lambda labels: [1, 0] * 5 + labels)  # at least 5 of each kind


@pytest.mark.parametrize(
    ("weight", "rate", "low", "high"),
    [
        (1.0, 0.45833333333333337, 0.25715946656489563, 0.6595072001017711),
        (0.5, 0.5041666666666667, 0.35263248207672915, 0.6557008512566042),
        (None, 0.5260221243633276, 0.38089213489969465, 0.6711521138269606),
    ],
)
def test_rate_and_variance_are_those_of_ppi_python(weight, rate, low, high):
    # ppi-python 0.2.3, with Y and Yhat the 40, Yhat_unlabeled the 60:
    # ppi_mean_pointestimate(Y, Yhat, Yhat_unlabeled, lam=weight)
    # ppi_mean_ci(Y, Yhat, Yhat_unlabeled, alpha=.05, lam=weight)
    found = prediction_powered_rate(JUDGE, GOLD, weight=weight)
    assert found.rate == pytest.approx(rate, abs=1e-12)
    # There the normal quantile and variances with divisor n (40 and 60); here t of 39 degrees
    # of freedom and n − 1. The part of gold is the mean's variance by scipy.stats.sem(ddof=0).
    known, seen = np.array(GOLD[:40]), np.array(JUDGE[:40])
    of_gold = stats.sem(known - found.weight * seen, ddof=0) ** 2
    of_judge = ((high - low) / (2 * stats.norm.isf(0.025))) ** 2 - of_gold
    reach = stats.t.isf(0.025, 39) * (of_gold * 40 / 39 + of_judge * 60 / 59) ** 0.5
    assert found.interval == pytest.approx((rate - reach, rate + reach), abs=1e-12)
    assert found.status == "prediction-powered"


def test_with_gold_for_every_record_it_is_the_gold_rate_and_the_judge_counts_nothing():
    found = prediction_powered_rate(JUDGE[:40], GOLD[:40])
    assert (found.rate, found.weight) == (22 / 40, None)
    assert found.status == "gold rate: every record has gold"
    # proportion_confint(22, 40, method="wilson")
    assert found.interval == pytest.approx(proportion_confint(22, 40, method="wilson"))


def test_a_weight_of_zero_is_the_gold_alone():
    found = prediction_powered_rate(JUDGE, GOLD, weight=0)
    assert found.rate == 22 / 40
    # scipy.stats.t.interval(.95, 39, mean, sem): the mean of 40 golds
    expected = stats.t.interval(0.95, 39, 22 / 40, stats.sem(GOLD[:40]))
    assert found.interval == pytest.approx(expected)


@given(GOLDS, LABELS)
def test_a_perfect_judge_gives_the_interval_of_gold_for_every_record(known, unknown):
    n, m = len(known), len(unknown)
    judge, gold = [*known, *unknown], [*known, *[-1] * m]
    share = np.mean(judge)
    found = prediction_powered_rate(judge, gold)
    # λ estimates m/(n + m) from samples, so that it is near it and not on it.
    expected = np.var(known) / np.var(judge, ddof=1) * m / (n + m)
    if found.weight is not None:
        assert found.weight == pytest.approx(min(1, expected))
    best = prediction_powered_rate(judge, gold, weight=m / (n + m))
    assert best.rate == pytest.approx(share)
    # Within both samples, each mean's variance by scipy.stats.sem.
    within = ((n * stats.sem(known)) ** 2 + (m * stats.sem(unknown)) ** 2) / (n + m) ** 2
    reach = stats.t.isf(0.025, n - 1) * within**0.5
    assert best.interval == pytest.approx((max(0, share - reach), min(1, share + reach)))


@given(GOLDS, st.randoms(use_true_random=False), st.sampled_from([None, 0.0, 0.5, 1.0]))
def test_what_is_given_lies_in_0_and_1_and_has_a_width(known, random, weight):
    judge = [random.randint(0, 1) for _ in range(2 * len(known))]
    found = prediction_powered_rate(judge, [*known, *[-1] * len(known)], weight=weight)
    if found.status != "prediction-powered":
        assert (found.rate, found.interval, found.weight) == (None, None, None)
        assert found.status.startswith("refused: ")
        return
    assert 0 <= found.weight <= 1
    assert 0 <= found.interval.low <= found.rate <= found.interval.high <= 1
    assert found.interval.low < found.interval.high


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


@pytest.mark.parametrize(("positives", "negatives"), [(4, 40), (40, 4), (0, 9), (0, 0)])
def test_too_few_golds_of_a_kind_are_refused(positives, negatives):
    gold = [1] * positives + [0] * negatives + [-1] * 50
    found = prediction_powered_rate([1, 0] * (len(gold) // 2) + [1] * (len(gold) % 2), gold)
    reason = "refused: gold has fewer than 5 answers of a kind"
    assert found == (None, None, None, reason)


def test_an_estimate_outside_0_and_1_is_refused():
    # Half of 20 golds are 1 where the judge sees 4 of 20, and 190 of 190 elsewhere:
    # .5 + 1 · (1 − .2) = 1.3.
    judge = [1] * 4 + [0] * 16 + [1] * 190
    gold = [1] * 10 + [0] * 10 + [-1] * 190
    found = prediction_powered_rate(judge, gold, weight=1)
    assert found == (None, None, None, "refused: the formula leaves [0, 1]")


def test_an_interval_without_a_width_is_refused():
    gold = [1] * 10 + [0] * 10
    found = prediction_powered_rate([*gold, *[1] * 30], [*gold, *[-1] * 30], weight=1)
    assert found.rate is None
    assert found.status == "refused: no label differs from what the judge's weight makes of it"


def test_one_record_without_gold_is_no_certainty():
    gold = [1] * 10 + [0] * 10
    found = prediction_powered_rate([*gold, 1], [*gold, -1], weight=0.5)
    # .5 + .5 (1 − .5) = .75; the one label's variance is taken as 1/4.
    deviation = (stats.sem([label / 2 for label in gold]) ** 2 + 0.5**2 / 4) ** 0.5
    assert found.interval == pytest.approx((0.75 - stats.t.isf(0.025, 19) * deviation, 1))


@pytest.mark.parametrize(("n_gold", "least"), [(30, 0.85), (50, 0.93)])
def test_with_few_golds_of_a_rare_kind_what_is_given_still_covers(n_gold, least):
    # A tenth hallucinated; without the minimum and t it was .85 to .90.
    stream = np.random.default_rng(6)
    covers = []
    for _ in range(1200):
        truth = stream.random(500) < 0.1
        judge = np.where(truth, stream.random(500) < 0.8, stream.random(500) < 0.1).astype(int)
        gold = np.where(np.arange(500) < n_gold, truth, -1).astype(int)
        found = prediction_powered_rate(judge, gold)
        if found.interval is not None:
            covers.append(found.interval.low <= 0.1 <= found.interval.high)
    assert len(covers) >= 150
    assert np.mean(covers) >= least


@pytest.mark.parametrize(
    ("judge", "gold", "weight", "message"),
    [
        ([1, 0], [1, -1], 1.5, "weight: .* got 1.5"),
        ([1, 7], [1, -1], None, "judge_R: a label must be 0 or 1"),
        ([1, 0], [1, np.nan], None, "gold_R: must be 0, 1, or -1"),
    ],
)
def test_bad_input_is_refused(judge, gold, weight, message):
    with pytest.raises(StatisticsError, match=message):
        prediction_powered_rate(judge, gold, weight=weight)
