import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from ragmend.analysis.statistics.welch_power import runs_needed, welch_power
from ragmend.errors import StatisticsError

SD_7B, SD_13B, DIFF = 6.015743234768806, 0.9327379053088795, 3.925  # arXiv 2608.29307, Table 1


def test_the_papers_difference_has_16_percent_power_and_needs_21_seeds_an_arm():
    assert f"{100 * welch_power(DIFF, SD_7B, SD_13B, 4, 4):.0f}" == "16"
    assert runs_needed(DIFF, SD_7B, SD_13B) == 21


@pytest.mark.parametrize(
    ("diff", "sd_a", "sd_b", "n_a", "n_b"),
    [(DIFF, SD_7B, SD_13B, 4, 4), (3.0, 1.0, 2.0, 3, 6), (2.0, 1.0, 1.0, 2, 2)],
)
def test_power_is_the_share_of_simulated_tests_that_reject(diff, sd_a, sd_b, n_a, n_b):
    rng = np.random.default_rng(8)
    a, b = rng.normal(0, sd_a, (100_000, n_a)), rng.normal(diff, sd_b, (100_000, n_b))
    # The outside check: scipy.stats.ttest_ind(b, a, axis=1, equal_var=False) on drawn scores.
    share = (stats.ttest_ind(b, a, axis=1, equal_var=False).pvalue < 0.05).mean()
    assert welch_power(diff, sd_a, sd_b, n_a, n_b) == pytest.approx(share, abs=0.005)


def test_with_equal_deviations_and_many_runs_it_is_students_power():
    # The outside check: statsmodels.stats.power.TTestIndPower, whose limit Welch's test shares.
    theirs = TTestIndPower().power(effect_size=0.4, nobs1=100, alpha=0.05, ratio=1.0)
    assert welch_power(0.4, 1.0, 1.0, 100, 100) == pytest.approx(theirs, abs=5e-4)
    assert runs_needed(0.4, 1.0, 1.0) == 100  # solve_power(0.4, power=.8): 99.08


def test_without_a_difference_it_is_the_level_of_the_test():
    assert welch_power(0.0, 1.0, 1.0, 50, 50) == pytest.approx(0.05, abs=1e-3)
    assert runs_needed(0.0, 1.0, 1.0) is None


def test_a_model_whose_seeds_change_nothing_leaves_a_one_sample_t_test():
    # One-sample t with n = 4: noncentral t, 3 df, noncentrality 2 · √4 / 1.
    bound = stats.t.ppf(0.975, 3)
    theirs = stats.nct.sf(bound, 3, 4.0) + stats.nct.cdf(-bound, 3, 4.0)
    assert welch_power(2.0, 1.0, 0.0, 4, 4) == pytest.approx(theirs, abs=1e-4)


def test_a_difference_far_beyond_the_deviations_is_certain():
    assert welch_power(1000.0, 1.0, 1.0, 3, 3) == pytest.approx(1.0)
    assert runs_needed(1000.0, 1.0, 1.0) == 2


def test_undefined_power_is_none():
    assert welch_power(1.0, 1.0, 1.0, 1, 5) is None
    assert welch_power(1.0, 0.0, 0.0, 5, 5) is None
    assert runs_needed(1.0, 0.0, 0.0) is None


def test_what_power_cannot_be_computed_of_is_refused():
    with pytest.raises(StatisticsError, match="finite"):
        welch_power(float("nan"), 1.0, 1.0, 3, 3)
    with pytest.raises(StatisticsError, match=r"sd_a: expected .* at least 0"):
        welch_power(1.0, -1.0, 1.0, 3, 3)
    with pytest.raises(StatisticsError, match="power: expected a level"):
        runs_needed(1.0, 1.0, 1.0, power=80)
