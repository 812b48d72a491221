"""The RAGTruth protocol, against hand arithmetic and scikit-learn."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.scoring import (
    Score,
    macro_f1,
    merge_spans,
    overlaps_any,
    score_responses,
    score_spans,
)

SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 10)).map(lambda p: (p[0], p[0] + p[1])), max_size=6
)


def characters(spans):
    return {i for start, end in spans for i in range(start, end)}


def test_the_selection_of_the_paper_gives_its_rates():
    score = Score(tp=740, fp=176, fn=203, tn=1581)
    assert [round(100 * rate, 1) for rate in (score.precision, score.recall, score.f1)] == [
        80.8,
        78.5,
        79.6,
    ]


def test_a_rate_without_a_denominator_is_undefined_not_zero():
    assert Score(0, 0, 0, 5).f1 is None
    assert macro_f1([Score(1, 0, 0, 0), Score(0, 0, 0, 5)]) is None
    assert macro_f1([]) is None


def test_macro_f1_is_the_mean_of_f1s():
    assert macro_f1([Score(1, 0, 0, 0), Score(0, 1, 1, 0)]) == 0.5


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_response_scores_agree_with_scikit_learn(pairs):
    from sklearn.metrics import precision_recall_fscore_support

    gold, flagged = (list(side) for side in zip(*pairs, strict=True))
    score = score_responses(gold, flagged)
    # sklearn.metrics.precision_recall_fscore_support(gold, flagged, average="binary")
    theirs = precision_recall_fscore_support(
        gold, flagged, average="binary", pos_label=True, zero_division=0.0
    )
    ours = [rate or 0.0 for rate in (score.precision, score.recall, score.f1)]
    assert ours == pytest.approx(list(theirs[:3]))
    assert sum(score) == len(pairs)


@given(SPANS, SPANS)
def test_span_scores_count_characters_of_the_union(gold, predicted):
    score = score_spans([gold], [predicted], [60])
    wanted, found = characters(gold), characters(predicted)
    assert score == Score(
        len(wanted & found), len(found - wanted), len(wanted - found), 60 - len(wanted | found)
    )


@given(SPANS)
def test_merged_spans_are_ordered_disjoint_and_cover_the_same(spans):
    merged = merge_spans(spans)
    assert characters(merged) == characters(spans)
    assert all(a[1] < b[0] for a, b in pairwise(merged))


def test_touching_is_not_overlapping():
    assert not overlaps_any(0, 5, [(5, 9)])
    assert overlaps_any(0, 6, [(5, 9)])


def test_sides_of_different_length_are_refused():
    with pytest.raises(ValueError):
        score_responses([True], [])
