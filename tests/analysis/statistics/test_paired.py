"""McNemar, Holm and the paired contrasts, against outside programs and hand arithmetic."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from ragmend.analysis import Settings, exact_mcnemar, holm, paired_contrasts
from ragmend.errors import StatisticsError

COUNTS = st.integers(0, 300)
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
    ("b", "c", "p"),
    [(276, 16, 2.343e-62), (210, 19, 6.672e-42), (18, 4, 4.344e-3), (25, 38, 0.1299)],
)
def test_the_papers_discordant_pairs_give_its_p_values(b, c, p):
    assert exact_mcnemar(b, c).p == pytest.approx(p, rel=5e-4)


def test_negative_counts_are_refused():
    with pytest.raises(StatisticsError, match="b = -1"):
        exact_mcnemar(-1, 3)


@settings(max_examples=10, deadline=None)  # statsmodels collects garbage on every call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_agrees_with_statsmodels(p_values):
    # multipletests(p_values, method="holm")[1]
    expected = multipletests(p_values, method="holm")[1]
    found = holm({f"c{i}": p for i, p in enumerate(p_values)})
    assert list(found.values()) == pytest.approx(list(expected))


def test_holm_steps_down_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )


@pytest.mark.parametrize("p", [math.nan, -0.1, 1.1])
def test_holm_refuses_what_is_no_p_value_and_names_the_contrast(p):
    with pytest.raises(StatisticsError, match="contrast original-removal"):
        holm({"original-removal": p, "original-extractive": 0.5})


def test_one_contrast_comes_out_as_counted_by_hand():
    found = paired_contrasts(label_table([1, 1, 1, 0, 0], [0, 0, 1, 1, 0]), settings=FAST)
    row = found.iloc[0]
    assert (row["n"], row["b"], row["c"]) == (5, 2, 1)
    assert (row["rate_a"], row["rate_b"], row["diff_pp"]) == (0.6, 0.4, -20.0)
    assert (row["p_exact"], row["log10_p"]) == (1.0, 0.0)


LABELS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(LABELS)
def test_swapping_the_conditions_flips_signs_and_swaps_b_and_c(pairs):
    labels = label_table(*map(list, zip(*pairs, strict=True)))
    there = paired_contrasts(labels, settings=FAST).iloc[0]
    back = paired_contrasts(labels, settings=SWAPPED).iloc[0]
    assert (there["b"], there["c"]) == (back["c"], back["b"])
    assert there["diff_pp"] == -back["diff_pp"]
    assert there["ci_low"] == pytest.approx(-back["ci_high"], abs=1e-9)
    assert there["p_exact"] == back["p_exact"]


@settings(max_examples=25, deadline=None)
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
    pd.testing.assert_frame_equal(alone, together.reset_index(drop=True))


def test_a_contrast_without_labels_is_refused_by_name():
    unknown = FAST.model_copy(update={"family": ("before-never",)})
    with pytest.raises(StatisticsError, match="contrast 'before-never': expected"):
        paired_contrasts(label_table([1], [0]), settings=unknown)
