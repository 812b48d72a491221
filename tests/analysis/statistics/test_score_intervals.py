"""Tango's and Newcombe's intervals against published tables and R."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from ragmend.analysis import newcombe_paired_interval, tango_interval
from ragmend.errors import StatisticsError

COUNT = st.integers(0, 300)
# Newcombe 1998, Statistics in Medicine 17, 2635-2650, Table III, method 10: e, f, g, h (both,
# first only, second only, neither) and the interval of first minus second.
NEWCOMBE_TABLE_3 = [
    (36, 12, 2, 0, 0.0569, 0.3404), (20, 12, 2, 16, 0.0562, 0.3292),
    (18, 12, 2, 18, 0.0562, 0.3290), (36, 14, 0, 0, 0.1528, 0.4167),
    (35, 14, 0, 1, 0.1461, 0.4175), (18, 14, 0, 18, 0.1441, 0.3963),
    (2, 97, 1, 0, 0.8721, 0.9854), (1, 97, 1, 1, 0.8736, 0.9850),
    (0, 29, 1, 0, 0.6666, 0.9882), (2, 98, 0, 0, 0.9178, 0.9945),
    (1, 98, 0, 1, 0.9171, 0.9916), (0, 30, 0, 0, 0.8395, 1.0),
    (54, 0, 0, 0, -0.0664, 0.0664), (53, 0, 0, 1, -0.0729, 0.0729),
    (30, 0, 0, 24, -0.0358, 0.0358), (27, 0, 0, 27, -0.0351, 0.0351),
]  # fmt: skip


@pytest.mark.parametrize(
    ("b", "c", "n", "low", "high"),
    [
        # R package ratesci: pairbinci(x = c(20, 15, 6, 5), contrast = "RD", method = "Score",
        #   skew = FALSE, bcf = FALSE), as printed on the CAMIS page on paired proportions.
        (6, 15, 46, 0.000419, 0.377185),
        # Fagerland, Lydersen and Laake 2014, Statistics in Medicine 33, 2850-2875: airway
        # hyper-responsiveness, (1, 1, 7, 12). Digits from their formula in R 4.2.2's uniroot.
        (7, 1, 21, -0.517232, -0.026003),
        # R package contingencytables: Tango_asymptotic_score_CI_paired_2x2 of (59, 6, 16, 80),
        #   -0.1240 to -0.0054; digits as above.
        (16, 6, 161, -0.124023, -0.005433),
        # R package PropCIs: its example scoreci.mp(b = 40, c = 20, n = 160, conf.level = 0.95);
        #   its values from the formula in R's uniroot.
        (40, 20, 160, -0.218064, -0.030865),
    ],
)
def test_tangos_interval_is_the_published_one(b, c, n, low, high):
    assert tango_interval(b, c, n) == pytest.approx((low, high), abs=1e-6)


def test_tangos_interval_at_ninety_percent_is_that_of_propcis():
    # R package PropCIs: scoreci.mp(25, 28, 618, 0.90), which prints -0.0148 and 0.0247
    assert tango_interval(25, 28, 618, confidence=0.9) == pytest.approx((-0.0148, 0.0247), abs=5e-5)


@pytest.mark.parametrize(("b", "c", "n"), [(4, 9, 40), (0, 6, 134), (30, 2, 60), (1, 1, 2)])
def test_the_score_at_tangos_ends_is_the_normal_quantile(b, c, n):
    """The restricted maximum is found here by a search, not by Tango's formula."""
    for end in tango_interval(b, c, n):

        def loss(p10, end=end):
            cells = [(b, p10), (c, p10 + end), (n - b - c, 1 - 2 * p10 - end)]
            if min(p for _, p in cells) < 0:
                return math.inf
            return -sum(k * math.log(max(p, 1e-300)) for k, p in cells if k)

        bounds = (max(0.0, -end), (1 - end) / 2)
        p10 = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        variance = n * (2 * p10 + end - end**2)
        assert abs(c - b - n * end) / math.sqrt(variance) == pytest.approx(
            norm.ppf(0.975), rel=1e-4
        )


@pytest.mark.parametrize(
    ("b", "c", "low", "high"),
    # z² / (n + z²) with n = 30 and z² = 3.8415 is 0.113513; the ends of ±1 are 1 - 2 · that
    [(0, 0, -0.113513, 0.113513), (30, 0, -1.0, -0.772973), (0, 30, 0.772973, 1.0)],
)
def test_where_all_records_are_alike_tangos_interval_has_a_closed_form(b, c, low, high):
    assert tango_interval(b, c, 30) == pytest.approx((low, high), abs=1e-6)


@given(b=COUNT, c=COUNT, rest=COUNT)
def test_tangos_interval_contains_the_estimate_and_mirrors_when_conditions_swap(b, c, rest):
    n = b + c + rest + 1
    low, high = tango_interval(b, c, n)
    assert -1 <= low <= (c - b) / n <= high <= 1
    assert low < high
    assert tango_interval(c, b, n) == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize(
    ("b", "c", "n"), [(999_999, 0, 10**6), (999_999, 1, 10**6), (1, 0, 10**6), (3, 9, 18_000)]
)
def test_tangos_interval_holds_at_the_ends_of_a_million_records(b, c, n):
    low, high = tango_interval(b, c, n)
    assert -1 <= low < (c - b) / n < high <= 1


@pytest.mark.parametrize(("both", "first", "second", "neither", "low", "high"), NEWCOMBE_TABLE_3)
def test_newcombes_interval_is_that_of_his_table(both, first, second, neither, low, high):
    found = newcombe_paired_interval(both, second, first, neither)
    assert found == pytest.approx((low, high), abs=1.5e-4)  # his z is 1.96


def test_newcombes_interval_is_that_of_r():
    # As worked on the CAMIS page on paired proportions, (20, 15, 6, 5): 0.002602 to 0.369943
    assert newcombe_paired_interval(20, 6, 15, 5) == pytest.approx((0.002602, 0.369943), abs=1e-6)


@given(both=COUNT, b=COUNT, c=COUNT, neither=COUNT)
def test_newcombes_interval_contains_the_estimate_and_mirrors(both, b, c, neither):
    n = both + b + c + neither + 1
    low, high = newcombe_paired_interval(both + 1, b, c, neither)
    assert -1 <= low <= (c - b) / n + 1e-12
    assert (c - b) / n - 1e-12 <= high <= 1
    swapped = newcombe_paired_interval(both + 1, c, b, neither)
    assert swapped == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize(
    ("b", "c", "n", "message"),
    [(0, 0, 0, "n: .* got 0"), (-1, 0, 3, "b: .* got -1"), (2, 2, 3, "b = 2, c = 2, n = 3")],
)
def test_counts_that_make_no_table_are_refused(b, c, n, message):
    with pytest.raises(StatisticsError, match=message):
        tango_interval(b, c, n)


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (3, -1, 0, 2)])
def test_cells_that_are_no_counts_are_refused(table):
    with pytest.raises(StatisticsError, match=r"at least one record|b: expected a whole number"):
        newcombe_paired_interval(*table)
