"""Equivalence and power of paired rates, against published examples and exact enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm
from statsmodels.stats.power import normal_sample_size_one_tail

from ragmend.analysis import detectable_difference, paired_equivalence, records_needed
from ragmend.analysis.statistics.equivalence import verdict
from ragmend.errors import StatisticsError


@st.composite
def paired_counts(draw):
    n = draw(st.integers(1, 2000))
    b = draw(st.integers(0, n))
    return b, draw(st.integers(0, n - b)), n


def exact_power(n: int, discordance: float, difference: float) -> float:
    """Enumerate the power of the exact two-sided McNemar test at 5 %."""
    discordant_M = np.arange(n + 1)
    critical_M = binom.ppf(0.025, discordant_M, 0.5)
    critical_M -= binom.cdf(critical_M, discordant_M, 0.5) > 0.025
    p = (discordance + difference) / (2 * discordance)
    rejects_M = binom.cdf(critical_M, discordant_M, p)
    rejects_M += binom.sf(discordant_M - critical_M - 1, discordant_M, p)
    return float(binom.pmf(discordant_M, n, discordance) @ rejects_M)


def test_the_published_example_of_the_score_test_comes_out():
    # Tango 1998, section 5 (soft contact lenses): 44 patients, one discordant pair, margin .1:
    # Z = 1.709, one-sided p = .044.
    found = paired_equivalence(1, 0, 44, margin_pp=10)
    assert norm.isf(found.p) == pytest.approx(1.709, abs=5e-4)
    assert found.p == pytest.approx(0.044, abs=5e-4)


def test_without_discordant_pairs_the_score_is_as_by_hand():
    # z = −n·δ / √(n·δ(1 − δ)) with n = 100, δ = .05: −√(100 · .05 / .95) = −2.294
    found = paired_equivalence(0, 0, 100, margin_pp=5)
    assert found.p == pytest.approx(norm.cdf(-math.sqrt(100 * 0.05 / 0.95)))
    # One record shows nothing, though Wald's variance would be 0.
    assert paired_equivalence(0, 0, 1, margin_pp=5).p > 0.4


@given(paired_counts(), st.floats(0.5, 60))
def test_the_interval_lies_within_the_margin_exactly_where_the_test_rejects(counts, margin_pp):
    b, c, n = counts
    found = paired_equivalence(b, c, n, margin_pp=margin_pp)
    distance = margin_pp - max(-found.interval.low, found.interval.high)
    if abs(distance) > 1e-6:
        assert (distance > 0) == (found.p < 0.05)


@given(paired_counts(), st.floats(0.5, 60))
def test_swapping_the_conditions_changes_no_p(counts, margin_pp):
    b, c, n = counts
    there = paired_equivalence(b, c, n, margin_pp=margin_pp)
    back = paired_equivalence(c, b, n, margin_pp=margin_pp)
    assert there.p == pytest.approx(back.p, rel=1e-9)
    assert there.interval.low == pytest.approx(-back.interval.high, abs=1e-9)


def test_at_the_margin_the_test_keeps_its_level():
    # By enumeration of (b, c): n = 600, of which 10 % change 1 → 0 and 5 % 0 → 1: the
    # difference is the margin of 5 points, so that "equivalent" is wrong.
    n, margin_pp = 600, 5
    rejected = sum(
        binom.pmf(b, n, 0.10) * binom.pmf(c, n - b, 0.05 / 0.90)
        for b in range(36, 86)
        for c in range(12, 50)
        if paired_equivalence(b, c, n, margin_pp=margin_pp).p < 0.05
    )
    assert 0.045 < rejected < 0.055


def test_the_published_sample_size_comes_out():
    # TrialSize 1.4.1 (R): McNemar.Test(0.05, 0.2, 0.2/0.5, 0.7) = 58.63224, of p10 = .2 and
    # p01 = .5 (Chow, Shao and Wang, Sample Size Calculations in Clinical Research).
    assert records_needed(20, 50, 100, power=0.8) == 59
    # powerandsamplesize.com, McNemar's Z-test, 2-sided, after Connor 1987: p01 = .45, p10 = .05,
    # power .8: n = 23.
    assert records_needed(5, 45, 100, power=0.8) == 23


@pytest.mark.parametrize("discordant", [22, 63, 292])
@pytest.mark.parametrize("power", [0.3, 0.8, 0.95])
def test_the_detectable_difference_is_the_one_that_needs_these_records(discordant, power):
    n = 916
    difference = detectable_difference(discordant, n, power=power) / 100
    psi = discordant / n
    # normal_sample_size_one_tail(diff, power, .025, std_null=√ψ, std_alternative=√(ψ − δ²))
    needed = normal_sample_size_one_tail(
        difference, power, 0.025, std_null=psi**0.5, std_alternative=(psi - difference**2) ** 0.5
    )
    assert needed == pytest.approx(n)


@pytest.mark.parametrize("discordant", [22, 63, 292])
def test_the_exact_test_has_about_the_promised_power(discordant):
    n = 916
    difference = detectable_difference(discordant, n, power=0.8) / 100
    found = exact_power(n, discordant / n, difference)
    assert 0.77 < found < 0.80  # the formula is that of the test without correction


def test_the_records_needed_give_about_the_promised_power():
    # Of 100 records 20 changed one way and 10 the other.
    n = records_needed(20, 10, 100, power=0.8)
    assert 0.77 < exact_power(n, 0.30, 0.10) < 0.82


def test_fewer_records_than_let_six_change_show_nothing():
    # All change one way: the formula asks for 1.96² = 3.84, the exact test for six.
    assert records_needed(2, 0, 2, power=0.8) == 6
    assert records_needed(0, 10, 15, power=0.5) == 9


def test_what_cannot_be_detected_is_undefined():
    assert detectable_difference(0, 916, power=0.8) is None
    assert detectable_difference(3, 916, power=0.8) is None  # 3 to 0 has p = .25
    assert detectable_difference(5, 5, power=0.8) is None  # 5 to 0 has p = .0625
    assert detectable_difference(6, 6, power=0.8) > 90
    assert records_needed(7, 7, 100, power=0.8) is None


@given(paired_counts(), st.floats(0.05, 0.95), st.floats(0.1, 50))
def test_every_pair_of_tests_has_one_verdict_and_none_says_that_nothing_differs(
    counts, p_difference, margin_pp
):
    b, c, n = counts
    p_equivalence = paired_equivalence(b, c, n, margin_pp=margin_pp).p
    found = verdict(p_difference, p_equivalence)
    assert found == ("equivalent" if p_equivalence < 0.05 else "undecided")
    found = verdict(p_difference / 20 - 1e-9, p_equivalence)
    assert found.startswith("different")
    assert found.endswith("within the margin") == (p_equivalence < 0.05)


@pytest.mark.parametrize(
    ("b", "c", "n", "message"),
    [(-1, 0, 5, "b: .* got -1"), (3, 3, 5, "b = 3, c = 3, n = 5"), (0, 0, 0, "n: .* got 0")],
)
def test_counts_that_do_not_fit_are_refused(b, c, n, message):
    with pytest.raises(StatisticsError, match=message):
        paired_equivalence(b, c, n, margin_pp=5)
    with pytest.raises(StatisticsError, match=message):
        records_needed(b, c, n, power=0.8)


@pytest.mark.parametrize("value", [0, 100, math.nan])
def test_a_margin_or_power_out_of_range_is_refused(value):
    with pytest.raises(StatisticsError, match="margin_pp: "):
        paired_equivalence(1, 2, 10, margin_pp=value)
    with pytest.raises(StatisticsError, match="power: expected a level"):
        detectable_difference(5, 10, power=value)
    with pytest.raises(StatisticsError, match="power: expected a level"):
        records_needed(1, 2, 10, power=value)


@pytest.mark.parametrize("power", [1e-17, 0.01, 0.05])
def test_a_power_that_takes_no_difference_is_refused(power):
    with pytest.raises(StatisticsError, match="power: "):
        detectable_difference(10, 30, power=power)
    with pytest.raises(StatisticsError, match="power: "):
        records_needed(1, 9, 30, power=power)
