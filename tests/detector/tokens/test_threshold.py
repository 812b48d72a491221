"""The threshold of a token classifier, against all that there are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.detector.tokens.threshold import choose_threshold, count_at_threshold
from ragmend.errors import DataError
from ragmend.records import GoldSpan, Response
from ragmend.scoring import Score
from ragmend.trained import DetectorAnswer, TokenScore

TEXT = "one two"
GOLD = GoldSpan(start=0, end=3, text="one", label_type="Evident Conflict")


def build(*rows):
    """Build answers and responses of rows (gold, greatest probability or None)."""
    responses, answers = [], {}
    for number, (gold, greatest) in enumerate(rows):
        record_id = str(number)
        responses.append(respond(record_id, (GOLD,) if gold else ()))
        scores = () if greatest is None else (
            TokenScore(start=0, end=3, p=greatest), TokenScore(start=3, end=7, p=greatest / 2)
        )  # fmt: skip
        answers[record_id] = DetectorAnswer(record_id=record_id, scores=scores)
    return answers, responses


def respond(record_id, spans):
    return Response(
        record_id=record_id, source_id="s", generator="g", text=TEXT, gold_spans=spans,
        split="train",
    )  # fmt: skip


def choose(*rows):
    return choose_threshold(*build(*rows))


def f1_at(rows, threshold):
    flagged = [greatest is not None and greatest >= threshold for _, greatest in rows]
    hits = sum(gold and flag for (gold, _), flag in zip(rows, flagged, strict=True))
    return 2 * hits / (sum(flagged) + sum(gold for gold, _ in rows))


PROBABILITY = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1, allow_subnormal=True)
)
ROWS = st.lists(st.tuples(st.booleans(), st.one_of(st.none(), PROBABILITY)), min_size=1, max_size=9)


@given(ROWS)
def test_no_threshold_has_a_better_f1(rows):
    golds = [gold for gold, _ in rows]
    found = [greatest for _, greatest in rows if greatest is not None]
    if not found:
        assert choose(*rows) is None
        return
    if not any(golds):
        with pytest.raises(DataError, match="is hallucinated"):
            choose(*rows)
        return
    chosen = choose(*rows)
    assert 0 <= chosen <= 1
    assert f1_at(rows, chosen) == max(f1_at(rows, threshold) for threshold in found)


@given(ROWS.filter(lambda rows: any(gold for gold, _ in rows) and any(p for _, p in rows)))
def test_none_with_the_same_f1_is_nearer_to_a_half(rows):
    chosen = choose(*rows)
    best = f1_at(rows, chosen)
    maxima = sorted({p for _, p in rows if p is not None})
    for below, value in zip([0.0, *maxima], maxima):  # noqa: B905
        middle = (below + value) / 2
        own = 0.5 if below < 0.5 <= value else middle if middle > below else value
        if f1_at(rows, own) == best and below < value:
            assert (abs(chosen - 0.5), -chosen) <= (abs(own - 0.5), -own)


def test_a_half_is_kept_where_it_parts_the_answers_as_well_as_any():
    assert choose((True, 0.99), (True, 0.9), (False, 0.1)) == 0.5


def test_between_two_answers_the_middle_is_taken():
    assert choose((True, 0.9), (False, 0.7), (False, 0.1)) == pytest.approx(0.8)
    assert choose((True, 0.4), (True, 0.3), (False, 0.1)) == pytest.approx(0.2)


def test_of_two_as_near_to_a_half_the_higher_is_taken():
    rows = [(True, 0.9), (False, 0.6), (True, 0.4), (False, 0.4), (False, 0.1)]
    assert f1_at(rows, 0.75) == f1_at(rows, 0.25) > f1_at(rows, 0.5)
    assert choose(*rows) == 0.75


def test_neighbouring_numbers_can_be_parted():
    low = 0.75
    high = math.nextafter(low, 1)
    assert choose((True, high), (False, low)) == high


def test_zero_can_be_chosen():
    assert choose((True, 0.0), (False, 0.0)) == 0.0


def test_an_answer_with_a_problem_is_never_flagged():
    answers, responses = build((True, 0.9), (False, 0.8), (True, None))
    answers["2"] = DetectorAnswer(record_id="2", problem="too_long")
    assert choose_threshold(answers, responses) == pytest.approx(0.85)
    counts = count_at_threshold(answers, responses, 0.85)
    assert counts.responses == Score(tp=1, fp=0, fn=1, tn=1)
    assert counts.spans == Score(tp=3, fp=0, fn=3, tn=15)


def test_spans_are_counted_at_the_threshold():
    answers, responses = build((True, 0.9), (False, 0.4))
    assert count_at_threshold(answers, responses, 0.45).spans == Score(tp=3, fp=4, fn=0, tn=7)
    assert count_at_threshold(answers, responses, 0.5).spans == Score(tp=3, fp=0, fn=0, tn=11)


def test_an_answer_that_is_missing_is_named():
    answers, responses = build((True, 0.9), (False, 0.4))
    del answers["1"]
    with pytest.raises(DataError, match="'1': the detector gave no answer"):
        choose_threshold(answers, responses)


def test_a_response_that_nobody_annotated_is_named():
    answers, responses = build((True, 0.9), (False, 0.4))
    responses[1] = respond("1", None)
    with pytest.raises(DataError, match="'1': nobody annotated it"):
        choose_threshold(answers, responses)


def test_without_any_token_there_is_nothing_to_choose():
    assert choose((True, None), (False, None)) is None
