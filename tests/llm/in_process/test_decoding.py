"""Generation: greedy as transformers', drawn so that it repeats, held to a schema."""

import json

import pytest

from ragmend.errors import AnswerFaultError, ConfigError
from ragmend.llm.in_process.constraint import Constraints
from ragmend.llm.in_process.decoding import generate_tokens
from ragmend.llm.in_process.running import Abandoned, Runner

pytestmark = pytest.mark.local

PROMPTS = [list(range(start, start + length)) for start, length in ((3, 5), (10, 200), (50, 130))]
SPANS = {
    "type": "object",
    "properties": {"spans": {"type": "array", "items": {"type": "string", "maxLength": 12}}},
    "required": ["spans"],
    "additionalProperties": False,
}
REWRITE = {
    "type": "object",
    "properties": {"rewrite": {"type": ["string", "null"]}},
    "required": ["rewrite"],
    "additionalProperties": False,
}


@pytest.fixture
def runner(local, tiny):
    from transformers import AutoModelForCausalLM

    return Runner(AutoModelForCausalLM.from_pretrained(tiny).eval(), n_threads=1)


@pytest.fixture
def tokenizer(local, tiny):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny)


@pytest.fixture
def constraints(runner, tokenizer):
    return Constraints(tokenizer, n_vocabulary=runner.model.config.vocab_size, end_ids={2})


def generate(runner, ids, **changed):
    how = {
        "max_tokens": 30,
        "temperature": 0.0,
        "end_ids": {2},
        "constraint": None,
        "should_stop": lambda: False,
    }
    return generate_tokens(runner, ids, **{**how, **changed})


@pytest.mark.parametrize("ids", PROMPTS)
def test_greedy_answers_are_those_of_transformers(runner, ids):
    import torch

    with torch.inference_mode():
        all_ids = runner.model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
            max_new_tokens=30,
            do_sample=False,
        )[0]
    assert generate(runner, ids).ids == all_ids[len(ids) :].tolist()


def test_an_answer_ends_at_its_limit_or_at_a_token_that_ends_answers(runner):
    whole = generate(runner, PROMPTS[0], end_ids=())
    assert (len(whole.ids), whole.finish) == (30, "length")
    third = whole.ids[2]
    ended = generate(runner, PROMPTS[0], end_ids={third})
    assert ended.ids == whole.ids[: whole.ids.index(third) + 1]
    assert ended.finish == "stop"


def test_a_token_that_ends_the_answer_at_its_limit_ends_it(runner):
    first = generate(runner, PROMPTS[0], max_tokens=1, end_ids=()).ids[0]
    assert generate(runner, PROMPTS[0], max_tokens=1, end_ids={first}).finish == "stop"


def test_drawn_answers_repeat_whatever_was_asked_before(runner):
    drawn = [generate(runner, ids, temperature=1.0).ids for ids in PROMPTS]
    again = [generate(runner, ids, temperature=1.0).ids for ids in reversed(PROMPTS)]
    assert drawn == again[::-1]
    assert drawn != [generate(runner, ids).ids for ids in PROMPTS]


def test_a_very_low_temperature_is_greedy(runner):
    assert generate(runner, PROMPTS[1], temperature=1e-9).ids == generate(runner, PROMPTS[1]).ids


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("schema", [SPANS, REWRITE])
def test_an_answer_under_a_schema_is_an_answer_to_it_or_cut(
    runner, tokenizer, constraints, schema, temperature
):
    (key,) = schema["properties"]
    n_ended = 0
    for ids in PROMPTS * 3:
        ids = [*ids, n_ended + 3]
        made = generate(
            runner,
            ids,
            max_tokens=150,
            temperature=temperature,
            constraint=constraints.start(schema),
        )
        text = tokenizer.decode(made.ids, skip_special_tokens=True)
        assert text.startswith(f'{{"{key}": ')
        if made.finish == "stop":
            n_ended += 1
            assert json.loads(text).keys() == {key}
    assert n_ended or temperature == 0.0


def test_white_space_is_not_generated_without_end(runner, tokenizer, constraints):
    import torch

    blank = tokenizer.encode("\n", add_special_tokens=False)[0]
    constraint = constraints.start(REWRITE)
    logits = torch.zeros(runner.model.config.vocab_size)
    logits[blank] = 100.0
    assert constraint.mask(logits)[blank] == -float("inf")


def test_a_finished_object_ends_the_answer_without_another_token(
    runner, tokenizer, constraints, monkeypatch
):
    wanted = tokenizer.encode('{"rewrite": null}', add_special_tokens=False)
    script = iter(wanted)
    monkeypatch.setattr("ragmend.llm.in_process.decoding._choose", lambda logits, *_: next(script))
    made = generate(runner, PROMPTS[0], constraint=constraints.start(REWRITE))
    assert made.ids == wanted
    assert made.finish == "stop"


def test_a_token_that_breaks_the_schema_is_a_fault_and_no_answer(constraints, tokenizer):
    constraint = constraints.start(REWRITE)
    with pytest.raises(AnswerFaultError, match="cannot go on under its JSON schema") as caught:
        constraint.ends_with(tokenizer.encode("Yes", add_special_tokens=False)[0])
    assert caught.value.status == "malformed"


def test_a_schema_that_cannot_be_held_is_refused(constraints):
    with pytest.raises(ConfigError, match="no answer can be held"):
        constraints.start({"type": "nonsense"})


def test_an_abandoned_answer_stops_at_its_next_token(runner):
    n_asked = 0

    def after_five():
        nonlocal n_asked
        n_asked += 1
        return n_asked > 5

    with pytest.raises(Abandoned):
        generate(runner, PROMPTS[0], max_tokens=1000, end_ids=(), should_stop=after_five)
    assert n_asked == 6
