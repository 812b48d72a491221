"""Rates corrected for a judge's errors, against outside programs, algebra and the bootstrap."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from ragmend.analysis import (
    judge_corrected_rate,
    judge_error,
    rogan_gladen,
    true_rate,
    youden_interval,
)
from ragmend.analysis.statistics.judge_error import JudgeError
from ragmend.errors import StatisticsError

BY_CHANCE = "refused: the judge is no better than chance"
IMPOSSIBLE = "refused: the formula leaves [0, 1]"
RATES = st.fractions(0, 1, max_denominator=1000)


def labels_of(counts: dict[tuple[int, ...], int]) -> list[np.ndarray]:
    """Return one array a place in the keys, each key repeated so many times."""
    return list(np.repeat(list(counts), list(counts.values()), axis=0).T)


@given(RATES, RATES, RATES)
def test_the_correction_inverts_what_the_errors_do(rate, sensitivity, specificity):
    assume(sensitivity + specificity != 1)
    judged = rate * sensitivity + (1 - rate) * (1 - specificity)
    assert true_rate(judged, sensitivity=sensitivity, specificity=specificity) == rate


@given(RATES)
def test_a_judge_without_errors_is_left_alone(rate):
    assert true_rate(rate, sensitivity=Fraction(1), specificity=Fraction(1)) == rate


def test_labels_that_say_nothing_are_refused():
    with pytest.raises(StatisticsError, match="say nothing of the rate"):
        true_rate(Fraction(1, 2), sensitivity=Fraction(3, 4), specificity=Fraction(1, 4))


@pytest.mark.parametrize(
    ("positives", "n", "sensitivity", "specificity", "rate", "low", "high"),
    [
        (142, 742, (45, 50), (70, 75), Fraction(1388, 9275), 0.06433401658, 0.21289299604),
        (10, 200, (19, 20), (792, 800), Fraction(2, 47), 0.01669100157, 0.09141382036),
    ],
)
def test_the_interval_is_that_of_asht(positives, n, sensitivity, specificity, rate, low, high):
    # The computation of asht::prevSeSp (Fay, after Lang and Reiczigel 2014), run in R 4.2.2:
    # prevSeSp(142/742, 742, 45/50, 50, 70/75, 75); prevSeSp(10/200, 200, .95, 20, .99, 800)
    found = rogan_gladen(positives, n, sensitivity=sensitivity, specificity=specificity)
    assert found.rate == rate
    assert found.interval == pytest.approx((low, high), abs=1e-10)


def test_the_interval_covers_the_true_rate_about_as_often_as_it_says():
    stream = np.random.default_rng(1)
    rate, sensitivity, specificity, n, n_error = 0.3, 0.85, 0.9, 400, 80
    judged = rate * sensitivity + (1 - rate) * (1 - specificity)
    draws = zip(
        stream.binomial(n, judged, 600),
        stream.binomial(n_error, sensitivity, 600),
        stream.binomial(n_error, specificity, 600),
        strict=True,
    )
    intervals = [
        rogan_gladen(int(k), n, sensitivity=(int(se), n_error), specificity=(int(sp), n_error))[1]
        for k, se, sp in draws
    ]
    assert 0.93 <= np.mean([low <= rate <= high for low, high in intervals]) <= 0.98


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"positives": 5, "n": 4}, "positives, n: expected a count and its total, got 5 of 4"),
        ({"sensitivity": (0, 0)}, "sensitivity: expected a whole number from 1 .* got 0"),
        ({"specificity": (-1, 3)}, "specificity: expected"),
        ({"specificity": (1, 10)}, "no better than chance"),
        ({"sensitivity": (1, 1), "specificity": (10, 1000)}, "too few answers with gold to tell"),
    ],
)
def test_counts_that_do_not_fit_are_refused(counts, message):
    given_counts = {"positives": 1, "n": 4, "sensitivity": (9, 10), "specificity": (8, 10)}
    with pytest.raises(StatisticsError, match=message):
        rogan_gladen(**(given_counts | counts))


def test_a_judges_errors_are_counted_where_there_is_gold():
    judge, gold = labels_of({(1, 1): 4, (0, 1): 1, (1, 0): 2, (0, 0): 3, (1, -1): 5, (0, -1): 6})
    error = judge_error(judge, gold)
    assert error == (5, 4, 5, 3)
    assert (error.sensitivity, error.specificity) == (Fraction(4, 5), Fraction(3, 5))
    assert error.youden == Fraction(2, 5)


def test_youdens_interval_is_newcombes_from_wilsons_ends():
    error = JudgeError(positives=40, true_positives=36, negatives=30, true_negatives=21)
    se, fp = 36 / 40, 9 / 30
    # statsmodels proportion_confint(count, n, method="wilson"), combined by square and add.
    (l1, u1), (l2, u2) = (
        proportion_confint(36, 40, method="wilson"), proportion_confint(9, 30, method="wilson")
    )  # fmt: skip
    low = se - fp - ((se - l1) ** 2 + (u2 - fp) ** 2) ** 0.5
    high = se - fp + ((u1 - se) ** 2 + (fp - l2) ** 2) ** 0.5
    assert youden_interval(error) == pytest.approx((low, high))
    assert youden_interval(error._replace(positives=0, true_positives=0)) is None


@given(st.lists(st.integers(1, 40), min_size=4, max_size=4))
def test_with_gold_for_every_record_the_corrected_rate_is_the_gold_rate(counts):
    tp, fn, fp, tn = counts
    assume(tp * tn > fn * fp)  # better than chance
    judge, gold = labels_of({(1, 1): tp, (0, 1): fn, (1, 0): fp, (0, 0): tn})
    found = judge_corrected_rate(judge, gold)
    assert found.status == "corrected"
    assert found.corrected == found.raw == Fraction(tp + fn, sum(counts))
    # proportion_confint(tp + fn, n, method="wilson")
    expected = proportion_confint(tp + fn, sum(counts), method="wilson")
    assert found.interval == pytest.approx(expected)


def test_the_rate_of_other_answers_has_lang_and_reiczigels_interval():
    judge, gold = labels_of({(1, 1): 45, (0, 1): 5, (1, 0): 5, (0, 0): 70, (1, -1): 30})
    other = [1] * 142 + [0] * 600 + [-1] * 8
    found = judge_corrected_rate(judge, gold, other_R=other)
    assert found.status == "corrected, if error rates carry over"
    assert found.judged == Fraction(142, 742)
    assert found.corrected == Fraction(1388, 9275)
    # The first value of asht above, R 4.2.2: prevSeSp(142/742, 742, 45/50, 50, 70/75, 75)
    assert found.interval == pytest.approx((0.06433401658, 0.21289299604), abs=1e-10)


def test_the_interval_of_partial_gold_is_as_wide_as_the_bootstraps():
    judge, gold = labels_of(
        {(1, 1): 100, (0, 1): 15, (1, 0): 20, (0, 0): 75, (1, -1): 100, (0, -1): 140}
    )
    found = judge_corrected_rate(judge, gold)
    assert found.status == "corrected"
    stream = np.random.default_rng(3)
    rates = []
    for _ in range(1000):
        rows = stream.integers(0, len(judge), len(judge))
        rates.append(float(judge_corrected_rate(judge[rows], gold[rows]).raw))
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(2 * 1.96 * np.std(rates), rel=0.07)
    assert found.interval.low < found.corrected < found.interval.high


@pytest.mark.parametrize("other", [None, [1, 0] * 100])
def test_no_error_seen_in_few_golds_is_not_taken_for_no_error(other):
    judge, gold = labels_of({(1, 1): 10, (0, 0): 10, (1, -1): 90, (0, -1): 90})
    found = judge_corrected_rate(judge, gold, other_R=other)
    assert found.corrected == Fraction(1, 2)
    # Of 200 labels taken as gold: 1.96 √(.25 / 200) = .069 either way.
    assert found.interval.low < 0.5 - 0.069
    assert found.interval.high > 0.5 + 0.069


def simulated_coverage(rate, sensitivity, specificity, n, n_gold, repaired):
    """Return how often the interval holds the rate, repaired answers being half as bad."""
    stream = np.random.default_rng(4)
    covers = []
    for _ in range(300):
        truth = stream.random(n) < rate
        after = truth & (stream.random(n) < 0.5)
        judge, other = (
            np.where(is_bad, stream.random(n) < sensitivity, stream.random(n) > specificity)
            for is_bad in (truth, after)
        )
        gold = np.where(np.arange(n) < n_gold, truth, -1)
        other_R = other.astype(int) if repaired else None
        found = judge_corrected_rate(judge.astype(int), gold.astype(int), other_R=other_R)
        if found.interval is not None:
            expected = rate / 2 if repaired else rate
            covers.append(found.interval.low <= expected <= found.interval.high)
    assert len(covers) >= 150
    return np.mean(covers)


@pytest.mark.parametrize("repaired", [False, True])
@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "n", "n_gold"),
    [(0.5, 0.8, 0.8, 500, 20), (0.5, 0.97, 0.97, 500, 20), (0.1, 0.8, 0.9, 500, 100)],
)
def test_with_few_golds_the_interval_still_covers(
    repaired, rate, sensitivity, specificity, n, n_gold
):
    # With the plain delta method, repaired: .53 to .80.
    found = simulated_coverage(rate, sensitivity, specificity, n, n_gold, repaired)
    assert found >= 0.92


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({(1, 0): 3, (0, 0): 4}, "refused: no answer hallucinated by gold, so no sensitivity"),
        ({(1, 1): 3, (0, 1): 4}, "refused: no answer clean by gold, so no specificity"),
        ({(1, -1): 3}, "refused: no answer hallucinated by gold, so no sensitivity"),
        ({(1, 1): 2, (0, 1): 8, (1, 0): 8, (0, 0): 2}, BY_CHANCE),
        ({(1, 1): 5, (0, 1): 5, (1, 0): 5, (0, 0): 5}, BY_CHANCE),
        (
            {(1, 1): 6, (0, 1): 4, (1, 0): 5, (0, 0): 5, (1, -1): 11, (0, -1): 9},
            "refused: the judge is not shown to be better than chance",
        ),
        ({(1, 1): 19, (0, 1): 1, (1, 0): 1, (0, 0): 19, (1, -1): 400}, IMPOSSIBLE),
    ],
)  # fmt: skip
def test_what_would_mean_nothing_is_refused_with_the_reason(counts, status):
    found = judge_corrected_rate(*labels_of(counts))
    assert found.status == status
    assert (found.corrected, found.interval) == (None, None)


def test_a_rate_outside_0_and_1_is_shown_but_not_given_as_corrected():
    judge, gold = labels_of({(1, 1): 36, (0, 1): 4, (1, 0): 20, (0, 0): 20})
    found = judge_corrected_rate(judge, gold, other_R=np.zeros(80, dtype=int))
    # (0 + 1/2 − 1) / (9/10 + 1/2 − 1) = −5/4
    assert (found.raw, found.corrected) == (Fraction(-5, 4), None)


def test_where_every_other_answer_is_empty_nothing_was_judged():
    judge, gold = labels_of({(1, 1): 36, (0, 1): 4, (1, 0): 20, (0, 0): 20})
    found = judge_corrected_rate(judge, gold, other_R=np.full(80, -1))
    assert found == (None, None, None, None, "refused: no answer was judged")


@pytest.mark.parametrize(
    ("judge", "gold", "other", "message"),
    [
        ([1, 2], [1, 0], None, "judge_R: a label must be 0 or 1"),
        ([1, 0], [1, 3], None, "gold_R: must be 0, 1, or -1"),
        ([1, 0], [1], None, "2 in judge_R and 1 in gold_R"),
        ([], [], None, "judge_R: expected at least 1"),
        ([1, 0], [1, 0], [[1]], "other_R: expected one row"),
        ([1, 0], [1, 0], [1, np.nan], "other_R: must be 0, 1"),
    ],
)
def test_what_is_no_label_is_refused(judge, gold, other, message):
    with pytest.raises(StatisticsError, match=message):
        judge_corrected_rate(judge, gold, other_R=other)


@settings(max_examples=150, deadline=None)
@given(
    hits=st.integers(0, 30),
    misses=st.integers(0, 30),
    right=st.integers(0, 30),
    wrong=st.integers(0, 30),
    flagged=st.integers(0, 400),
)
def test_a_corrected_rate_lies_in_its_own_interval(hits, misses, right, wrong, flagged):
    gold = [1] * (hits + misses) + [0] * (right + wrong)
    judge = [1] * hits + [0] * misses + [0] * right + [1] * wrong
    if not gold:
        return
    other = np.array([1] * flagged + [0] * (400 - flagged))
    found = judge_corrected_rate(np.array(judge), np.array(gold), other_R=other)
    if found.corrected is None:
        assert found.interval is None
        return
    assert 0 <= found.interval.low <= found.corrected <= found.interval.high <= 1
    assert found.interval.low < found.interval.high
