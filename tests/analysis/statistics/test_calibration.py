import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.calibration import calibration_curve

from ragmend.analysis.statistics.calibration import calibrate, calibration_error
from ragmend.errors import StatisticsError

probabilities = st.floats(0, 1).map(lambda p: round(p, 3))
units = st.lists(st.tuples(probabilities, st.booleans()), min_size=2, max_size=30).filter(
    lambda listed: len({event for _, event in listed}) == 2
)


def drawn(n, seed):
    """Probabilities that are too extreme by a factor of two in their log-odds."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=n) * 1.5
    event = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    return 1 / (1 + np.exp(-2 * log_odds)), event


def test_platts_curve_is_the_one_that_his_paper_minimises():
    p, event = drawn(300, 1)
    n_1, n_0 = event.sum(), (~event).sum()
    target = np.where(event, (n_1 + 1) / (n_1 + 2), 1 / (n_0 + 2))
    log_odds = np.log(p / (1 - p))

    def loss(coefficients):
        q = 1 / (1 + np.exp(-(coefficients[0] + coefficients[1] * log_odds)))
        return -(target * np.log(q) + (1 - target) * np.log(1 - q)).sum()

    # The outside check: scipy.optimize.minimize on Platt 1999, equations 3 to 5.
    intercept, slope = minimize(loss, [0.0, 1.0], tol=1e-10).x
    theirs = 1 / (1 + np.exp(-(intercept + slope * log_odds)))
    assert calibrate(p, event, p, method="platt") == pytest.approx(theirs, abs=1e-4)
    assert slope == pytest.approx(0.5, abs=0.12)  # the map undoes the factor of two


def test_isotonic_steps_are_pooled_by_hand():
    # .2 (1) and .4 (0) are out of order and pooled to 1/2; .1 (0) and .9 (1) stand alone.
    mapped = calibrate(
        [0.1, 0.2, 0.4, 0.9], [0, 1, 0, 1], [0.0, 0.1, 0.3, 0.9, 1.0], method="isotonic"
    )
    assert mapped == pytest.approx([0, 0, 0.5, 1, 1])


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_map_learnt_on_some_units_is_nearer_to_the_truth_on_others(method):
    p_dev, event_dev = drawn(2000, 2)
    p, event = drawn(2000, 3)
    before = calibration_error(p, event)
    after = calibration_error(calibrate(p_dev, event_dev, p, method=method), event)
    assert after.ece < before.ece / 2
    assert after.brier < before.brier
    assert after.log_loss < before.log_loss


@settings(max_examples=25)
@given(units, st.lists(probabilities, max_size=10))
def test_isotonic_maps_keep_the_order_and_stay_probabilities(listed, others):
    p_dev, event = zip(*listed, strict=True)
    mapped = calibrate(p_dev, event, sorted(others), method="isotonic")
    assert (np.diff(mapped) >= 0).all()
    assert ((mapped >= 0) & (mapped <= 1)).all()


def test_platts_curve_stays_finite_where_p_separates_the_kinds():
    mapped = calibrate([0.0, 0.1, 0.9, 1.0], [0, 0, 1, 1], [0.0, 0.5, 1.0], method="platt")
    assert mapped[1] == pytest.approx(0.5, abs=1e-6)
    assert 0.2 < mapped[0] < 0.5 < mapped[2] < 0.8  # towards 1/4 and 3/4


def test_errors_are_counted_by_hand():
    found = calibration_error([0.05, 0.15, 0.95, 0.95], [0, 1, 1, 0])
    assert found.brier == pytest.approx((0.05**2 + 0.85**2 + 0.05**2 + 0.95**2) / 4)
    assert found.log_loss == pytest.approx(-np.log([0.95, 0.15, 0.95, 0.05]).sum() / 4)
    # Bins [0, .1), [.1, .2) and [.9, 1]: |.05 − 0| + |.15 − 1| + |1.9 − 1| over four units.
    assert found.ece == pytest.approx((0.05 + 0.85 + 0.90) / 4)


def test_the_expected_error_is_that_of_scikit_learns_curve():
    p, event = drawn(500, 4)
    share, mean_p = calibration_curve(event, p, n_bins=10)
    n, _ = np.histogram(p, bins=np.linspace(0, 1, 11))
    theirs = (n[n > 0] * np.abs(share - mean_p)).sum() / len(p)
    assert calibration_error(p, event).ece == pytest.approx(theirs)


def test_a_certain_probability_that_is_wrong_costs_a_finite_log_loss():
    assert calibration_error([1.0], [0]).log_loss == pytest.approx(-np.log(1e-6))


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(StatisticsError, match="both kinds"):
        calibrate([0.1, 0.9], [1, 1], [0.5], method="platt")
    with pytest.raises(StatisticsError, match="platt or isotonic"):
        calibrate([0.1, 0.9], [0, 1], [0.5], method="beta")
    with pytest.raises(StatisticsError, match="probabilities in"):
        calibrate([0.1, 1.9], [0, 1], [0.5], method="platt")
    with pytest.raises(StatisticsError, match="probabilities in"):
        calibrate([0.1, 0.9], [0, 1], [float("nan")], method="platt")
    with pytest.raises(StatisticsError, match="2 in p_C and 1 in gold_C"):
        calibration_error([0.1, 0.9], [1])
    with pytest.raises(StatisticsError, match="gold_C: a label must be 0 or 1"):
        calibration_error([0.1], [0.5])
    with pytest.raises(StatisticsError, match="p_C: expected at least 1 value"):
        calibration_error([], [])
