"""Bootstrap and Wilson intervals, against numpy's stream, scipy and closed forms."""

import math

import numpy as np
import pytest
from scipy import stats

from ragmend.analysis import bootstrap_mean_interval, bootstrap_means, wilson_interval
from ragmend.analysis.statistics import intervals as module
from ragmend.errors import StatisticsError

VALUES = np.random.default_rng(7).normal(size=37)


def test_resamples_are_the_rows_of_one_call_to_integers():
    indices = np.random.default_rng(42).integers(0, len(VALUES), (1_000, len(VALUES)))
    found = bootstrap_means(VALUES[:, None], n_resamples=1_000, seed=42)
    np.testing.assert_allclose(found[:, 0], VALUES[indices].mean(axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cells", [1, 100, 10_000])
def test_the_size_of_a_batch_changes_nothing(monkeypatch, cells):
    whole = bootstrap_means(VALUES[:, None], n_resamples=501, seed=42)
    monkeypatch.setattr(module, "_CELLS_PER_BATCH", cells)
    batched = bootstrap_means(VALUES[:, None], n_resamples=501, seed=42)
    np.testing.assert_allclose(batched, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("largest", [1, 2**24 // 37, 2**24 // 37 + 1, 2**40])
def test_whole_numbers_are_added_exactly_however_large(largest):
    values = np.array([largest, -1, 0] * 12 + [largest])
    indices = np.random.default_rng(42).integers(0, len(values), (300, len(values)))
    found = bootstrap_means(values[:, None], n_resamples=300, seed=42)
    np.testing.assert_array_equal(found[:, 0], values[indices].sum(axis=1) / len(values))


def test_fractions_are_never_added_in_single_precision():
    values = np.full(37, 1 + 2**-40)
    found = bootstrap_means(values[:, None], n_resamples=3, seed=42)
    np.testing.assert_array_equal(found, 1 + 2**-40)


def test_the_interval_of_a_mean_is_scipys_percentile_bootstrap():
    # scipy.stats.bootstrap((values,), numpy.mean, method="percentile", n_resamples=2_000,
    #                       rng=numpy.random.default_rng(42))
    expected = stats.bootstrap(
        (VALUES,), np.mean, method="percentile", n_resamples=2_000, rng=np.random.default_rng(42)
    ).confidence_interval
    found = bootstrap_mean_interval(VALUES, n_resamples=2_000, seed=42)
    assert found == pytest.approx(tuple(expected), abs=1e-12)


def test_several_statistics_share_the_resamples_of_each_alone():
    both = bootstrap_means(np.column_stack([VALUES, VALUES**2]), n_resamples=99, seed=1)
    alone = bootstrap_means((VALUES**2)[:, None], n_resamples=99, seed=1)
    np.testing.assert_allclose(both[:, [1]], alone, rtol=0, atol=1e-12)


def test_a_constant_has_no_width():
    assert bootstrap_mean_interval([3.0] * 9, n_resamples=100) == (3.0, 3.0)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_nothing_and_non_finite_values_are_refused(values):
    with pytest.raises(StatisticsError):
        bootstrap_mean_interval(values, n_resamples=10)


def test_wilsons_interval_is_scipys():
    # scipy.stats.binomtest(7, 20).proportion_ci(method="wilson")
    expected = stats.binomtest(7, 20).proportion_ci(method="wilson")
    assert wilson_interval(7, 20) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("count", "n", "message"),
    [(0, 0, "n: .* got 0"), (3, 2, "got 3 of 2"), (-1, 2, "count: .* got -1")],
)
def test_a_rate_of_nothing_is_refused(count, n, message):
    with pytest.raises(StatisticsError, match=message):
        wilson_interval(count, n)
