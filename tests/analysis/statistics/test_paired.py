"""The paired contrasts of a label table, against outside programs and hand arithmetic."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ragmend.analysis import Settings, paired_contrasts
from ragmend.errors import StatisticsError

FAST = Settings(
    n_resamples=50,
    conditions=("before", "after"),
    reference="before",
)
SWAPPED = FAST.model_copy(update={"reference": "after"})


def label_table(before: list[int], after: list[int]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"record_id": f"r{i:03}", "judge": "j", "condition": condition, "label": label}
            for condition, labels in [("before", before), ("after", after)]
            for i, label in enumerate(labels)
        ]
    )


def test_one_contrast_comes_out_as_counted_by_hand():
    found = paired_contrasts(label_table([1, 1, 1, 0, 0], [0, 0, 1, 1, 0]), settings=FAST)
    row = found.iloc[0]
    assert (row["n"], row["b"], row["c"]) == (5, 2, 1)
    assert (row["rate_a"], row["rate_b"], row["diff_pp"]) == (0.6, 0.4, -20.0)
    assert (row["p_exact"], row["log10_p"]) == (1.0, 0.0)


LABELS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@settings(max_examples=6, deadline=None)  # statsmodels collects garbage on every call
@given(LABELS)
def test_swapping_the_conditions_flips_signs_and_swaps_b_and_c(pairs):
    labels = label_table(*map(list, zip(*pairs, strict=True)))
    there = paired_contrasts(labels, settings=FAST).iloc[0]
    back = paired_contrasts(labels, settings=SWAPPED).iloc[0]
    assert (there["b"], there["c"]) == (back["c"], back["b"])
    assert there["diff_pp"] == -back["diff_pp"]
    assert there["ci_low"] == pytest.approx(-back["ci_high"], abs=1e-9)
    assert there["p_exact"] == back["p_exact"]


@settings(max_examples=6, deadline=None)  # statsmodels collects garbage on every call
@given(LABELS, st.randoms(use_true_random=False))
def test_permuting_the_rows_changes_nothing(pairs, random):
    labels = label_table(*map(list, zip(*pairs, strict=True)))
    order = list(labels.index)
    random.shuffle(order)
    shuffled = paired_contrasts(labels.loc[order], settings=FAST)
    pd.testing.assert_frame_equal(shuffled, paired_contrasts(labels, settings=FAST))


def test_the_interval_is_scipys_paired_percentile_bootstrap(golden_frames):
    wide = golden_frames.labels.query("judge == 'gemma'").pivot(
        index="record_id", columns="condition", values="label"
    )
    # scipy.stats.bootstrap((a, b), mean of b - a, paired=True, method="percentile",
    #                       n_resamples=10_000, rng=numpy.random.default_rng(42))
    expected = stats.bootstrap(
        (wide["original"], wide["generative"]),
        lambda a, b, axis: 100 * (b - a).mean(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        batch=1_000,
        rng=np.random.default_rng(42),
    ).confidence_interval
    found = paired_contrasts(golden_frames.labels).set_index(["judge", "contrast"])
    row = found.loc[("gemma", "original-generative")]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(expected), abs=1e-9)


def test_the_exploratory_contrast_is_outside_the_family(golden_frames):
    found = paired_contrasts(golden_frames.labels)
    exploratory = found["contrast"] == "removal-generative"
    assert (found["family"] == "exploratory").equals(exploratory)
    assert found["p_holm"].isna().equals(exploratory)


def test_holm_never_crosses_from_one_judge_to_another(golden_frames):
    alone = paired_contrasts(golden_frames.labels.query("judge == 'llama'"))
    together = paired_contrasts(golden_frames.labels).query("judge == 'llama'")
    pd.testing.assert_frame_equal(
        alone.drop(columns="p_holm_all"),
        together.reset_index(drop=True).drop(columns="p_holm_all"),
    )


def test_holm_over_all_judges_is_one_family_of_their_primary_contrasts(golden_frames):
    found = paired_contrasts(golden_frames.labels)
    primary = found[found["family"] == "primary"]
    assert len(primary) == 15
    # multipletests(primary["p_exact"], method="holm")[1]
    expected = multipletests(primary["p_exact"], method="holm")[1]
    assert primary["p_holm_all"].tolist() == pytest.approx(expected.tolist())
    assert found["p_holm_all"].isna().equals(found["family"] == "exploratory")


def test_the_columns_stand_in_this_order(golden_frames):
    assert list(paired_contrasts(golden_frames.labels)) == [
        "judge", "contrast", "family", "n", "rate_a", "rate_b", "b", "c", "diff_pp", "ci_low",
        "ci_high", "ci_exact_low", "ci_exact_high", "ci_cluster_low", "ci_cluster_high",
        "ci_tango_low", "ci_tango_high", "p_exact", "log10_p", "p_holm", "p_holm_all", "deff",
    ]  # fmt: skip


def test_sources_in_the_table_give_intervals_by_source(golden_frames):
    sources = golden_frames.records.set_index("record_id")["source_id"]
    labels = golden_frames.labels
    with_sources = labels.assign(source_id=labels["record_id"].map(sources))
    found, without = paired_contrasts(with_sources), paired_contrasts(labels)
    by_source = ["ci_cluster_low", "ci_cluster_high", "deff"]
    assert found[by_source].notna().all(axis=None)
    assert without[by_source].isna().all(axis=None)
    pd.testing.assert_frame_equal(found.drop(columns=by_source), without.drop(columns=by_source))


def test_a_table_in_which_nothing_can_be_compared_is_refused():
    labels = label_table([1], [0])
    with pytest.raises(StatisticsError, match="no reference condition"):
        paired_contrasts(labels, settings=Settings(n_resamples=50))


def test_a_contrast_without_labels_is_refused_by_name():
    unknown = FAST.model_copy(update={"family": ("before-never",)})
    with pytest.raises(StatisticsError, match="contrast 'before-never': expected"):
        paired_contrasts(label_table([1], [0]), settings=unknown)
