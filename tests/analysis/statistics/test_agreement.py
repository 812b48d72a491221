"""Agreement of two raters, against statsmodels, scikit-learn, R's vcd, irrCAC and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from ragmend.analysis import agreement, cohen_kappa, gwet_ac1
from ragmend.analysis.statistics.agreement import EQUAL_ENDS
from ragmend.errors import StatisticsError

# Counts of (both 1, first alone 1, second alone 1, both 0). The first and second tables are
# Feinstein and Cicchetti's (1990, J Clin Epidemiol 43:543-549) with equal agreement of .85.
BALANCED, SKEWED, PARADOX = (40, 9, 6, 45), (80, 10, 5, 5), (118, 5, 2, 0)
tables = st.tuples(*[st.integers(0, 40)] * 4).filter(any)
varied = tables.filter(lambda t: 0 < t[0] + t[1] < sum(t) and 0 < t[0] + t[2] < sum(t))


def labels(table):
    both, first, second, neither = table
    a = [1] * (both + first) + [0] * (second + neither)
    b = [1] * both + [0] * first + [1] * second + [0] * neither
    return np.array(a), np.array(b)


def of_statsmodels(table):
    both, first, second, neither = table
    return cohens_kappa(np.array([[both, first], [second, neither]]))


@pytest.mark.parametrize(
    ("table", "value", "se"),
    [
        # R 4.2.2, vcd 1.4.11: Kappa(matrix(c(118, 2, 5, 0), 2))$Unweighted, and so on
        (PARADOX, -0.0233918128654961, 0.0122867566728453),
        (BALANCED, 0.6995192307692307, 0.0713936026999882),
        ((20, 5, 10, 15), 0.4, 0.1269960629311),
    ],
)
def test_kappa_and_its_error_are_those_of_r(table, value, se):
    found = cohen_kappa(*labels(table))
    assert found.value == pytest.approx(value, abs=1e-14)
    assert found.se == pytest.approx(se, abs=1e-13)


def test_kappas_interval_is_that_of_r():
    # R 4.2.2, vcd 1.4.11: confint(Kappa(matrix(c(40, 6, 9, 45), 2)))
    found = cohen_kappa(*labels(BALANCED))
    assert (found.low, found.high) == pytest.approx((0.559590340750692, 0.839448120787769))


@given(varied)
def test_kappa_its_error_and_its_ceiling_are_those_of_statsmodels(table):
    expected, found = of_statsmodels(table), cohen_kappa(*labels(table))
    assert found.value == pytest.approx(expected.kappa, abs=1e-12)
    assert found.se**2 == pytest.approx(expected.var_kappa, abs=1e-12)
    assert agreement(*labels(table)).kappa_max == pytest.approx(expected.kappa_max, abs=1e-12)


@given(varied)
def test_kappa_is_that_of_scikit_learn(table):
    assert cohen_kappa(*labels(table)).value == pytest.approx(
        cohen_kappa_score(*labels(table)), abs=1e-12
    )


@pytest.mark.parametrize(
    ("table", "value", "se"),
    [
        # irrCAC 0.4.4 (scipy 1.12.0):
        # irrCAC.table.CAC(DataFrame([[118, 5], [2, 0]]), digits=10).gwet()["est"], and so on
        (PARADOX, 0.9407763376, 0.02296455),
        (BALANCED, 0.7007481297, 0.0713518),
        ((20, 5, 10, 15), 0.4059405941, 0.13015172),
    ],
)
def test_ac1_and_its_error_are_those_of_irrcac(table, value, se):
    found = gwet_ac1(*labels(table))
    assert found.value == pytest.approx(value, abs=1e-10)
    assert found.se == pytest.approx(se, abs=1e-7)


@given(tables)
def test_the_variance_of_ac1_is_gwets_closed_form(table):
    # Gwet 2008, for two raters and two categories: [p_a(1 - p_a) - 4(1 - v)(Σ p_kk(1 - q_k) -
    # p_a p_e) + 4(1 - v)²(Σ p_kl(1 - (q_k + q_l)/2)² - p_e²)] / (n(1 - p_e)²)
    n = sum(table)
    p = np.array(table).reshape(2, 2) / n
    q = (p.sum(axis=0) + p.sum(axis=1)) / 2
    p_a, p_e = np.trace(p), 2 * q[0] * q[1]
    value = (p_a - p_e) / (1 - p_e)
    middle = np.diag(p) @ (1 - q) - p_a * p_e
    last = (p * (1 - (q[:, None] + q) / 2) ** 2).sum() - p_e**2
    spread = p_a * (1 - p_a) - 4 * (1 - value) * middle + 4 * (1 - value) ** 2 * last
    found = gwet_ac1(*labels(table))
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.se**2 == pytest.approx(spread / (n * (1 - p_e) ** 2), abs=1e-12)


def test_one_record_a_source_gives_irrcacs_interval_for_single_records():
    # irrCAC 0.4.4 (scipy 1.12.0), on the 100 single pairs of labels, which it weighs with
    # n / (n - 1) and Student's t: irrCAC.raw.CAC(DataFrame(pairs), digits=10).gwet()["est"]
    found = gwet_ac1(*labels(BALANCED), sources_R=range(100))
    assert found.se == pytest.approx(0.0717112606, abs=1e-10)
    assert (found.low, found.high) == pytest.approx((0.5584574309, 0.8430388285), abs=1e-9)


@given(varied)
def test_one_record_a_source_is_nearly_no_source(table):
    n = sum(table)
    for coefficient in (cohen_kappa, gwet_ac1):
        alone = coefficient(*labels(table))
        by_source = coefficient(*labels(table), sources_R=range(n))
        assert by_source.value == alone.value
        assert by_source.se == pytest.approx(alone.se * math.sqrt(n / (n - 1)), abs=1e-9)


def test_records_copied_within_their_source_do_not_narrow_the_interval():
    a, b = labels(BALANCED)
    once = agreement(a, b, sources_R=range(100))
    thrice = agreement(np.tile(a, 3), np.tile(b, 3), sources_R=[*range(100)] * 3)
    assert thrice.kappa == once.kappa
    assert (thrice.kappa_low, thrice.kappa_high) == pytest.approx((once.kappa_low, once.kappa_high))
    assert (thrice.ac1_low, thrice.ac1_high) == pytest.approx((once.ac1_low, once.ac1_high))
    assert agreement(np.tile(a, 3), np.tile(b, 3)).kappa_low > once.kappa_low


def test_the_sandwich_is_the_jackknife_over_sources():
    # Leaving out one source at a time (Efron and Stein 1981) knows nothing of influences.
    a, b, sources = clustered(np.random.default_rng(11), n_sources=150)
    for coefficient in (cohen_kappa, gwet_ac1):
        left_G = np.array([coefficient(a[sources != s], b[sources != s]).value for s in range(150)])
        jackknife = math.sqrt(149 / 150 * ((left_G - left_G.mean()) ** 2).sum())
        found = coefficient(a, b, sources_R=sources)
        assert found.se == pytest.approx(jackknife, rel=0.03)
        assert found.se > 1.3 * coefficient(a, b).se


def test_the_interval_by_source_covers_where_the_closed_form_does_not():
    stream = np.random.default_rng(5)
    truth = cohen_kappa(*clustered(stream, n_sources=60_000)[:2]).value
    hits = np.zeros(2)
    for _ in range(400):
        a, b, sources = clustered(stream, n_sources=60)
        for way, known in enumerate((None, sources)):
            found = cohen_kappa(a, b, sources_R=known)
            hits[way] += found.low <= truth <= found.high
    alone, by_source = hits / 400
    assert alone < 0.87
    assert 0.91 < by_source < 0.98


def clustered(stream, n_sources):
    """Six records a source; its truth and how hard it is are the source's own."""
    sources = np.repeat(np.arange(n_sources), 6)
    truth = (stream.random(n_sources) < 0.5)[sources]
    error = np.where(stream.random(n_sources) < 0.3, 0.45, 0.03)[sources]
    a = truth ^ (stream.random(len(sources)) < error)
    b = truth ^ (stream.random(len(sources)) < error)
    return a.astype(int), b.astype(int), sources


