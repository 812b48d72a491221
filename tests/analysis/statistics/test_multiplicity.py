"""Holm's procedure against statsmodels and hand arithmetic."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ragmend.analysis import holm
from ragmend.errors import StatisticsError


@settings(max_examples=5, deadline=None)  # statsmodels collects garbage on every call
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
