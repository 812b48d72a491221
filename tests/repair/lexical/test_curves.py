import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ragmend.repair.lexical.curves import AdditiveModel, Curve, expit

finite = st.floats(-1e6, 1e6)
curves = st.lists(finite, min_size=1, max_size=6, unique=True).flatmap(
    lambda knots: st.lists(finite, min_size=len(knots), max_size=len(knots)).map(
        lambda values: Curve(feature="f", knots=tuple(sorted(knots)), values=tuple(values))
    )
)


@given(curves, finite)
def test_a_curve_is_numpys_interpolation(curve, x):
    assert curve.at(x) == pytest.approx(np.interp(x, curve.knots, curve.values), rel=1e-9, abs=1e-6)


@given(curves)
def test_a_curve_passes_through_its_knots_and_is_constant_beyond(curve):
    for knot, value in zip(curve.knots, curve.values, strict=True):
        assert curve.at(knot) == pytest.approx(value)
    assert curve.at(-math.inf) == curve.values[0]
    assert curve.at(math.inf) == curve.values[-1]


@pytest.mark.parametrize(
    "fields",
    [{"knots": (1.0, 1.0)}, {"knots": (2.0, 1.0)}, {"values": (1.0,)}, {"knots": (), "values": ()}],
)
def test_what_is_no_function_is_refused(fields):
    with pytest.raises(ValidationError):
        Curve(**{"feature": "f", "knots": (0.0, 1.0), "values": (0.0, 1.0)} | fields)


def test_curves_and_intercept_add_up():
    model = AdditiveModel(
        curves=(
            Curve(feature="a", knots=(0.0, 2.0), values=(0.0, 1.0)),
            Curve(feature="b", knots=(0.0,), values=(-3.0,)),
        ),
        intercept=0.25,
        shift=9.0,
    )
    assert model.log_odds([1.0, 5.0]) == pytest.approx(0.25 + 0.5 - 3.0)
    with pytest.raises(ValueError, match="zip"):
        model.log_odds([1.0])


@given(st.floats(allow_nan=False))
def test_expit_never_overflows_and_mirrors(x):
    assert 0.0 <= expit(x) <= 1.0
    assert expit(x) + expit(-x) == pytest.approx(1.0)