def test_agreement_by_hand():
    # 100 records, .85 agree; rates .90 and .85. p_e = .765 + .015 = .78; κ = .07 / .22.
    # Ceiling: the rates allow .85 + .10 = .95 to agree, so (.95 - .78) / .22.
    found = agreement(*labels(SKEWED))
    assert found.kappa == pytest.approx(7 / 22)
    assert found.kappa_max == pytest.approx(17 / 22)
    assert found.pabak == pytest.approx(0.70)
    assert found.agree_pos == pytest.approx(160 / 175)
    assert found.agree_neg == pytest.approx(10 / 25)
    # AC1: q = .875, p_e = 2 · .875 · .125 = .21875.
    assert found.ac1 == pytest.approx((0.85 - 0.21875) / (1 - 0.21875))
    assert found.n == 100
    assert found.reason is None


def test_equal_agreement_can_be_a_high_or_a_low_kappa():
    # Cicchetti and Feinstein 1990, J Clin Epidemiol 43:551-558: .70 and .32, from .85 both times.
    balanced, skewed = agreement(*labels(BALANCED)), agreement(*labels(SKEWED))
    assert balanced.pabak == skewed.pabak
    assert round(balanced.kappa, 2) == 0.70
    assert round(skewed.kappa, 2) == 0.32
    assert (round(balanced.agree_pos, 2), round(balanced.agree_neg, 2)) == (0.84, 0.86)


