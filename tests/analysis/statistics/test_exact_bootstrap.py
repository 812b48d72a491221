"""The exact bootstrap against enumeration, repeated convolution and Monte Carlo."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.analysis import (
    bootstrap_means,
    exact_bootstrap_distribution,
    exact_bootstrap_interval,
    round_half_up,
)
from ragmend.errors import StatisticsError

TABLES = st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(1, 2000)).map(
    lambda table: (table[0], table[1], sum(table))
)


def probabilities(b, c, n):
    changes_K, p_K = exact_bootstrap_distribution(b, c, n)
    return dict(zip(changes_K.tolist(), p_K.tolist(), strict=True))


@pytest.mark.parametrize(("b", "c", "n"), [(1, 0, 1), (1, 1, 3), (2, 1, 4), (0, 3, 5), (2, 2, 6)])
def test_the_distribution_is_that_of_all_resamples(b, c, n):
    records = [-1] * b + [1] * c + [0] * (n - b - c)
    counts = Counter(map(sum, product(records, repeat=n)))
    found = probabilities(b, c, n)
    for change, p in found.items():
        assert p == pytest.approx(counts[change] / n**n, abs=1e-14)


@pytest.mark.parametrize(("b", "c", "n"), [(3, 1, 20), (18, 4, 134), (40, 90, 300)])
def test_the_distribution_is_the_repeated_convolution(b, c, n):
    expected = np.ones(1)
    for _ in range(n):
        expected = np.convolve(expected, [b / n, (n - b - c) / n, c / n])
    found = probabilities(b, c, n)
    whole = [found.get(change, 0.0) for change in range(-n, n + 1)]
    np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [18_000, 1_000_000])
def test_moments_of_many_records_are_those_of_their_sum(n):
    b, c = n // 4, n // 3
    changes_K, p_K = exact_bootstrap_distribution(b, c, n)
    mean = float(p_K @ changes_K)
    variance = float(p_K @ (changes_K - mean) ** 2)
    assert p_K.sum() == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(c - b, rel=1e-9)
    assert variance == pytest.approx(b + c - (c - b) ** 2 / n, rel=1e-6)


@pytest.mark.parametrize(
    ("b", "c", "printed"),
    [
        (276, 16, ["-31.55", "-25.22"]),
        (210, 19, ["-23.80", "-17.90"]),
        (18, 4, ["-2.51", "-0.55"]),
    ],
)
def test_the_three_published_intervals_come_out(b, c, printed):
    ends = exact_bootstrap_interval(b, c, 916)
    assert [round_half_up(100 * end, 2) for end in ends] == printed


def test_many_resamples_come_to_the_exact_interval():
    b, c, n = 9, 4, 60
    values = [-1.0] * b + [1.0] * c + [0.0] * (n - b - c)
    means_B = bootstrap_means(np.array(values)[:, None], n_resamples=200_000, seed=3)[:, 0]
    low, high = exact_bootstrap_interval(b, c, n)
    # An end is where the tail, itself included, first has a fortieth of the resamples.
    assert np.mean(means_B <= low - 0.5 / n) < 0.025 < np.mean(means_B < low + 0.5 / n)
    assert np.mean(means_B >= high + 0.5 / n) < 0.025 < np.mean(means_B > high - 0.5 / n)


def test_a_tail_that_equals_its_level_is_counted_on_both_sides():
    # Two records, one of which turns from 1 to 0: -1, -1/2, 0 with 1/4, 1/2, 1/4.
    assert exact_bootstrap_interval(1, 0, 2, confidence=0.5) == (-1.0, 0.0)
    assert exact_bootstrap_interval(0, 1, 2, confidence=0.5) == (0.0, 1.0)


@pytest.mark.parametrize("n", [1, 916, 1_000_000])
def test_where_nothing_changed_the_interval_is_nothing(n):
    assert exact_bootstrap_interval(0, 0, n) == (0.0, 0.0)


@given(TABLES)
def test_an_interval_contains_the_estimate_and_mirrors_when_conditions_swap(table):
    b, c, n = table
    low, high = exact_bootstrap_interval(b, c, n)
    assert -1 <= low <= (c - b) / n <= high <= 1
    assert exact_bootstrap_interval(c, b, n) == (-high, -low)


@pytest.mark.parametrize(
    ("b", "c", "n", "message"),
    [(0, 0, 0, "n: .* got 0"), (-1, 0, 3, "b: .* got -1"), (2, 2, 3, "b = 2, c = 2, n = 3")],
)
def test_counts_that_make_no_table_are_refused(b, c, n, message):
    with pytest.raises(StatisticsError, match=message):
        exact_bootstrap_interval(b, c, n)
