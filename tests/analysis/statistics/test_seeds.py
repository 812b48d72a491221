import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragmend.analysis.statistics.seeds import (
    f1_standard_error,
    permutation_p,
    seed_correlation,
    superiority,
    welch_test,
)
from ragmend.errors import StatisticsError

# arXiv 2608.29307, Table 1; the last of each model is unusable in one of them.
USABLE_7B, USABLE_13B = [78.5, 78.8, 66.0, 76.0], [77.5, 79.6, 78.6, 79.3]
ALL_7B, ALL_13B = [*USABLE_7B, 1.3], [41.4, *USABLE_13B]

scores = st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=2, max_size=5)


@pytest.mark.parametrize(
    ("a", "b", "diff", "t", "df", "p", "low", "high"),
    [
        (USABLE_7B, USABLE_13B, 3.925, 1.2895, 3.144, 0.2839, -5.515, 13.365),
        (ALL_7B, ALL_13B, 11.16, 0.6698, 5.898, 0.5283, -29.78, 52.10),
    ],
)
def test_welch_on_the_papers_seeds_is_the_papers(a, b, diff, t, df, p, low, high):
    found = welch_test(a, b)
    assert found.diff == pytest.approx(diff)
    assert found.t == pytest.approx(t, abs=5e-5)
    assert found.df == pytest.approx(df, abs=5e-4)
    assert found.p == pytest.approx(p, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, high), abs=5e-3)


@given(scores, scores, st.sampled_from([0.8, 0.95]))
def test_welch_is_scipys(a, b, confidence):
    found = welch_test(a, b, confidence=confidence)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return  # scipy warns of lost precision there; below
    # The outside check: scipy.stats.ttest_ind(b, a, equal_var=False).confidence_interval().
    theirs = stats.ttest_ind(b, a, equal_var=False)
    assert (found.t, found.df, found.p) == pytest.approx(
        (theirs.statistic, theirs.df, theirs.pvalue), abs=1e-9
    )
    assert tuple(found.interval) == pytest.approx(
        tuple(theirs.confidence_interval(confidence)), abs=1e-9
    )


def test_one_model_whose_seeds_change_nothing_leaves_the_others_degrees_of_freedom():
    # s²_A = 0: t = (2 − 5) / √(s²_B / 3) with s²_B = 1, df = 3 − 1.
    found = welch_test([5.0, 5.0], [1.0, 2.0, 3.0])
    assert (found.t, found.df) == pytest.approx((-3 * math.sqrt(3), 2.0))


@pytest.mark.parametrize(("a", "b"), [([70.0], [71.0, 72.0]), ([], [1.0, 2.0]), ([5, 5], [7, 7])])
def test_without_any_spread_or_a_second_run_welch_is_undefined(a, b):
    assert welch_test(a, b) is None


def test_the_permutation_p_counts_every_assignment():
    tenths = [round(10 * score) for score in (*USABLE_7B, *USABLE_13B)]  # whole numbers: exact
    distances = [abs(sum(tenths) - 2 * sum(chosen)) for chosen in combinations(tenths, 4)]
    hits = sum(distance >= distances[0] for distance in distances)  # the first is as observed
    assert (hits, len(distances)) == (14, 70)
    assert permutation_p(USABLE_7B, USABLE_13B) == pytest.approx(14 / 70)


def test_the_permutation_p_of_complete_separation_is_two_of_all():
    # Of C(6, 3) = 20 assignments only the observed and its mirror lie as far apart.
    assert permutation_p([1, 2, 3], [7, 8, 9]) == pytest.approx(2 / 20)


@given(scores, scores)
def test_the_permutation_p_does_not_depend_on_which_model_is_first(a, b):
    assert permutation_p(a, b) == pytest.approx(permutation_p(b, a))


def test_equal_scores_give_a_permutation_p_of_one():
    assert permutation_p([5.0, 5.0], [5.0, 5.0]) == 1.0
    assert permutation_p([5.0], [5.0, 6.0]) is None


def test_many_runs_are_drawn_from_their_seed():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=12), rng.normal(size=12) + 0.6
    first = permutation_p(a, b, seed=1)
    assert first == permutation_p(a, b, seed=1) != permutation_p(a, b, seed=2)
    assert first == pytest.approx(stats.ttest_ind(a, b).pvalue, abs=0.02)  # same limit


@given(scores, scores)
def test_superiority_is_mann_and_whitneys_u_over_all_pairs(a, b):
    # The outside check: scipy.stats.mannwhitneyu(b, a).statistic / (len(a) * len(b)).
    u = stats.mannwhitneyu(b, a, method="asymptotic").statistic if {*a} != {*b} else None
    if u is not None:
        assert float(superiority(a, b)) == pytest.approx(u / (len(a) * len(b)))
    assert superiority(a, b) + superiority(b, a) == 1


def test_superiority_counts_ties_half():
    assert superiority([1, 2], [2, 3]) == Fraction(7, 8)
    assert superiority([], [1]) is None


def test_the_papers_models_correlate_negatively_over_five_seeds():
    # The outside check: numpy.corrcoef and scipy.stats.pearsonr on seeds 13, 21, 42, 84, 100.
    found = seed_correlation(ALL_7B, ALL_13B)
    assert found == pytest.approx(stats.pearsonr(ALL_7B, ALL_13B).statistic)
    assert f"{found:.2f}" == "-0.33"


@pytest.mark.parametrize(("a", "b"), [([1, 2], [3, 4]), ([1, 1, 1], [1, 2, 3]), ([], [])])
def test_a_correlation_of_two_seeds_or_of_a_constant_is_undefined(a, b):
    assert seed_correlation(a, b) is None


def test_the_item_error_of_the_papers_detector_is_about_a_point():
    # 4 · 740 · 379 · 1119 / 1859⁴ = 1.0511e-4, its root .010252.
    assert 100 * f1_standard_error(740, 176, 203) == pytest.approx(1.0252, abs=1e-4)


def test_the_item_error_is_what_multinomial_samples_show():
    counts = np.random.default_rng(3).multinomial(
        2700, np.array([740, 176, 203, 1581]) / 2700, size=40_000
    )
    f1 = 2 * counts[:, 0] / (2 * counts[:, 0] + counts[:, 1] + counts[:, 2])
    assert f1.std() == pytest.approx(f1_standard_error(740, 176, 203), rel=0.02)


@pytest.mark.parametrize("counts", [(0, 3, 4), (5, 0, 0), (0, 0, 0)])
def test_the_item_error_of_an_f1_at_its_end_is_undefined(counts):
    assert f1_standard_error(*counts) is None


def test_what_is_no_score_is_refused():
    for function in (welch_test, permutation_p, superiority, seed_correlation):
        with pytest.raises(StatisticsError, match="finite"):
            function([1.0, float("nan"), 3.0], [1.0, 2.0, 3.0])
    with pytest.raises(StatisticsError, match="3 in scores_a_S and 2 in scores_b_S"):
        seed_correlation([1, 2, 3], [1, 2])
    with pytest.raises(StatisticsError, match="fp: expected a whole number"):
        f1_standard_error(1, -1, 0)
    with pytest.raises(StatisticsError, match="level"):
        welch_test([1, 2], [2, 3], confidence=95)
