"""The light array form: every interval of one difference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmend.analysis import (
    Settings,
    cluster_mean_intervals,
    compare_paired,
    exact_bootstrap_interval,
    tango_interval,
)
from ragmend.errors import StatisticsError

FAST = Settings(n_resamples=50)
PAIRS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=40
)


def test_a_difference_has_the_intervals_of_its_counts():
    a, b = [1] * 7 + [0] * 13, [0] * 5 + [1] * 3 + [0] * 12
    found = compare_paired(a, b, settings=FAST)
    assert (found.n, found.b, found.c, found.diff_pp) == (20, 5, 1, -20)
    exact, tango = exact_bootstrap_interval(5, 1, 20), tango_interval(5, 1, 20)
    assert (found.ci_exact_low, found.ci_exact_high) == tuple(100 * end for end in exact)
    assert (found.ci_tango_low, found.ci_tango_high) == tuple(100 * end for end in tango)


def test_without_sources_what_needs_them_is_undefined():
    for sources in (None, ["s1"] * 4):
        found = compare_paired([1, 1, 0, 1], [0, 1, 0, 0], sources_R=sources, settings=FAST)
        assert (found.ci_cluster_low, found.ci_cluster_high, found.deff) == (None, None, None)


def test_with_sources_whole_sources_are_drawn():
    a, b, sources = [1, 1, 0, 1, 1, 0], [0, 0, 0, 1, 0, 1], list("aabbcc")
    found = compare_paired(a, b, sources_R=sources, settings=FAST)
    (expected,) = cluster_mean_intervals(
        np.subtract(b, a)[:, None], sources, n_resamples=50, seed=42
    )
    assert found.ci_cluster_low == pytest.approx(100 * expected.low)
    assert found.ci_cluster_high == pytest.approx(100 * expected.high)


@settings(max_examples=25, deadline=None)
@given(PAIRS)
def test_swapping_the_conditions_mirrors_every_interval(pairs):
    a, b, sources = zip(*pairs, strict=True)
    there = compare_paired(a, b, sources_R=sources, settings=FAST)
    back = compare_paired(b, a, sources_R=sources, settings=FAST)
    assert (there.b, there.c, there.diff_pp) == (back.c, back.b, -back.diff_pp)
    for kind in ("ci", "ci_exact", "ci_cluster", "ci_tango"):
        low, high = getattr(there, f"{kind}_low"), getattr(back, f"{kind}_high")
        assert low is high is None or low == pytest.approx(-high, abs=1e-9)
    assert there.p_exact == back.p_exact
    assert there.deff is back.deff is None or there.deff == pytest.approx(back.deff)


@settings(max_examples=25, deadline=None)
@given(PAIRS)
def test_doubling_every_record_doubles_the_counts_and_leaves_the_rates(pairs):
    a, b, sources = zip(*pairs, strict=True)
    once = compare_paired(a, b, sources_R=sources, settings=FAST)
    twice = compare_paired(a * 2, b * 2, sources_R=sources * 2, settings=FAST)
    assert (twice.n, twice.b, twice.c) == (2 * once.n, 2 * once.b, 2 * once.c)
    assert (twice.rate_a, twice.rate_b) == (once.rate_a, once.rate_b)
    # Whole sources are drawn: that their records are there twice tells nothing new.
    assert twice.ci_cluster_low == once.ci_cluster_low
    assert twice.p_exact <= once.p_exact


@pytest.mark.parametrize(
    ("a", "b", "sources", "message"),
    [
        ([1, 0], [1], None, "2 in labels_a_R and 1 in labels_b_R"),
        ([1, 2], [1, 0], None, "labels_a_R: a label must be 0 or 1"),
        ([1, 0], [1, np.nan], None, "labels_b_R: a label must be 0 or 1"),
        ([], [], None, "labels_a_R: expected at least 1"),
        ([1, 0], [1, 0], ["s1"], "one source a record"),
    ],
)
def test_what_cannot_be_compared_is_refused(a, b, sources, message):
    with pytest.raises(StatisticsError, match=message):
        compare_paired(a, b, sources_R=sources, settings=FAST)