@given(varied)
def test_kappa_never_exceeds_its_ceiling(table):
    found = agreement(*labels(table))
    assert found.kappa <= found.kappa_max
    assert 0 < found.kappa_max <= 1
    if found.kappa_low is None:
        assert found.reason == EQUAL_ENDS
    else:
        assert -1 <= found.kappa_low <= found.kappa <= found.kappa_high <= 1


@given(varied)
def test_the_ceiling_is_reached_by_the_nearest_labels_of_these_rates(table):
    both, first, second, _ = table
    ones_a, ones_b, n = both + first, both + second, sum(table)
    shared = min(ones_a, ones_b)
    nearest = (shared, ones_a - shared, ones_b - shared, n - max(ones_a, ones_b))
    assert agreement(*labels(nearest)).kappa == agreement(*labels(table)).kappa_max


@given(tables, st.randoms(use_true_random=False))
def test_swapping_the_raters_or_the_order_of_records_changes_nothing(table, random):
    a, b = labels(table)
    order = list(range(len(a)))
    random.shuffle(order)
    found = agreement(a, b, raters=("x", "y"))
    assert agreement(b, a, raters=("y", "x"))[:-1] == pytest.approx(found[:-1], abs=1e-12)
    assert agreement(a[order], b[order], raters=("x", "y")) == found


@given(tables)
def test_doubling_the_records_changes_no_estimate(table):
    found, doubled = agreement(*labels(table)), agreement(*labels([2 * count for count in table]))
    for name in ("kappa", "kappa_max", "ac1", "pabak", "agree_pos", "agree_neg", "reason"):
        assert getattr(doubled, name) == getattr(found, name)


@given(tables)
def test_swapping_the_labels_swaps_the_two_agreements_alone(table):
    a, b = labels(table)
    found, swapped = agreement(a, b), agreement(1 - a, 1 - b)
    assert (swapped.kappa, swapped.ac1, swapped.pabak) == (found.kappa, found.ac1, found.pabak)
    assert (swapped.agree_pos, swapped.agree_neg) == (found.agree_neg, found.agree_pos)


