"""McNemar's exact test against statsmodels, R, whole numbers and hand arithmetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar

from ragmend.analysis import exact_mcnemar
from ragmend.errors import StatisticsError

COUNTS = st.integers(0, 300)


@given(b=COUNTS, c=COUNTS)
def test_mcnemar_agrees_with_statsmodels(b, c):
    # mcnemar([[0, b], [c, 0]], exact=True).pvalue
    expected = mcnemar([[0, b], [c, 0]], exact=True).pvalue if b + c else 1.0
    assert exact_mcnemar(b, c).p == pytest.approx(expected, rel=1e-9)


@given(b=COUNTS, c=COUNTS)
def test_a_p_value_lies_above_zero_and_up_to_one_and_does_not_know_the_direction(b, c):
    found = exact_mcnemar(b, c)
    assert 0 < found.p <= 1
    assert found.log10_p == pytest.approx(math.log10(found.p), abs=1e-9)
    assert found == exact_mcnemar(c, b)


def test_without_discordant_pairs_p_is_one():
    assert exact_mcnemar(0, 0) == (1.0, 0.0)


def test_five_to_none_is_one_in_sixteen():
    assert exact_mcnemar(5, 0).p == pytest.approx(2 / 2**5)


def test_a_p_value_too_small_for_a_float_keeps_its_logarithm():
    assert exact_mcnemar(2000, 0).p == 0.0
    assert exact_mcnemar(2000, 0).log10_p == pytest.approx(-1999 * math.log10(2))


@pytest.mark.parametrize(
    ("b", "c", "log10_p"),
    [(0, 30, -8.7298698743), (500, 600, -2.5498209710), (1500, 2500, -56.0543521949)],
)
def test_logarithms_are_those_of_r(b, c, log10_p):
    # R 4.2.2: (log(2) + pbinom(min(b, c), b + c, .5, log.p = TRUE)) / log(10)
    assert exact_mcnemar(b, c).log10_p == pytest.approx(log10_p, abs=1e-9)


def test_thousands_of_discordant_pairs_agree_with_a_sum_of_whole_numbers():
    b, c = 8_000, 12_000
    coefficient = total = 1
    for k in range(1, b + 1):
        coefficient = coefficient * (b + c - k + 1) // k
        total += coefficient
    expected = (math.log2(total) + 1 - b - c) * math.log10(2)
    assert exact_mcnemar(b, c).log10_p == pytest.approx(expected, abs=1e-9)


def test_a_million_discordant_pairs_agree_with_scipys_binomial():
    # 2 * scipy.stats.binom.cdf(499_000, 999_500, 0.5)
    expected = 2 * binom.cdf(499_000, 999_500, 0.5)
    assert exact_mcnemar(499_000, 500_500).p == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [(276, 16, 2.343e-62), (210, 19, 6.672e-42), (18, 4, 4.344e-3), (25, 38, 0.1299)],
)
def test_the_papers_discordant_pairs_give_its_p_values(b, c, p):
    assert exact_mcnemar(b, c).p == pytest.approx(p, rel=5e-4)


def test_negative_counts_are_refused():
    with pytest.raises(StatisticsError, match=r"b: .* got -1"):
        exact_mcnemar(-1, 3)
