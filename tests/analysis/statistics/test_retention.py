"""Retained length: the mean ratio, and its intervals over records and over whole sources."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from ragmend.analysis import text_retention
from ragmend.errors import StatisticsError

RATIOS = np.random.default_rng(7).uniform(0.2, 1.3, 40)


def names(n):
    return [f"s{i:03d}" for i in range(n)]


def retention(ratios, sources=None, **options):
    (found,) = text_retention(np.asarray(ratios)[:, None], sources_R=sources, **options)
    return found


def test_the_mean_is_of_the_records_own_ratios_and_is_not_capped():
    # 200 of 100 and 0 of 300 characters: (2 + 0) / 2, not 200 of 400.
    assert retention([2.0, 0.0], n_resamples=20).mean == 100


def test_the_interval_is_that_of_a_loop_over_the_same_stream():
    indices = np.random.default_rng(42).integers(0, 40, (500, 40))
    means = [100 * np.mean(RATIOS[row]) for row in indices]
    expected = np.percentile(means, [2.5, 97.5])
    assert retention(RATIOS, n_resamples=500).interval == pytest.approx(tuple(expected))


def test_the_interval_is_near_that_of_scipy():
    # scipy draws from another stream, so that only the Monte Carlo error may differ.
    found = bootstrap(
        (RATIOS,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval
    ours = retention(RATIOS).interval
    assert ours == pytest.approx((100 * found.low, 100 * found.high), abs=0.3)


def test_the_cluster_interval_is_that_of_a_loop_over_drawn_sources():
    sources = [f"s{i // 3}" for i in range(40)]  # of 3 records each, the last of 1
    members = [RATIOS[3 * g : 3 * g + 3] for g in sorted(range(14), key=lambda g: f"s{g}")]
    draws = np.random.default_rng(42).integers(0, 14, (500, 14))
    means = [100 * np.concatenate([members[g] for g in draw]).mean() for draw in draws]
    expected = np.percentile(means, [2.5, 97.5])
    found = retention(RATIOS, sources, n_resamples=500).cluster
    assert found == pytest.approx(tuple(expected))


def test_with_one_record_a_source_the_cluster_interval_is_the_records_own():
    found = retention(RATIOS, names(40))
    assert found.cluster == pytest.approx(found.interval)


def test_records_that_repeat_their_source_add_nothing_over_sources_but_much_over_records():
    once = retention(RATIOS, names(40))
    copied = retention(np.repeat(RATIOS, 4), list(np.repeat(names(40), 4)))
    assert copied.mean == pytest.approx(once.mean)
    assert copied.cluster == pytest.approx(once.cluster)
    width = copied.interval.high - copied.interval.low
    # A quarter of the variance of the mean: half the width.
    assert width / (once.interval.high - once.interval.low) == pytest.approx(0.5, abs=0.05)


def test_sources_of_opposite_records_narrow_the_interval():
    ratios = np.where(np.arange(40) % 2, 0.4, 0.8)
    found = retention(ratios, [f"s{i // 2}" for i in range(40)])
    assert found.cluster == pytest.approx((60, 60))
    assert found.interval.high - found.interval.low > 10


def test_the_order_of_the_names_and_not_of_the_records_decides_the_draw():
    sources = [f"s{i // 3:02d}" for i in range(40)]
    back = retention(RATIOS[::-1], sources[::-1])
    assert back.cluster == pytest.approx(retention(RATIOS, sources).cluster)


@pytest.mark.parametrize("sources", [None, ["one"] * 40])
def test_without_two_known_sources_there_is_no_cluster_interval(sources):
    assert retention(RATIOS, sources, n_resamples=20).cluster is None


def test_several_repairs_are_as_each_alone():
    both = text_retention(np.column_stack([RATIOS, RATIOS**2]), n_resamples=200)
    for found, alone in zip(both, (RATIOS, RATIOS**2), strict=True):
        own = retention(alone, n_resamples=200)
        assert found.mean == pytest.approx(own.mean)
        assert found.interval == pytest.approx(own.interval)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(0, 3), min_size=2, max_size=12), st.integers(1, 4))
def test_intervals_lie_within_the_ratios(ratios, size):
    found = retention(ratios, [f"s{i // size}" for i in range(len(ratios))], n_resamples=50)
    ends = [*found.interval, *(found.cluster or ()), found.mean]
    assert 100 * min(ratios) - 1e-9 <= min(ends)
    assert max(ends) <= 100 * max(ratios) + 1e-9


@pytest.mark.parametrize(
    ("ratios", "sources", "message"),
    [
        ([[0.5], [np.nan]], None, "ratio_RS: expected finite"),
        ([[0.5], [-0.1]], None, "at least 0"),
        ([0.5, 0.6], None, r"ratio_RS: .* got shape \(2,\)"),
        (np.zeros((0, 1)), None, r"ratio_RS: .* got shape \(0, 1\)"),
        ([[0.5], [0.6]], ["s1"], "one source a record"),
    ],
)
def test_what_is_no_ratio_is_refused(ratios, sources, message):
    with pytest.raises(StatisticsError, match=message):
        text_retention(ratios, sources_R=sources, n_resamples=10)
