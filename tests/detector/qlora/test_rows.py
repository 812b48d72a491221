"""How a pair becomes token ids; what is cut, and what does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.qlora.lengths import measure_lengths
from ragmend.detector.qlora.prompting import prompt_text
from ragmend.detector.qlora.rows import asked_prompt, make_row, make_rows
from ragmend.errors import DataError
from ragmend.sections.training import Recipe

SOURCE = " ".join(f"This is sentence number {number} of the source." for number in range(40))


def recipe_with_room(pair, coder, n_more, answer_tokens=60):
    """Return a recipe in which a prompt may have so many tokens beside an empty source."""
    n_without = len(coder.prompt_ids(prompt_text(pair, "")))
    return Recipe(max_length=n_without + n_more + answer_tokens, answer_tokens=answer_tokens)


def test_a_row_learns_its_target_and_the_end_and_nothing_of_the_prompt(make_pair, coder):
    row = make_row(make_pair("It rains.", ["rains"]), coder, Recipe())
    target = '{"hallucinated": true, "spans": ["rains"]}'
    assert row.prompt.ids[0] == 1
    assert row.input_ids.count(1) == 1
    assert row.target_ids == [*map(ord, target), 2]
    assert row.input_ids == row.prompt.ids + row.target_ids
    assert row.labels == [-100] * len(row.prompt.ids) + row.target_ids


def test_a_source_that_is_too_long_loses_its_end_and_nothing_else_is_cut(make_pair, coder):
    pair = make_pair("It rains.", source=SOURCE, task_type="QA", question="What weather?")
    recipe = recipe_with_room(pair, coder, 300)
    row = make_row(pair, coder, recipe)
    text = coder.text_of(row.prompt.ids)
    assert "sentence number 0 " in text
    assert "sentence number 39 " not in text
    assert row.prompt.n_left_out > 0
    assert "<question>\nWhat weather?\n</question>\n<answer>\nIt rains.\n</answer>\n" in text
    assert len(row.prompt.ids) <= recipe.max_length - recipe.answer_tokens


def test_what_is_asked_is_token_for_token_what_was_trained_on(make_pair, coder):
    pair = make_pair("It rains.", source=SOURCE)
    recipe = recipe_with_room(pair, coder, 300)
    assert asked_prompt(pair, coder, recipe) == make_row(pair, coder, recipe).prompt


def test_a_target_that_needs_more_than_answer_tokens_takes_it_from_the_source(make_pair, coder):
    pair = make_pair("It rains and snows and hails all day.", ["It rains and snows"], source=SOURCE)
    recipe = recipe_with_room(pair, coder, 300, answer_tokens=20)
    row = make_row(pair, coder, recipe)
    asked = asked_prompt(pair, coder, recipe)
    assert len(row.target_ids) > 20
    assert len(row.input_ids) <= recipe.max_length
    assert row.prompt.n_left_out > asked.n_left_out


def test_an_answer_beside_which_no_piece_of_its_source_fits_is_left_out(make_pair, coder):
    pair = make_pair("It rains.", source=SOURCE)
    recipe = recipe_with_room(pair, coder, 5)
    assert make_row(pair, coder, recipe).prompt is None
    assert asked_prompt(pair, coder, recipe) is None
    [row] = measure_lengths(make_rows([pair], coder, recipe))
    assert (row.n, row.n_refused, row.prompt_max) == (1, 1, 0)


def test_a_pair_without_spans_is_refused_by_name(make_pair, coder):
    with pytest.raises(DataError, match="response 9: data without spans"):
        make_rows([make_pair(wrong=None, record_id="9")], coder, Recipe())


def test_lengths_are_counted_by_task(make_pair, coder):
    long = make_pair("x", source=SOURCE)
    recipe = recipe_with_room(long, coder, 300)
    pairs = [long, make_pair("x"), make_pair("xx"), make_pair("x", task_type="QA")]
    summary = measure_lengths(make_rows(pairs, coder, recipe))
    assert [(row.task, row.n) for row in summary] == [("QA", 1), ("Summary", 3)]
    n_short = len(coder.prompt_ids(prompt_text(pairs[1], "A. B.")))
    row = summary[1]
    assert (row.prompt_median, row.n_shortened, row.n_refused) == (n_short + 1, 1, 0)
    assert row.prompt_p95 == row.prompt_max == len(make_row(long, coder, recipe).prompt.ids)
    assert row.n_left_out == make_row(long, coder, recipe).prompt.n_left_out
    assert row.target_median == row.target_max == len('{"hallucinated": false, "spans": []}') + 1


@given(n_more=st.integers(0, 2_000), wrong=st.booleans())
def test_every_row_fits_whatever_room_there_is(n_more, wrong, make_pair, coder):
    pair = make_pair("It rains.", ["rains"] if wrong else [], source=SOURCE)
    recipe = recipe_with_room(pair, coder, n_more)
    row = make_row(pair, coder, recipe)
    assert row.prompt is None or len(row.input_ids) <= recipe.max_length
    assert row.prompt == asked_prompt(pair, coder, recipe)


def test_batches_are_of_about_equal_length_and_always_the_same(make_pair, make_job):
    pairs = [make_pair("x" * n, record_id=str(n)) for n in (5, 90, 1, 40, 7)]
    job = make_job(generation_batch_size=2)
    batches = [[pair.response.record_id for pair in b] for b in GENERATIVE.batches(job, pairs)]
    assert batches == [["90", "40"], ["7", "5"], ["1"]]
    assert list(GENERATIVE.batches(job, pairs)) == list(GENERATIVE.batches(job, pairs))
    assert list(GENERATIVE.batches(job, [])) == []