def test_a_rater_with_one_label_has_no_kappa_and_the_reason_names_it():
    found = agreement([1, 1, 1, 1], [1, 1, 1, 0], raters=("gemma", "qwen"))
    assert (found.kappa, found.kappa_low, found.kappa_high, found.kappa_max) == (None,) * 4
    assert found.reason == "gemma gave the same label to every record"
    assert found.pabak == 0.5
    # q = 7/8, p_e = 14/64: (3/4 - 14/64) / (50/64)
    assert found.ac1 == pytest.approx(34 / 50)
    assert found.agree_neg == 0


def test_two_raters_with_one_label_are_both_named():
    found = agreement([0, 0], [0, 0], raters=("gemma", "qwen"))
    assert "gemma gave" in found.reason
    assert "qwen gave" in found.reason
    assert (found.ac1, found.ac1_low, found.ac1_high, found.pabak) == (1, None, None, 1)
    assert (found.agree_pos, found.agree_neg) == (None, 1)


def test_one_source_gives_no_interval():
    found = agreement(*labels(BALANCED), sources_R=["s"] * 100)
    assert found.kappa == pytest.approx(0.6995192307692307)
    assert (found.kappa_low, found.ac1_high) == (None, None)
    assert "one source" in found.reason
    constant = agreement([1, 1], [1, 0], sources_R=["s", "s"])
    assert constant.reason.startswith("rater A gave the same label")
    assert constant.reason.endswith("from which no interval can be had")


@pytest.mark.parametrize(
    ("a", "b", "sources", "kappa", "ac1"),
    [
        ([1, 0], [0, 1], None, -1, -1),  # p_o = 0, p_e = 1/2
        ([1, 1, 0], [1, 1, 0], None, 1, 1),
        # Each source has the pairs 11, 10, 00: p_o = 2/3, rates 2/3 and 1/3, p_e = 4/9; q = 1/2
        ([1, 1, 0] * 7, [1, 0, 0] * 7, np.repeat(range(7), 3), 0.4, 1 / 3),
    ],
)
def test_a_standard_error_of_zero_is_no_certainty(a, b, sources, kappa, ac1):
    found = agreement(a, b, sources_R=sources)
    assert (found.kappa, found.ac1) == (pytest.approx(kappa), pytest.approx(ac1))
    assert found.kappa_low is found.kappa_high is found.ac1_low is found.ac1_high is None
    assert found.reason == EQUAL_ENDS


def test_truth_values_are_labels():
    assert agreement([True, False], [1, 0]).kappa == 1


@pytest.mark.parametrize("confidence", [0, 1, 95, math.nan])
def test_a_confidence_level_outside_0_and_1_is_refused(confidence):
    for measure in (agreement, cohen_kappa, gwet_ac1):
        with pytest.raises(StatisticsError, match="confidence"):
            measure([1, 0], [1, 0], confidence=confidence)


@pytest.mark.parametrize(
    ("a", "b", "sources", "message"),
    [
        ([], [], None, "labels_a_R: expected at least 1"),
        ([1, 0], [1], None, "2 in labels_a_R and 1 in labels_b_R"),
        ([1, 0], [[1, 0]], None, r"labels_b_R: .* got shape \(1, 2\)"),
        ([1, 2], [1, 0], None, "labels_a_R: a label must be 0 or 1, got 2"),
        ([1, 0], [1, math.nan], None, "labels_b_R: a label must be 0 or 1, got nan"),
        ([1, 0], ["yes", "no"], None, "labels_b_R: a label must be 0 or 1, got 'yes'"),
        ([1, 0], [1, None], None, "labels_b_R: a label must be 0 or 1, got None"),
        ([1, 0], [1, 0], ["s"], "sources_R: expected one source a record of 2"),
        ([1, 0], [1, 0], ["s", None], "record 2: the source is missing"),
        ([1, 0], [1, 0], ["s", math.nan], "record 2: the source is missing"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(a, b, sources, message):
    with pytest.raises(StatisticsError, match=message):
        agreement(a, b, sources_R=sources)
