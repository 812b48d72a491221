"""The joint test of several judges and Cochran's Q, against outside programs and hand counts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import mcnemar

from ragmend.analysis import across_judges, cochran_q, intersection_union
from ragmend.analysis.statistics.multiplicity import holm
from ragmend.analysis.statistics.paired import PairedContrast
from ragmend.errors import StatisticsError

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def named(values) -> dict:
    return {f"j{i}": value for i, value in enumerate(values)}


def contrast(judge: str, name: str, diff: float, p: float, p_holm: float | None = None, **extra):
    """Return a comparison of which the tests across judges read only what is given."""
    unread = dict.fromkeys(PairedContrast._fields)
    given = {"judge": judge, "contrast": name, "diff_pp": Fraction(diff), "p_exact": p}
    family = "exploratory" if p_holm is None else "primary"
    found = unread | given | {"log10_p": math.log10(p), "p_holm": p_holm, "family": family}
    return PairedContrast(**(found | extra))


@given(P_VALUES)
def test_the_joint_p_is_no_smaller_than_any_judges(p_values):
    joint = intersection_union(named(p_values), named([-1.0] * len(p_values)))
    assert joint.direction == "fewer in B"
    assert all(joint.p >= p for p in p_values)
    assert joint.p in p_values


@given(P_VALUES, st.integers(1, 99))
def test_the_joint_test_rejects_exactly_where_every_judge_does(p_values, percent):
    level = percent / 100
    joint = intersection_union(named(p_values), named([2.0] * len(p_values)))
    assert (joint.p < level) == all(p < level for p in p_values)


@pytest.mark.parametrize(
    ("differences", "direction"),
    [
        ([-1, -2], "fewer in B"),
        ([1, 2], "more in B"),
        ([-1, 2], "mixed"),
        ([-1, 0], "mixed"),
        ([0, 0], "none"),
    ],
)
def test_only_strictly_equal_signs_are_agreement(differences, direction):
    joint = intersection_union(named([0.01, 0.02]), named(differences))
    assert joint.direction == direction
    assert (joint.p is None) == (direction in ("mixed", "none"))


@pytest.mark.parametrize(
    ("p_values", "differences", "message"),
    [
        ({}, {}, "needs one of each a judge"),
        ({"a": 0.1}, {"b": 1.0}, "needs one of each a judge"),
        ({"a": math.nan}, {"a": 1.0}, "p_values, judge a: expected .* at most 1, got nan"),
        ({"a": 0.1}, {"a": math.nan}, "differences, judge a: expected a finite number, got nan"),
    ],
)
def test_what_is_no_test_is_refused(p_values, differences, message):
    with pytest.raises(StatisticsError, match=message):
        intersection_union(p_values, differences)


def test_a_mixed_contrast_stays_in_the_family_as_a_p_of_one():
    rows = [
        contrast("a", "o-r", -3, 0.001, 0.002),
        contrast("b", "o-r", -2, 0.020, 0.040),
        contrast("a", "o-g", -1, 0.010, 0.010),
        contrast("b", "o-g", 1, 0.060, 0.060),
        contrast("a", "r-g", 2, 0.040),
        contrast("b", "r-g", 2, 0.030),
    ]
    agreed, mixed, exploratory = across_judges(rows)
    assert (agreed.p_max, agreed.log10_p_max) == (0.020, pytest.approx(math.log10(0.020)))
    assert agreed.p_max_holm == holm({"o-r": 0.020, "o-g": 1.0})["o-r"] == 0.040
    assert (agreed.significant, agreed.not_significant) == (2, "none")
    assert (mixed.direction, mixed.p_max, mixed.p_max_holm) == ("mixed", None, None)
    assert (mixed.significant, mixed.not_significant) == (1, "b")
    assert (exploratory.direction, exploratory.p_max) == ("more in B", 0.040)
    assert (exploratory.p_max_holm, exploratory.significant) == (None, None)


def test_cochrans_q_of_a_published_table():
    # R 4.2.2: m the 12 × 3 matrix below (documentation of lbstat::cochranq.test),
    # mantelhaen.test(as.vector(m), factor(rep(1:3, each = 12)), factor(rep(1:12, 3)))
    # M^2 = 8, df = 2, p-value = 0.01832
    table = [
        [1, 1, 0], [0, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 0], [0, 1, 1],
        [0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1],
    ]  # fmt: skip
    found = cochran_q(table)
    # Column sums 3, 9, 3; row sums' squares add up to 27: Q = 2 (3 · 99 − 225) / (45 − 27).
    assert found.q == pytest.approx(2 * (3 * 99 - 225) / (45 - 27))
    assert (found.q, found.df) == (pytest.approx(8), 2)
    assert found.p == pytest.approx(0.01832, abs=5e-6)


@settings(max_examples=50)
@given(arrays(np.int64, (30, 2), elements=st.integers(0, 1)))
def test_of_two_conditions_cochrans_q_is_mcnemars_with_his_exact_p(labels_RC):
    b = int((labels_RC[:, 0] > labels_RC[:, 1]).sum())
    c = int((labels_RC[:, 0] < labels_RC[:, 1]).sum())
    found = cochran_q(labels_RC)
    if b + c == 0:
        assert found == (None, 1, None, None, 0, False)
        return
    # mcnemar([[0, b], [c, 0]], exact=False, correction=False)
    expected = mcnemar([[0, b], [c, 0]], exact=False, correction=False)
    assert found.q == pytest.approx(expected.statistic)
    # mcnemar([[0, b], [c, 0]], exact=True)
    assert found.p == pytest.approx(mcnemar([[0, b], [c, 0]], exact=True).pvalue)
    assert (found.n_varying, found.p_is_exact, found.is_sparse) == (b + c, True, False)


def test_five_changes_to_none_are_not_significant_by_q_either():
    # b = 5, c = 0: chi-square 5 would give .0253, the exact p is 2 / 2⁵.
    found = cochran_q([[1, 0]] * 5 + [[1, 1]] * 20)
    assert (found.q, found.p) == (pytest.approx(5), pytest.approx(0.0625))


@pytest.mark.parametrize(
    ("n_varying", "n_conditions", "is_sparse"),
    [(7, 3, True), (8, 3, False), (5, 4, True), (6, 4, False), (3, 9, True), (4, 9, False)],
)
def test_few_records_that_vary_are_too_few_for_chi_square(n_varying, n_conditions, is_sparse):
    # Tate and Brown 1970: at least 4 records that vary, and 24 labels of such records.
    varying = [[1] + [0] * (n_conditions - 1)] * n_varying
    found = cochran_q(varying + [[1] * n_conditions] * 50)
    assert (found.n_varying, found.is_sparse) == (n_varying, is_sparse)


def test_without_variation_nothing_is_tested_and_nothing_is_significant():
    assert cochran_q([[1, 1, 1], [0, 0, 0]]) == (None, 2, None, None, 0, False)


def test_a_p_too_small_for_a_float_keeps_its_logarithm():
    labels_RC = np.tile([1, 0, 0, 0], (3000, 1))
    found = cochran_q(labels_RC)
    assert found.q == pytest.approx(9000)  # 3 (4 · 3000² − 3000²) / (4 · 3000 − 3000)
    assert found.p == 0.0
    # P(χ²₃ > q) = 2 Φ(−√q) + √(2q/π) exp(−q/2); Φ(−x) ≈ φ(x)/x (1 − 1/x²) for large x.
    root = math.sqrt(9000)
    density = -4500 - 0.5 * math.log(2 * math.pi)
    first = math.log(2) + density - math.log(root) + math.log1p(-1 / 9000)
    second = 0.5 * math.log(2 * 9000 / math.pi) - 4500
    expected = (second + math.log1p(math.exp(first - second))) / math.log(10)
    assert found.log10_p == pytest.approx(expected, abs=1e-6)
    assert math.isfinite(found.log10_p)


@pytest.mark.parametrize("n_conditions", [3, 4, 5, 6, 11])
@pytest.mark.parametrize("n_changed", [5, 40, 100])
def test_the_logarithm_is_scipys_where_scipy_has_one(n_conditions, n_changed):
    labels_RC = np.tile([1] + [0] * (n_conditions - 1), (n_changed, 1))
    found = cochran_q(labels_RC)
    assert found.log10_p == pytest.approx(chi2.logsf(found.q, n_conditions - 1) / math.log(10))


@pytest.mark.parametrize("labels", [[[1], [0]], [[1, 2]], [1, 0], np.empty((0, 3))])
def test_what_is_no_label_cube_is_refused(labels):
    with pytest.raises(StatisticsError, match="labels_RC: "):
        cochran_q(labels)
