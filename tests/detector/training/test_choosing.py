"""The epoch with the best response-level F1 is kept, the earlier of equals."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.detector.training.choosing import choose_epoch, chosen_epoch, score_epoch
from ragmend.errors import AccountingError
from ragmend.records import Detection, GoldSpan, Response, Span
from ragmend.trained import EpochScore


def row(epoch, tp, fp, fn, tn=0, level="response"):
    return EpochScore(
        epoch=epoch, level=level, n_responses=tp + fp + fn + tn, tp=tp, fp=fp, fn=fn, tn=tn
    )


def best(rows):
    return chosen_epoch(choose_epoch(rows)).epoch


def test_equal_scores_go_to_the_earlier_epoch_even_where_floats_would_differ():
    assert best([row(1, 1, 1, 1), row(2, 10, 10, 10), row(3, 5, 5, 5)]) == 1


def test_an_undefined_f1_ranks_last():
    assert best([row(1, 0, 0, 0, 9), row(2, 0, 3, 0)]) == 2


def test_the_span_level_decides_nothing():
    rows = [
        row(1, 2, 0, 1),
        row(2, 3, 0, 0),
        row(1, 99, 0, 0, level="span"),
        row(2, 0, 9, 9, level="span"),
    ]
    chosen = choose_epoch(rows)
    assert {r.epoch for r in chosen if r.chosen} == {2}
    assert sum(r.chosen for r in chosen) == 2


counts = st.tuples(*[st.integers(0, 6)] * 3)


@given(st.lists(counts, min_size=1, max_size=6))
def test_no_epoch_is_better_and_none_as_good_is_earlier(found):
    rows = [row(n + 1, *each) for n, each in enumerate(found)]
    f1 = {r.epoch: Fraction(2 * r.tp, w) if (w := 2 * r.tp + r.fp + r.fn) else -1 for r in rows}
    chosen = best(rows)
    assert f1[chosen] == max(f1.values())
    assert all(f1[epoch] < f1[chosen] for epoch in f1 if epoch < chosen)


def test_spans_are_scored_by_characters_and_unread_answers_are_not_flagged():
    text = "abcdefghij"
    gold = (GoldSpan(start=2, end=6, text="cdef", label_type="Evident Conflict"),)
    responses = [
        Response(
            record_id=str(n),
            source_id="s",
            generator="g",
            text=text,
            gold_spans=gold,
            split="train",
        )
        for n in range(3)
    ]
    spans = (Span(start=4, end=8, text="efgh"),)
    verdicts = [
        ("hallucinated", spans, "ok"),
        ("unparsed", (), "truncated"),
        ("empty", (), "empty"),
    ]
    detections = {
        str(n): Detection(record_id=str(n), run_id="r", verdict=v, spans=s, status=status)
        for n, (v, s, status) in enumerate(verdicts)
    }
    response, span = score_epoch(1, responses, detections)
    assert (response.tp, response.fn, response.n_empty, response.n_unparsed) == (1, 2, 1, 1)
    assert (span.tp, span.fp, span.fn, span.tn) == (2, 2, 10, 16)
    del detections["2"]
    with pytest.raises(AccountingError, match="no verdict on development answer '2'"):
        score_epoch(1, responses, detections)


def test_not_one_chosen_epoch_is_an_error():
    with pytest.raises(AccountingError, match="0 epochs"):
        chosen_epoch([row(1, 1, 0, 0)])
