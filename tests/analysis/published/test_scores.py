"""Printed scores and the numbers that they may stand for."""

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from ragmend.analysis.inputs.frames import Frames
from ragmend.analysis.printing.table import round_half_up
from ragmend.analysis.published.scores import Printed, Range, f1_range, mean_range, printed_scores
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.study import Study
from ragmend.errors import StatisticsError

COUNTS = st.integers(1, 3000)


def printed(value, digits):
    return Printed(Fraction(round_half_up(value, digits)), digits)


def study(*rows):
    columns = ["table", "group", "method", "model", "precision", "recall", "f1"]
    return Study(Frames(published=pd.DataFrame(rows, columns=columns)), Settings(), Provenance())


@given(tp=COUNTS, fp=COUNTS, fn=COUNTS, digits=st.integers(0, 3))
def test_scores_of_real_counts_are_never_called_inconsistent(tp, fp, fn, digits):
    precision = printed(Fraction(100 * tp, tp + fp), digits)
    recall = printed(Fraction(100 * tp, tp + fn), digits)
    f1 = printed(Fraction(200 * tp, 2 * tp + fp + fn), digits)
    within = f1_range(precision.range, recall.range)
    assert within is None or within.meets(f1.range)


@given(st.lists(st.fractions(0, 100), min_size=1, max_size=6), st.integers(0, 3))
def test_a_mean_of_real_scores_is_never_called_inconsistent(scores, digits):
    mean = printed(sum(scores) / len(scores), digits)
    assert mean_range([printed(score, digits).range for score in scores]).meets(mean.range)


def test_the_range_of_f1_holds_sklearns_value_and_is_narrow():
    gold, flagged = [1, 1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 0, 1, 0]
    precision, recall, f1 = (
        printed(100 * score(gold, flagged), 1)
        for score in (precision_score, recall_score, f1_score)
    )
    within = f1_range(precision.range, recall.range)
    assert within.low <= f1.value <= within.high
    assert within.high - within.low <= Fraction(1, 10)


def test_45_6_cannot_be_the_f1_of_precision_33_2_and_recall_90_6():
    # By hand: at most 2 · 33.25 · 90.65 / (33.25 + 90.65) = 48.654, at least
    # 2 · 33.15 · 90.55 / (33.15 + 90.55) = 48.532.
    within = f1_range(printed(33.2, 1).range, printed(90.6, 1).range)
    assert [round_half_up(end, 3) for end in within] == ["48.532", "48.654"]
    assert not within.meets(printed(45.6, 1).range)
    assert within.meets(printed(48.6, 1).range)


def test_f1_of_two_scores_that_may_be_zero_is_undefined():
    assert f1_range(printed(0, 1).range, printed(0, 1).range) is None


def test_ranges_that_touch_meet_and_others_do_not():
    assert Range(Fraction(1), Fraction(2)).meets(Range(Fraction(2), Fraction(3)))
    assert not Range(Fraction(1), Fraction(2)).meets(Range(Fraction(201, 100), Fraction(3)))


def test_a_whole_number_has_the_digits_of_its_table():
    lines = printed_scores(
        study(
            ("5", "TOD", "random", None, 31.86, 48.0, 38.3),
            ("1", "QA", "direct", "m", 30.1, 100.0, None),
        )
    )
    assert [(line.recall.text, line.recall.digits) for line in lines] == [
        ("48.00", 2),
        ("100.0", 1),
    ]
    assert lines[0].f1.text == "38.30"
    assert lines[1].f1 is None
    assert [line.system for line in lines] == ["random", "direct (m)"]


@pytest.mark.parametrize("value", [100.5, -1, float("inf"), "n/a"])
def test_what_is_no_percentage_is_refused_with_its_line(value):
    with pytest.raises(StatisticsError, match=r"published: table 1, group QA, .*no percentage"):
        printed_scores(study(("1", "QA", "direct", "m", value, 50.0, 50.0)))


def test_a_line_given_twice_is_refused():
    line = ("1", "QA", "direct", None, 50.0, 50.0, 50.0)
    with pytest.raises(StatisticsError, match=r"published: table 1, .* occurs more than once"):
        printed_scores(study(line, line))


def test_without_published_scores_there_is_no_line():
    assert printed_scores(Study(Frames(), Settings(), Provenance())) == []
