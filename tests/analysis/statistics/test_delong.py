from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from ragmend.analysis.statistics.delong import delong_interval
from ragmend.analysis.statistics.roc import area_under_curve
from ragmend.errors import StatisticsError

GOLDEN = Path(__file__).parents[2] / "golden" / "analysis"
# The data aSAH of R's package pROC: 113 patients, outcome Poor, and WFNS grade (1 to 5).
POOR = (
    "000011010010110010111010000000001001101100000000011000100010100111"
    "01101111000110100000010000000000001111110001000"
)
WFNS = (
    "111132541252551252252111121211342145414255112411255212512221511252"
    "14524414121421232421451154221113125225552445111"
)

units = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=40).filter(
    lambda listed: len({positive for positive, _ in listed}) == 2
)


def split(listed):
    positive, score = zip(*listed, strict=True)
    return np.array(positive), np.array(score, dtype=float)


def test_a_published_example_has_the_interval_of_proc():
    found = delong_interval([int(c) for c in POOR], [int(c) for c in WFNS])
    # R 4.2.2, pROC 1.18.0: data(aSAH); ci.auc(roc(aSAH$outcome, as.integer(aSAH$wfns),
    # levels = c("Good", "Poor"), direction = "<")) gives
    # 0.748534887819 0.823678861789 0.898822835758 (DeLong).
    assert found.area == pytest.approx(0.823678861789, abs=1e-12)
    assert tuple(found.interval) == pytest.approx((0.748534887819, 0.898822835758), abs=1e-11)


def test_the_golden_claims_have_the_interval_of_proc():
    claims = pd.read_csv(GOLDEN / "reconstructed_verifier.csv")
    claims = claims[claims["aligned"] == 1]
    found = delong_interval(claims["gold_unsupported"], -claims["p_support"])
    # R 4.2.2, pROC 1.18.0: ci.auc(roc(v$gold_unsupported, v$p_support, levels = c(0, 1),
    # direction = ">")) gives 0.87081451410148 0.88100029163021 0.89118606915895 (DeLong).
    assert found.area == pytest.approx(0.88100029163021, abs=1e-13)
    assert tuple(found.interval) == pytest.approx((0.87081451410148, 0.89118606915895), abs=1e-9)


@given(units)
def test_the_variance_is_that_of_the_placements(listed):
    positive, score = split(listed)
    # By hand, over all pairs: 1 where the positive scores higher, one half for a tie.
    wins = (np.sign(score[positive][:, None] - score[~positive][None, :]) + 1) / 2
    found = delong_interval(positive, score)
    assert found.area == pytest.approx(wins.mean()) == pytest.approx(roc_auc_score(positive, score))
    if found.interval is None:
        assert min(wins.shape) == 1 or wins.mean() in (0.0, 1.0)
        return
    variance = sum(wins.mean(axis=axis).var(ddof=1) / wins.shape[1 - axis] for axis in (0, 1))
    reach = norm.ppf(0.975) * np.sqrt(variance)
    assert tuple(found.interval) == pytest.approx(
        (max(0, wins.mean() - reach), min(1, wins.mean() + reach))
    )


@given(units)
def test_a_monotone_change_of_the_scores_changes_nothing(listed):
    positive, score = split(listed)
    assert delong_interval(positive, np.exp(score) - 3) == delong_interval(positive, score)


@given(units)
def test_the_other_kind_as_positive_turns_area_and_interval_over(listed):
    positive, score = split(listed)
    found, turned = delong_interval(positive, score), delong_interval(~positive, score)
    assert found.area + turned.area == pytest.approx(1)
    assert (found.interval is None) == (turned.interval is None)
    if found.interval is not None:
        ends = (1 - turned.interval.high, 1 - turned.interval.low)
        assert tuple(found.interval) == pytest.approx(ends)


@given(units)
def test_the_area_is_that_of_the_cluster_bootstrap(listed):
    positive, score = split(listed)
    other = area_under_curve(positive, score, np.arange(len(score)), n_resamples=2)
    assert delong_interval(positive, score).area == pytest.approx(other.area)


def test_scores_that_are_all_tied_order_nothing():
    found = delong_interval([0, 0, 1, 1], [7, 7, 7, 7])
    assert (found.area, tuple(found.interval)) == (0.5, (0.5, 0.5))


def test_undefined_areas_and_intervals_are_none():
    assert delong_interval([1, 1], [0.1, 0.2]) is None
    assert delong_interval([], []) is None
    assert delong_interval([1, 0, 0], [0.3, 0.1, 0.5]).interval is None  # one positive
    assert delong_interval([1, 1, 0, 0], [3, 4, 1, 2]).interval is None  # all ordered


def test_what_is_no_score_or_label_is_refused():
    with pytest.raises(StatisticsError, match="finite"):
        delong_interval([1, 0], [float("nan"), 1])
    with pytest.raises(StatisticsError, match="positive_C: a label must be 0 or 1"):
        delong_interval([2, 0], [0.5, 1])
    with pytest.raises(StatisticsError, match="3 in positive_C and 2 in score_C"):
        delong_interval([1, 0, 1], [0.5, 1])
    with pytest.raises(StatisticsError, match="level"):
        delong_interval([1, 0], [0.5, 1], confidence=95)
