import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ragmend.analysis.statistics.intervals import multiplicities
from ragmend.analysis.statistics.roc import area_under_curve
from ragmend.errors import StatisticsError

units = st.lists(
    st.tuples(st.booleans(), st.integers(0, 5), st.sampled_from("abcd")), min_size=2, max_size=40
).filter(lambda listed: len({positive for positive, _, _ in listed}) == 2)


@given(units)
def test_the_area_is_scikit_learns(listed):
    positive, score, cluster = zip(*listed, strict=True)
    found = area_under_curve(positive, score, cluster, n_resamples=10)
    # The outside check: sklearn.metrics.roc_auc_score(positive, score).
    assert found.area == pytest.approx(roc_auc_score(positive, score))


def test_the_interval_is_the_percentile_of_areas_of_resampled_clusters():
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(12), 6)
    positive = rng.random(72) < 0.4
    score = positive + rng.normal(size=72)
    found = area_under_curve(positive, score, cluster, n_resamples=200, seed=9)
    areas = []
    for counts in np.concatenate(list(multiplicities(12, 200, 9))).astype(int):
        rows = np.concatenate(
            [np.repeat(np.flatnonzero(cluster == g), k) for g, k in enumerate(counts)]
        )
        areas.append(roc_auc_score(positive[rows], score[rows]))
    assert tuple(found.interval) == pytest.approx(np.quantile(areas, [0.025, 0.975]))


@given(units)
def test_turning_the_scores_over_turns_the_area_over(listed):
    positive, score, cluster = map(np.array, zip(*listed, strict=True))
    area = area_under_curve(positive, score, cluster, n_resamples=10).area
    turned = area_under_curve(positive, -score, cluster, n_resamples=10).area
    assert area + turned == pytest.approx(1.0)


def test_undefined_areas_and_intervals_are_none():
    assert area_under_curve([1, 1], [0.1, 0.2], ["a", "b"]) is None
    assert area_under_curve([1, 0], [0.2, 0.1], ["a", "a"]).interval is None
    assert area_under_curve([1, 0], [0.2, 0.1], ["a", "b"]).interval is None  # one kind a source


def test_a_score_that_is_not_finite_and_uneven_lengths_are_refused():
    with pytest.raises(StatisticsError, match="finite"):
        area_under_curve([1, 0], [float("nan"), 0.1], ["a", "b"])
    with pytest.raises(StatisticsError, match="2 in positive_C and 1 in score_C"):
        area_under_curve([1, 0], [0.1], ["a", "b"])
