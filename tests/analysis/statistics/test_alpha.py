"""Krippendorff's α, against the krippendorff library and whole recomputation."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragmend.analysis import krippendorff_alpha
from ragmend.analysis.statistics.agreement import EQUAL_ENDS
from ragmend.errors import StatisticsError

STREAM = np.random.default_rng(3)
TRUTH = STREAM.random(60) < 0.6
LABELS = (TRUTH[:, None] ^ (STREAM.random((60, 4)) < 0.2)).astype(int)
judged = arrays(int, st.tuples(st.integers(1, 20), st.integers(2, 5)), elements=st.integers(0, 1))


def of_library(labels_RJ):
    return krippendorff.alpha(
        labels_RJ.T.astype(float), value_domain=[0, 1], level_of_measurement="nominal"
    )


@given(judged.filter(lambda labels: 0 < labels.sum() < labels.size))
def test_alpha_is_that_of_the_library(labels_RJ):
    found = krippendorff_alpha(labels_RJ, n_resamples=1).value
    assert found == pytest.approx(of_library(labels_RJ), abs=1e-12)


def test_alpha_is_that_of_irrcac():
    # irrCAC 0.4.4 (scipy 1.12.0): irrCAC.raw.CAC(DataFrame(pairs), digits=10).krippendorff(), on
    # 40 pairs (1, 1), 9 (1, 0), 6 (0, 1), 45 (0, 0); its error, linearised, is .0719443694
    pairs = np.repeat([(1, 1), (1, 0), (0, 1), (0, 0)], [40, 9, 6, 45], axis=0)
    found = krippendorff_alpha(pairs)
    assert found.value == pytest.approx(0.7007518797, abs=1e-10)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.0719443694, rel=0.05)


def test_each_resample_counts_as_if_alpha_were_computed_anew():
    indices = np.random.default_rng(42).integers(0, 60, (200, 60))
    anew = [of_library(LABELS[rows]) for rows in indices]
    found = krippendorff_alpha(LABELS, n_resamples=200)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(anew, [0.025, 0.975])))


def test_whole_sources_are_resampled_in_the_order_of_their_names():
    sizes = np.arange(60) % 7 % 4
    sources = [f"s{size}{i % 9}" for i, size in enumerate(sizes)]
    names = sorted(set(sources))
    members = [np.flatnonzero(np.array(sources) == name) for name in names]
    indices = np.random.default_rng(1).integers(0, len(names), (200, len(names)))
    anew = [of_library(LABELS[np.concatenate([members[i] for i in row])]) for row in indices]
    found = krippendorff_alpha(LABELS, sources_R=sources, n_resamples=200, seed=1)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(anew, [0.025, 0.975])))


def test_records_copied_within_their_source_do_not_narrow_the_interval():
    once = krippendorff_alpha(LABELS, sources_R=range(60), n_resamples=500)
    copied = krippendorff_alpha(
        np.repeat(LABELS, 5, axis=0), sources_R=np.repeat(range(60), 5), n_resamples=500
    )
    width = once.high - once.low
    assert copied.high - copied.low == pytest.approx(width, rel=0.05)
    alone = krippendorff_alpha(np.repeat(LABELS, 5, axis=0), n_resamples=500)
    assert alone.high - alone.low < 0.6 * width


@given(judged, st.randoms(use_true_random=False))
def test_the_order_of_judges_and_records_does_not_change_alpha(labels_RJ, random):
    rows, columns = map(list, map(range, labels_RJ.shape))
    random.shuffle(rows)
    random.shuffle(columns)
    mixed = labels_RJ[rows][:, columns]
    assert krippendorff_alpha(mixed, n_resamples=1).value == (
        krippendorff_alpha(labels_RJ, n_resamples=1).value
    )


def test_labels_that_are_all_the_same_have_no_alpha():
    found = krippendorff_alpha(np.ones((5, 3)))
    assert found == (None, None, None, "every label is the same")
    assert krippendorff_alpha(np.ones((1, 3))) == found


def test_resamples_without_a_kind_of_label_leave_no_interval():
    labels_RJ = np.zeros((9, 2), int)
    labels_RJ[0, 0] = 1
    found = krippendorff_alpha(labels_RJ, n_resamples=100)
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert found.reason.endswith("of 100 resamples every label is the same")


def test_an_interval_whose_ends_are_equal_is_none():
    for labels, sources in (
        ([[1, 1], [0, 0]] * 30, None),
        ([[1, 1], [1, 0], [0, 0]] * 20, np.repeat(range(20), 3)),
    ):
        found = krippendorff_alpha(labels, sources_R=sources, n_resamples=300)
        assert found.value == pytest.approx(of_library(np.array(labels)))
        assert (found.low, found.high, found.reason) == (None, None, EQUAL_ENDS)


def test_one_source_or_one_record_gives_no_interval():
    one_source = krippendorff_alpha(LABELS, sources_R=["s"] * 60)
    assert one_source.value == pytest.approx(of_library(LABELS))
    assert (one_source.low, one_source.high) == (None, None)
    assert "one source" in one_source.reason
    assert "one record" in krippendorff_alpha([[0, 1]]).reason


def test_a_confidence_level_outside_0_and_1_is_refused():
    with pytest.raises(StatisticsError, match="confidence"):
        krippendorff_alpha(LABELS, confidence=95)


@pytest.mark.parametrize(
    ("labels_RJ", "message"),
    [
        ([[1], [0]], "labels_RJ: expected .* at least 2 column"),
        ([1, 0], "labels_RJ: expected an array of records"),
        ([[1, 2]], "0 or 1, got 2"),
        ([[1.0, float("nan")]], "0 or 1, got nan"),
        (np.empty((0, 2)), "labels_RJ: expected an array of records"),
    ],
)
def test_what_has_no_alpha_is_refused(labels_RJ, message):
    with pytest.raises(StatisticsError, match=message):
        krippendorff_alpha(labels_RJ)
