"""A server is opened only if it is the one configured and can do what is asked of it."""

import json
import socket

import pytest
from fake_http import Response, as_error
from fault_server import Plan, Traits

from ragmend.errors import AnswerFaultError, ConfigError, ServerError
from ragmend.llm.labels import NO_FORMS, YES_FORMS
from ragmend.llm.protocol import Prompt, Sampling


def test_what_the_server_says_of_itself_is_recorded(serve, ask):
    with serve() as server:
        opened = ask(server, model={"served_name": "tiny"})
    assert opened.facts == {
        "model": "tiny",
        "served_as": "tiny",
        "version": "0.32.0",
        "max_model_len": 4096,
        "logprobs": "token-ids",
    }
    assert (opened.model, opened.context_length) == ("tiny", 4096)


def test_the_facts_are_the_same_under_transient_faults(serve, ask):
    with serve(Plan(transient_rate=0.5, seed=3, spared=()), Traits(max_model_len=999)) as server:
        shaken = ask(server).facts
        assert server.injected.total() > 0
        server.faults_off()
        assert ask(server).facts == shaken


def test_where_nobody_listens_the_message_names_the_url_and_what_to_do(ask, monkeypatch):
    async def wait(_asker, seconds):
        raise AssertionError(f"waited {seconds} s for a server that was never there")

    monkeypatch.setattr("ragmend.llm.server.asking.Asker._pause", wait)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ServerError) as raised:
            ask(url)
    assert str(raised.value).startswith(f"{url}: no server answers there (")
    assert str(raised.value).endswith("start it, or put its address right")


@pytest.mark.parametrize(
    "url", ["", "localhost:8000/v1", "ftp://here/v1", "http://", "http://h:port/v1"]
)
def test_what_is_no_url_is_refused_before_anything_is_sent(ask, url):
    with pytest.raises(ServerError, match="is no URL of a server"):
        ask(url)


def test_a_url_with_another_path_is_refused(serve, ask):
    with serve() as server, pytest.raises(ServerError) as raised:
        ask(server.url.removesuffix("/v1"))
    assert "has no /models (HTTP 404)" in str(raised.value)
    assert "it mostly ends in /v1" in str(raised.value)


def test_a_slash_at_the_end_of_the_url_changes_nothing(serve, ask):
    with serve() as server:
        assert ask(server.url + "/").facts == ask(server).facts


def test_a_server_that_is_no_model_server_is_refused_at_once(ask, web_page):
    with pytest.raises(ServerError, match="is no server with OpenAI's interface"):
        ask(web_page.url)
    assert web_page.n_requests == 2  # its models, and whether it is well


def test_another_model_is_refused_with_the_names_of_those_there(serve, ask):
    with serve(traits=Traits(model="other")) as server, pytest.raises(ServerError) as raised:
        ask(server)
    assert f"{server.url} does not have the model 'tiny', it has 'other'" in str(raised.value)
    assert "`served_name`" in str(raised.value)


def test_another_context_length_is_refused(serve, ask):
    with serve() as server, pytest.raises(ServerError, match=r"4096 tokens, .* says 2048"):
        ask(server, model={"max_model_len": 2048})


def test_a_context_length_that_no_server_tells_is_taken_from_the_configuration(serve, ask):
    with serve(traits=Traits(tells_context=False)) as server:
        assert ask(server, model={"max_model_len": 2048}).context_length == 2048
        with pytest.raises(ServerError, match="give it as `max_model_len`"):
            ask(server)


def test_a_key_goes_to_the_server_and_never_into_a_message(serve, ask):
    keyed = {"api_key_env": "THE_KEY"}
    with serve(traits=Traits(api_key="s3cret")) as server:
        ask(server, model=keyed, environ={"THE_KEY": " s3cret\n"})
        with pytest.raises(ServerError, match=r"refuses the API key .* into THE_KEY") as raised:
            ask(server, model=keyed, environ={"THE_KEY": "wr0ng"})
        assert "wr0ng" not in str(raised.value)
        with pytest.raises(ServerError, match=r"wants an API key .*`api_key_env`"):
            ask(server)


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-a\rb", "sk-a\tb", "sk-aö", "sk-a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused_by_its_variables_name(ask, key):
    with pytest.raises(ConfigError, match=r"API key in THE_KEY .* cannot be sent") as raised:
        ask("http://127.0.0.1:9/v1", model={"api_key_env": "THE_KEY"}, environ={"THE_KEY": key})
    assert "sk-a" not in str(raised.value)


@pytest.mark.parametrize("key", ["s3cret", 's3"cr\\et', "s" * 190])
@pytest.mark.parametrize("status", [400, 500, 200])
def test_a_key_that_the_server_repeats_is_hidden(serve, ask, client, prompt, key, status):
    def repeat(path, request):
        told = f"{'.' * 150} {request.headers['authorization']} is used up"
        return as_error(status, told) if path == "/chat/completions" else None

    async def ask_one(model):
        server.instead = repeat
        with pytest.raises(AnswerFaultError, match=r"\(hidden\)") as raised:
            await model.generate(prompt(), Sampling(9))
        return raised.value

    with serve(traits=Traits(api_key=key)) as server:
        fault = ask(
            server,
            ask_one,
            model={"api_key_env": "THE_KEY"},
            settings=client(max_tries=1),
            environ={"THE_KEY": key},
        )
    for said in (str(fault), fault.raw or ""):
        assert key[:6] not in said
        assert json.dumps(key)[1:-1] not in said


