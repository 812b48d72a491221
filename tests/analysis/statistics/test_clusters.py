"""Clusters against statsmodels' cluster-robust regression, R's analysis of variance and numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp
from statsmodels.api import OLS

from ragmend.analysis import cluster_effects, cluster_mean_intervals
from ragmend.analysis.printing.notes import few_sources_note
from ragmend.analysis.statistics.clusters import fewest_sources
from ragmend.errors import StatisticsError

VALUES = np.array([1, 0, 0, -1, -1, 0, 1, 1, 0, 0])
SOURCES = np.array(["s1"] * 3 + ["s2"] * 2 + ["s3"] * 4 + ["s4"])
CLUSTERED = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 6)), min_size=8, max_size=40)


def effect(values, sources):
    (found,) = cluster_effects(np.asarray(values)[:, None], sources)
    return found


def test_variances_and_p_values_are_those_of_statsmodels():
    rng = np.random.default_rng(5)
    sources = rng.integers(0, 40, 150)
    values = rng.normal(0.2, 1, 150) + rng.normal(0, 0.6, 40)[sources]
    # OLS(values, ones).fit(use_t=False), and with use_t=True cluster-robust: statsmodels then
    # takes G - 1 degrees of freedom
    plain = OLS(values, np.ones(150)).fit(use_t=False)
    clustered = {"cov_type": "cluster", "cov_kwds": {"groups": sources}}
    robust = OLS(values, np.ones(150)).fit(**clustered, use_t=True)
    found = effect(values, sources)
    assert found.deff == pytest.approx(robust.cov_params()[0, 0] / plain.cov_params()[0, 0])
    assert found.p_wald == pytest.approx(plain.pvalues[0])
    assert found.p_cluster == pytest.approx(robust.pvalues[0])


def test_the_intraclass_correlation_and_design_effect_are_those_of_r():
    # R 4.2.2: a <- anova(lm(x ~ g)); msb <- a[1, 3]; msw <- a[2, 3]; m <- table(g); n <- sum(m)
    # m0 <- (n - sum(m^2) / n) / 3; (msb - msw) / (msb + (m0 - 1) * msw)
    # e <- tapply(x - mean(x), g, sum); (4/3 * sum(e^2)) / (10/9 * sum((x - mean(x))^2))
    found = effect(VALUES, SOURCES)
    assert found.icc == pytest.approx(0.552429667519, abs=1e-12)
    assert found.deff == pytest.approx(1.934693877551, abs=1e-12)


def test_with_one_record_a_source_nothing_is_clustered():
    found = effect([1, 0, 0, -1, 1], list("abcde"))
    assert found.deff == pytest.approx(1.0)
    assert found.icc is None
    # mean .2, variance (3 - 5 · .04) / (5 · 4) = .14: scipy.stats.ttest_1samp([1, 0, 0, -1, 1], 0)
    assert found.p_cluster == pytest.approx(ttest_1samp([1, 0, 0, -1, 1], 0).pvalue)


def test_two_sources_that_nearly_agree_prove_nothing():
    # Means -.5 and -.45, 20 records each: mean -.475, variance (.05 / 2)²; t = 19 with 1 degree
    # of freedom, p = 1 - 2 arctan(19) / π = .0335, where the normal distribution has 1.7e-80.
    values = [-1] * 10 + [0] * 10 + [-1] * 9 + [0] * 11
    found = effect(values, ["a"] * 20 + ["b"] * 20)
    assert found.p_cluster == pytest.approx(1 - 2 * np.arctan(19) / np.pi)


def test_the_fewest_sources_are_those_of_the_group_with_the_fewest():
    assert fewest_sources(["a", "a", "b", "c"]) == 3
    assert fewest_sources(["a", "a", "b", "c"], ["x", "x", "y", "y"]) == 2
    assert fewest_sources(["a", "a", "b"], ["x", "x", "y"]) == 0
    assert fewest_sources([]) == 0


@pytest.mark.parametrize(("n_sources", "covered"), [(5, 0.85), (10, 0.90), (20, 0.93)])
def test_intervals_over_few_sources_cover_as_rarely_as_their_note_says(n_sources, covered):
    stream, names = np.random.default_rng(8), range(n_sources)
    # Each column is one trial: sources whose true mean is 0, one record each.
    trials = cluster_mean_intervals(
        stream.normal(size=(n_sources, 4_000)), names, n_resamples=500, seed=1
    )
    hits = np.mean([found.low <= 0 <= found.high for found in trials])
    assert hits == pytest.approx(covered, abs=0.02)
    ratio = np.sqrt((n_sources - 1) / n_sources)
    assert 1 - 2 * t.sf(1.96 * ratio, n_sources - 1) == pytest.approx(covered, abs=0.006)
    assert f"{100 * covered:.0f} %" in few_sources_note(n_sources)


def test_records_of_one_source_that_differ_most_have_a_negative_correlation():
    # Four pairs (1, -1): MSB = 0, MSW = 8/4 = 2, ICC = (0 - 2) / (0 + (2 - 1) 2) = -1.
    found = effect([1, -1] * 4, list("aabbccdd"))
    assert (found.icc, found.deff) == (pytest.approx(-1.0), pytest.approx(0.0))
    assert found.p_cluster is None


def test_records_of_one_source_that_are_all_alike_count_once():
    # ICC 1; with m records in each of G sources the design effect is m (G - 1/m) / (G - 1).
    found = effect(np.repeat([1, 0, -1, 0, 1], 3), np.repeat(list("abcde"), 3))
    assert found.icc == pytest.approx(1.0)
    assert found.deff == pytest.approx(3 * (5 - 1 / 3) / 4)


def test_where_nothing_changed_all_is_undefined():
    assert effect([0] * 6, list("aabbcc")) == (None,) * 5
    assert effect([-1] * 6, list("aabbcc")) == (None,) * 5


def test_gemmas_repair_by_rewriting_falls_at_a_design_effect_of_2_34():
    values = [-1] * 18 + [1] * 4 + [0] * 894
    found = effect(values, np.arange(916) // 3)
    # z² = 14² / (22 - 14²/916) · 915/916 = 8.987; divided by 1.96² it is 2.339
    assert found.deff_critical == pytest.approx(2.339, abs=1e-3)


def test_one_source_tells_nothing():
    assert cluster_effects([[1], [0]], ["a", "a"]) is None
    assert cluster_mean_intervals([[1], [0]], ["a", "a"]) is None


def test_whole_sources_are_drawn_in_the_order_of_their_names():
    order = np.random.default_rng(1).permutation(len(VALUES))
    (found,) = cluster_mean_intervals(VALUES[order, None], SOURCES[order], n_resamples=500)
    draws_BG = np.random.default_rng(42).integers(0, 4, (500, 4))
    sums_G, sizes_G = np.array([1, -2, 2, 0]), np.array([3, 2, 4, 1])
    means_B = sums_G[draws_BG].sum(axis=1) / sizes_G[draws_BG].sum(axis=1)
    assert found == pytest.approx(tuple(np.quantile(means_B, [0.025, 0.975])), abs=1e-12)


def test_statistics_share_one_draw():
    both = cluster_mean_intervals(np.column_stack([VALUES, VALUES**2]), SOURCES, n_resamples=99)
    alone = cluster_mean_intervals((VALUES**2)[:, None], SOURCES, n_resamples=99)
    assert both[1] == alone[0]


@given(CLUSTERED)
def test_names_order_and_sign_of_the_values_change_nothing(pairs):
    values, sources = np.array(pairs).T
    found = cluster_effects(values[:, None], sources)
    mirrored = cluster_effects(-values[::-1, None], [f"source {name}" for name in sources[::-1]])
    if found is None:
        assert mirrored is None
    else:
        for one, other in zip(found[0], mirrored[0], strict=True):
            assert one == (None if other is None else pytest.approx(other, abs=1e-9))


@pytest.mark.parametrize(
    ("values", "sources", "name"),
    [
        ([[1.0], [np.nan]], ["a", "b"], "values_RS"),
        ([[1.0]], ["a", "b"], "sources_R"),
        ([1.0], ["a"], "values_RS"),
    ],
)
def test_what_is_not_finite_or_does_not_fit_is_refused(values, sources, name):
    with pytest.raises(StatisticsError, match=f"{name}: expected"):
        cluster_effects(values, sources)
