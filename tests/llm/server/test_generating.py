"""A generated answer is what the model said, and whether it was cut is known."""

import pytest
from fault_server import Plan, Traits

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.protocol import Sampling

LONG = Sampling(max_tokens=60)
SCHEMA = {"type": "object", "properties": {"spans": {"type": "array"}}}


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_an_answer_is_what_the_model_says(serve, ask, prompt, text_of, endpoint):
    with serve() as server:
        said = ask(
            server, lambda model: model.generate(prompt(), LONG), model={"endpoint": endpoint}
        )
    assert said.text == server.model.answer(text_of(prompt()))
    assert said.finish == "stop"
    assert said.n_tokens == len(server.model.tokenizer.encode(said.text))


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_an_answer_longer_than_it_may_be_says_so(serve, ask, prompt, text_of, endpoint):
    with serve() as server:
        said = ask(
            server,
            lambda model: model.generate(prompt(), Sampling(3)),
            model={"endpoint": endpoint},
        )
    assert (said.finish, said.n_tokens) == ("length", 3)
    assert server.model.answer(text_of(prompt())).startswith(said.text)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("refused", "refused"),
        ("null_text", "empty"),
        ("odd_finish", "malformed"),
        ("not_json", "malformed"),
        ("no_choices", "malformed"),
    ],
)
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_final_fault_is_no_answer(serve, ask, prompt, client, endpoint, kind, status):
    plan = Plan(final_rate=1.0, final_generated=(kind,))
    with serve(plan) as server, pytest.raises(AnswerFaultError) as raised:
        ask(
            server,
            lambda model: model.generate(prompt(), LONG),
            model={"endpoint": endpoint},
            settings=client(max_tries=3),
        )
    assert raised.value.status == status


@pytest.mark.parametrize(
    ("kind", "text", "finish"), [("empty", "", "stop"), ("garbage", "I {cannot say\n", "stop")]
)
def test_what_a_role_cannot_read_is_still_what_the_model_said(
    serve, ask, prompt, kind, text, finish
):
    with serve(Plan(final_rate=1.0, final_generated=(kind,))) as server:
        said = ask(server, lambda model: model.generate(prompt(), LONG))
    assert (said.text, said.finish) == (text, finish)


def test_an_answer_that_the_server_cut_is_cut(serve, ask, prompt):
    with serve(Plan(final_rate=1.0, final_generated=("cut",))) as server:
        assert ask(server, lambda model: model.generate(prompt(), LONG)).finish == "length"


def test_an_answer_for_which_the_context_had_no_room_is_too_long_unless_it_ended(
    serve, ask, prompt, text_of
):
    with serve() as server:
        n_prompt = ask(server, lambda model: model.count_tokens(prompt()))
        n_answer = len(server.model.tokenizer.encode(server.model.answer(text_of(prompt()))))
    for room, is_enough in ((n_answer - 1, False), (n_answer, True)):
        with serve(traits=Traits(max_model_len=n_prompt + room)) as server:
            if is_enough:
                said = ask(server, lambda model: model.generate(prompt(), LONG))
                assert said.finish == "stop"
                continue
            with pytest.raises(AnswerFaultError, match="do not fit the context") as raised:
                ask(server, lambda model: model.generate(prompt(), LONG))
            assert raised.value.status == "too_long"


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_the_answer_of_another_model_stops_everything(serve, ask, prompt, endpoint):
    async def ask_twice(model):
        with pytest.raises(ServerError, match="'another' answered instead of 'tiny'"):
            await model.generate(prompt(), LONG)
        server.faults_off()
        await model.generate(prompt(), LONG)

    plan = Plan(final_rate=1.0, final_generated=("wrong_model",))
    with serve(plan) as server, pytest.raises(ServerError, match="answered instead"):
        ask(server, ask_twice, model={"endpoint": endpoint})


def test_what_is_sent_is_what_was_asked_for(serve, ask, prompt):
    sampling = Sampling(max_tokens=7, temperature=0.3, schema=SCHEMA)
    template = {"enable_thinking": False}
    with serve() as server:
        ask(
            server,
            lambda model: model.generate(prompt(), sampling),
            model={"chat_template_kwargs": template},
        )
    body = server.recent[-1][1]
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (7, 0.3, 0)
    assert body["chat_template_kwargs"] == template
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["repetition_penalty"] == 1.0  # not what the model's generation_config.json says


def test_only_a_vllm_server_is_sent_what_others_do_not_know(serve, ask, prompt):
    with serve(traits=Traits(version=None)) as server:
        ask(server, lambda model: model.generate(prompt(), LONG), forms=())
    known = {"model", "messages", "max_tokens", "temperature", "top_p", "seed"}
    assert set(server.recent[-1][1]) == known


@pytest.mark.parametrize("tokenizes", [True, False])
def test_tokens_are_counted_as_the_server_counts_them(serve, ask, prompt, tokenizes):
    async def count_and_ask(model):
        said = await model.generate(prompt(), LONG)
        return await model.count_tokens(prompt()), said.n_prompt_tokens

    with serve(traits=Traits(tokenizes=tokenizes)) as server:
        counted, used = ask(server, count_and_ask, forms=())
    assert counted == used > 0


def test_what_was_asked_is_counted_from_the_opening_on(serve, ask, prompt):
    async def usage(model):
        before = model.usage.n_requests
        said = await model.generate(prompt(), LONG)
        scored = await model.score_labels(prompt())
        n_prompt_tokens = said.n_prompt_tokens + scored.n_prompt_tokens
        assert model.usage.n_prompt_tokens == n_prompt_tokens
        assert model.usage.n_tokens == said.n_tokens + 1
        return before, model.usage.n_requests, model.usage.n_retries

    with serve() as server:
        assert ask(server, usage) == (0, 2, 0)