def test_a_key_in_another_models_name_is_hidden(serve, ask):
    keyed = {"model": {"api_key_env": "THE_KEY"}, "environ": {"THE_KEY": "s3cret"}}
    with serve(traits=Traits(model="of s3cret")) as server, pytest.raises(ServerError) as raised:
        ask(server, **keyed)
    assert "it has 'of (hidden)'" in str(raised.value)


@pytest.mark.parametrize(("status", "version"), [(404, None), (405, None)])
def test_a_version_that_is_not_there_is_none(serve, ask, status, version):
    with serve() as server:
        server.instead = lambda path, _: as_error(status, "no") if path == "/version" else None
        assert ask(server).facts["version"] is version


@pytest.mark.parametrize(
    "said", [as_error(400, "no"), as_error(501, "no"), Response(200, b"{}"), Response(200, b"<a/>")]
)
def test_a_version_that_is_not_told_stops_for_it_decides_how_to_ask(serve, ask, client, said):
    with serve() as server:
        server.instead = lambda path, _: said if path == "/version" else None
        with pytest.raises(ServerError, match="whether it is a vLLM server"):
            ask(server, settings=client(max_tries=2))


def test_a_version_that_is_told_at_the_second_try_is_taken(serve, ask):
    with serve() as server:
        odd = iter([Response(200, b"<a/>")])
        server.instead = lambda path, _: next(odd, None) if path == "/version" else None
        opened = ask(server)
    assert opened.facts["version"] == "0.32.0"
    assert opened.dialect.sampling


@pytest.mark.parametrize("environ", [{"OTHER": "x"}, {"THE_KEY": "  "}])
def test_a_key_that_is_not_set_is_named(serve, ask, environ):
    with serve() as server, pytest.raises(ConfigError, match="THE_KEY is not set"):
        ask(server, model={"api_key_env": "THE_KEY"}, environ=environ)


def test_a_server_without_log_probabilities_cannot_verify_but_can_generate(serve, ask, prompt):
    with serve(traits=Traits(logprobs="none")) as server:
        with pytest.raises(ServerError, match="gives no log-probabilities"):
            ask(server)
        opened = ask(server, lambda model: model.generate(prompt(), Sampling(50)), forms=())
    assert opened.finish == "stop"


def test_a_model_opened_without_label_forms_scores_none(serve, ask, prompt):
    with serve() as server, pytest.raises(RuntimeError, match="no label forms"):
        ask(server, lambda model: model.score_labels(prompt()), forms=())


def test_a_form_of_several_tokens_is_left_out_and_none_of_one_is_refused(serve, ask):
    with serve() as server:
        labels = ask(server, forms=("Yes", "Yes indeed", "No")).dialect.labels
        assert list(labels.names) == ["Yes", "No"]
        for side, missing in ("Yes", NO_FORMS), ("No", YES_FORMS):
            with pytest.raises(ServerError) as raised:
                ask(server, forms=(side, "Yes indeed", "Not at all"))
            assert f"no single token for any of {list(missing)}" in str(raised.value)


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_chat_template_without_a_system_turn_gets_its_text_in_the_users(
    serve, ask, prompt, text_of, endpoint
):
    with serve(traits=Traits(takes_system=False)) as server:
        opened = ask(server, lambda model: model.generate(prompt(), Sampling(50)), forms=())
        assert opened.text == server.model.answer(text_of(prompt()))
        scores = ask(
            server, lambda model: model.score_labels(prompt()), model={"endpoint": endpoint}
        )
    assert scores.logprobs == server.model.label_logprobs(text_of(prompt()))
    chat = next(body for path, body in server.recent if path == "/chat/completions")
    assert [turn["role"] for turn in chat["messages"]] == ["user"]


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_chat_template_that_drops_the_system_turn_gets_its_text_in_the_users(
    serve, ask, prompt, text_of, endpoint
):
    async def count_and_score(model):
        counted = await model.count_tokens(prompt())
        assert counted > await model.count_tokens(Prompt("", prompt().user))
        return await model.score_labels(prompt())

    with serve(traits=Traits(drops_system=True)) as server:
        scores = ask(server, count_and_score, model={"endpoint": endpoint})
    assert scores.logprobs == server.model.label_logprobs(text_of(prompt()))


def test_a_chat_template_with_a_system_text_of_its_own_is_sent_the_system_turn(serve, ask, prompt):
    """In place of none it puts its own, so that a short one makes a shorter prompt than none."""
    own = "You are a helpful assistant, made by somebody, and you answer all that you are asked."
    with serve(traits=Traits(default_system=own)) as server:
        opened = ask(server, forms=())
    assert not opened.dialect.folds_system


def test_completions_without_tokens_are_refused(serve, ask):
    with serve(traits=Traits(tokenizes=False)) as server, pytest.raises(ServerError) as raised:
        ask(server, model={"endpoint": "completions"})
    assert 'configure endpoint = "chat"' in str(raised.value)


def test_a_model_that_does_not_answer_a_short_question_is_refused(serve, ask):
    plan = Plan(final_rate=1.0, final_scored=("nan",), final_from_chars=0)
    with serve(plan) as server, pytest.raises(ServerError, match="not numbers"):
        ask(server)


def test_an_empty_system_text_makes_no_turn(serve, ask):
    with serve() as server:
        ask(server, lambda model: model.generate(Prompt("", "Say."), Sampling(9)), forms=())
    assert server.recent[-1][1]["messages"] == [{"role": "user", "content": "Say."}]
