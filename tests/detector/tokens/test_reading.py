"""Token probabilities as spans and a verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.detector.tokens.reading import greatest_score, read_scores
from ragmend.errors import DataError
from ragmend.records import Response
from ragmend.trained import DetectorAnswer, TokenScore


def respond(text):
    return Response(record_id="r", source_id="s", generator="g", text=text, split="train")


def answer_about(*scores, **fields):
    tokens = tuple(TokenScore(start=start, end=end, p=p) for start, end, p in scores)
    return DetectorAnswer(record_id="r", scores=tokens, **fields)


def read(text, *scores, threshold=0.5, **fields):
    answer = answer_about(*scores, **fields)
    return read_scores(answer, respond(text), run_id="d/seed-1", threshold=threshold)


def spans_of(detection):
    return [(span.start, span.end, span.text) for span in detection.spans]


def test_neighbouring_tokens_make_one_span_over_the_white_space_between_them():
    found = read("one two\n three four", (0, 3, 0.9), (4, 7, 0.5), (9, 14, 0.7), (15, 19, 0.4))
    assert spans_of(found) == [(0, 14, "one two\n three")]
    assert (found.verdict, found.status, found.score) == ("hallucinated", "ok", 0.9)


def test_a_supported_token_parts_two_spans():
    found = read("one two three", (0, 3, 0.9), (3, 7, 0.1), (7, 13, 0.9))
    assert spans_of(found) == [(0, 3, "one"), (8, 13, "three")]


def test_a_mark_between_two_spans_is_enough_to_part_them():
    found = read("one-two", (0, 3, 0.9), (3, 4, 0.1), (4, 7, 0.9))
    assert spans_of(found) == [(0, 3, "one"), (4, 7, "two")]


def test_tokens_that_begin_with_white_space_give_spans_that_do_not():
    found = read("one two ", (0, 3, 0.1), (3, 8, 0.9))
    assert spans_of(found) == [(4, 7, "two")]


def test_the_bytes_of_one_character_are_one_place():
    found = read("a😀b", (0, 1, 0.1), (1, 2, 0.1), (1, 2, 0.9), (1, 2, 0.2), (2, 3, 0.1))
    assert spans_of(found) == [(1, 2, "😀")]


def test_without_an_unsupported_token_an_answer_is_clean():
    found = read("one two", (0, 3, 0.2), (4, 7, 0.49999), left_out_fragments=2)
    assert (found.verdict, found.spans, found.score) == ("clean", (), 0.49999)
    assert found.left_out_fragments == 2


def test_a_probability_at_the_threshold_is_over_it():
    assert read("one", (0, 3, 0.25), threshold=0.25).verdict == "hallucinated"


@pytest.mark.parametrize("text", ["", " \n", "one"])
def test_an_answer_without_tokens_is_empty_with_any_threshold_or_none(text):
    for threshold in (0.5, None):
        found = read(text, threshold=threshold)
        assert (found.verdict, found.status, found.score) == ("empty", "empty", None)


def test_no_threshold_is_no_verdict():
    with pytest.raises(ValueError, match="threshold, found none"):
        read("one", (0, 3, 0.9), threshold=None)


def test_an_answer_with_a_problem_is_not_read():
    with pytest.raises(ValueError, match="too_long"):
        read("one", problem="too_long")


def test_an_answer_is_not_read_as_one_about_another_response():
    other = respond("one").model_copy(update={"record_id": "q"})
    with pytest.raises(ValueError, match="'q'"):
        read_scores(answer_about((0, 3, 0.9)), other, run_id="d/seed-1", threshold=0.5)


@pytest.mark.parametrize("stretch", [(2, 4), (3, 3), (4, 5)])
def test_a_token_outside_of_the_response_is_refused(stretch):
    with pytest.raises(DataError, match="has changed since"):
        read("one", (*stretch, 0.9))


TOKENS = st.lists(
    st.tuples(st.sampled_from(["a", "bc", " d", "\n", "  ", ".", "e\u0301", "😀 "]),
              st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0])),
    min_size=1, max_size=12,
)  # fmt: skip


@given(TOKENS, st.sampled_from([0.3, 0.5, 0.7]))
def test_spans_are_what_is_unsupported_and_nothing_else(tokens, threshold):
    text, scores = "", []
    for piece, p in tokens:
        if piece.strip():
            scores.append((len(text), len(text) + len(piece), p))
        text += piece
    found = read(text, *scores, threshold=threshold)
    inside = {at for span in found.spans for at in range(span.start, span.end)}
    flagged = {at for start, end, p in scores if p >= threshold for at in range(start, end)}
    visible = {at for at, character in enumerate(text) if not character.isspace()}
    assert inside & visible == flagged & visible
    assert all(span.text == span.text.strip() for span in found.spans)
    ends = [(left.end, right.start) for left, right in zip(found.spans, found.spans[1:])]  # noqa: B905
    assert all(text[end:start].strip() for end, start in ends)
    greatest = greatest_score(answer_about(*scores))
    is_flagged = greatest is not None and greatest >= threshold
    assert (found.verdict == "hallucinated") == bool(found.spans) == is_flagged
