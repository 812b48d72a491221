"""A server is opened only if it is the one configured and can do what is asked of it."""

import socket

import pytest
from fault_server import Plan, Traits

from ragmend.errors import ConfigError, ServerError
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
    assert str(raised.value).endswith("start it, or put `base_url` right")


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
    assert web_page.n_requests == 1


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
        with pytest.raises(ServerError, match="no single token for any of"):
            ask(server, forms=("Yes indeed", "Not at all"))


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
