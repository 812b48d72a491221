"""A detector behind a server: asked with what it was trained on, and no fault is a verdict."""

import pytest
from adapter_server import AdapterServer
from fault_plan import Plan

from ragmend.detector.qlora.adapter_server import adapter_name
from ragmend.detector.qlora.adapters import SETTINGS, WEIGHTS
from ragmend.detector.qlora.prompting import prompt_text
from ragmend.detector.qlora.rows import make_row
from ragmend.detector.qlora.served import open_served
from ragmend.errors import ConfigError, MissingInputError, ServerError
from ragmend.sections.models import ClientConfig
from ragmend.sections.training import Recipe

RECIPE = {"max_length": 2048, "answer_tokens": 128}
N_PAIRS = 24


@pytest.fixture
def job(make_job):
    return make_job(**RECIPE)


@pytest.fixture
def weights(tmp_path):
    """A folder that an adapter could lie in."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / WEIGHTS).write_bytes(b"matrices")
    (folder / SETTINGS).write_text('{"r": 8}')
    return folder


@pytest.fixture
def serve(job, weights):
    """Start a server of the adapter for a `with` block; `adapter` gives it another name."""

    def start(plan=None, **traits):
        return AdapterServer(plan, **{"adapter": adapter_name(job, weights), **traits})

    return start


@pytest.fixture
def opened(job, weights, coder):
    """Open a server, with waits of milliseconds."""

    def open_it(server, *, own_job=job, own_coder=coder, **changes):
        quick = {"backoff_s": 0.001, "max_backoff_s": 0.005, "timeout_s": 2.0, "max_tries": 30}
        url = server if isinstance(server, str) else server.url
        client = ClientConfig(**{**quick, "deadline_s": 60.0, **changes})
        return open_served(own_job, weights, url, client, coder=own_coder, environ={})

    return open_it


@pytest.fixture(scope="module")
def pairs(make_pair):
    return [
        make_pair(f"Town {n} has {n} bridges.", record_id=f"r{n}", source=f"Towns. Town {n // 6}.")
        for n in range(N_PAIRS)
    ]


def asked(server, pairs):
    """Return what was sent about pairs, by their number; opening asks without tags."""
    sent = [body for _, body in server.recent if len(body["prompt"]) > 100]
    assert len(sent) == len(pairs)
    return sent


def says(server, pair):
    return server.model.answer(prompt_text(pair, pair.source.text))


def test_what_is_sent_is_token_for_token_what_was_trained_on(serve, opened, pairs, coder):
    with serve() as server, opened(server) as predictor:
        predictor.answer(pairs)
    sent = {tuple(body["prompt"]) for body in asked(server, pairs)}
    assert sent == {tuple(make_row(pair, coder, Recipe(**RECIPE)).prompt.ids) for pair in pairs}


def test_a_prompt_that_is_shortened_is_sent_as_it_was_trained_on(serve, opened, make_pair, coder):
    source = " ".join(f"This is sentence {n} of it." for n in range(200))
    pair = make_pair("It rains.", source=source)
    trained = make_row(pair, coder, Recipe(**RECIPE)).prompt
    with serve() as server, opened(server) as predictor:
        (answer,) = predictor.answer([pair])
    (body,) = asked(server, [pair])
    assert body["prompt"] == trained.ids
    assert answer.left_out_fragments == trained.n_left_out > 0


def test_answers_come_in_order_as_the_model_writes_them(serve, opened, pairs):
    with serve() as server, opened(server) as predictor:
        answers = predictor.answer(pairs)
    assert [answer.record_id for answer in answers] == [f"r{n}" for n in range(N_PAIRS)]
    assert [answer.text for answer in answers] == [says(server, pair) for pair in pairs]
    assert len({answer.text for answer in answers}) > 2
    for answer in answers:
        assert answer.ended
        assert answer.problem is None
        assert answer.n_tokens == len(answer.text) + 1


def test_it_is_asked_greedily_up_to_its_own_end_tokens(serve, opened, pairs):
    with serve() as server, opened(server) as predictor:
        predictor.answer(pairs[:1])
    (body,) = asked(server, pairs[:1])
    expected = {
        "temperature": 0.0,
        "max_tokens": 128,
        "stop_token_ids": [2],
        "repetition_penalty": 1.0,
        "return_token_ids": True,
        "logprobs": 0,
    }
    assert {name: body[name] for name in expected} == expected


def test_an_answer_without_an_end_has_not_ended(serve, opened, pairs):
    with serve(answer=lambda prompt: "[" * 500) as server, opened(server) as predictor:
        (answer,) = predictor.answer(pairs[:1])
    assert (answer.text, answer.n_tokens, answer.ended) == ("[" * 128, 128, False)
    assert answer.problem is None


def test_an_empty_answer_is_an_answer(serve, opened, pairs):
    with serve(answer=lambda prompt: "") as server, opened(server) as predictor:
        (answer,) = predictor.answer(pairs[:1])
    assert (answer.text, answer.n_tokens, answer.ended, answer.problem) == ("", 1, True, None)


def test_requests_are_in_flight_together_but_no_more_than_configured(serve, opened, pairs):
    with serve(Plan(latency_s=0.02)) as server, opened(server, concurrency=6) as predictor:
        predictor.answer(pairs)
    assert server.max_in_flight == 6


def test_transient_faults_change_no_answer(serve, opened, pairs):
    kinds = ("429", "500", "502", "503", "reset", "closed", "torn")
    plan = Plan(transient_rate=0.4, transient=kinds, longest_streak=5)
    with serve(plan) as server, opened(server) as predictor:
        answers = predictor.answer(pairs)
        n_retries = predictor.usage.n_retries
    assert set(server.injected) == set(kinds)
    assert n_retries > 5
    assert [answer.text for answer in answers] == [says(server, pair) for pair in pairs]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("refused", "refused"),
        ("nan", "non_finite"),
        ("null_logprob", "non_finite"),
        ("minus_infinity", "non_finite"),
        ("not_json", "malformed"),
        ("no_choices", "malformed"),
        ("odd_finish", "malformed"),
        ("cut", "truncated"),
    ],
)
def test_a_fault_of_one_answer_is_named_and_the_others_are_answered(
    serve, opened, pairs, kind, status
):
    plan = Plan(final_rate=0.3, final_scored=(kind,))
    with serve(plan) as server, opened(server, max_tries=2) as predictor:
        answers = predictor.answer(pairs)
    faulty = [answer for answer in answers if answer.problem is not None]
    assert 0 < len(faulty) < N_PAIRS
    assert {answer.problem for answer in faulty} == {status}
    assert all(answer.message.startswith(f"response {answer.record_id}: ") for answer in faulty)
    assert not any(answer.ended for answer in faulty)
    good = {answer.record_id: answer.text for answer in answers if answer.problem is None}
    assert good == {
        pair.response.record_id: says(server, pair)
        for pair in pairs
        if pair.response.record_id in good
    }


def test_a_request_that_always_times_out_is_a_fault(serve, opened, pairs):
    with serve() as server, opened(server, max_tries=2, timeout_s=0.2) as predictor:
        slow = Plan(transient_rate=1.0, transient=("timeout",), longest_streak=9, hang_s=5.0)
        server.inject(slow)
        (answer,) = predictor.answer(pairs[:1])
    assert (answer.problem, answer.text) == ("timeout", "")


def test_what_does_not_fit_is_said_and_not_sent(serve, opened, make_pair):
    pairs = [make_pair("word " * 500, record_id="long"), make_pair("It rains.", record_id="short")]
    with serve() as server, opened(server) as predictor:
        long, short = predictor.answer(pairs)
    assert (long.problem, short.problem) == ("too_long", None)
    assert "raise recipe.max_length" in long.message
    asked(server, pairs[1:])


@pytest.mark.parametrize("dies_by", ["closing", "health"])
def test_a_dead_server_stops_after_everything_that_it_answered(serve, opened, pairs, dies_by):
    with serve() as server, opened(server, max_tries=3, concurrency=4) as predictor:
        server.inject(Plan(die_after=9, dies_by=dies_by))
        answers = []
        with pytest.raises(ServerError, match="the server died"):
            answers.extend(predictor.stream(pairs))  # which keeps what came before the error
        with pytest.raises(ServerError, match="the server died"):
            predictor.answer(pairs[:1])
    assert len(answers) == 9
    assert all(answer.problem is None for answer in answers)


def test_a_stream_that_is_left_asks_no_further(serve, opened, pairs):
    with serve(Plan(latency_s=0.01)) as server, opened(server, concurrency=2) as predictor:
        stream = predictor.stream(pairs)
        next(stream)
        stream.close()
    assert server.n_requests["/completions"] < N_PAIRS


def test_a_server_says_what_it_is_for_the_record(serve, opened, job, weights):
    with serve() as server, opened(server) as predictor:
        facts = predictor.facts
    assert facts == {
        "model": "org/base",
        "served_as": adapter_name(job, weights),
        "version": "0.32.0",
        "max_model_len": 4096,
        "logprobs": "chosen",
        "base": "org/base",
        "base_root": "/base",
        "adapter_root": "/runs/adapter",
        "tokenizes_alike": True,
    }


def test_a_server_that_makes_no_tokens_is_asked_all_the_same(serve, opened, pairs):
    with serve(tokenizes=False) as server, opened(server) as predictor:
        assert predictor.answer(pairs[:1])[0].text == says(server, pairs[0])
    assert predictor.facts["tokenizes_alike"] is None


def test_the_name_of_an_adapter_is_that_of_its_bytes(job, weights):
    first = adapter_name(job, weights)
    assert first.startswith("tiny--seed-3--")
    assert adapter_name(job, weights) == first
    for file in (WEIGHTS, SETTINGS):
        (weights / file).write_bytes((weights / file).read_bytes() + b" ")
    assert adapter_name(job, weights) != first
    (weights / WEIGHTS).unlink()
    with pytest.raises(MissingInputError, match=WEIGHTS):
        adapter_name(job, weights)


def refused(server, opened, match):
    with server as running, pytest.raises(ServerError, match=match), opened(running):
        pytest.fail("it was opened")
    assert all(len(body["prompt"]) < 100 for _, body in running.recent)


def test_a_server_with_the_adapter_of_another_training_is_refused(serve, opened):
    another = serve(adapter="tiny--seed-3--000000000000")
    refused(another, opened, r"does not have the adapter 'tiny--seed-3--.*it has 'org/base', 'tiny")


@pytest.mark.parametrize(("parent", "named"), [("org/other", "'org/other'"), (None, "no model")])
def test_a_server_with_the_adapter_on_another_base_is_refused(serve, opened, parent, named):
    server = serve()
    server.parent = parent
    refused(server, opened, f"on {named}, expected an adapter on 'org/base'.*detect serve")


def test_a_context_that_is_too_short_or_unknown_is_refused(serve, opened):
    refused(serve(max_model_len=2047), opened, r"context of 2047 tokens.*--max-model-len 2048")
    refused(serve(tells_context=False), opened, r"context of unknown tokens")


def test_another_tokenizer_is_refused(serve, opened):
    server = serve()
    server.model = server.model._replace(tokenizer=Shifted())
    refused(server, opened, r"its tokenizer makes \[74, .*another base, or another revision")


def test_an_adapter_that_changes_nothing_is_refused(serve, opened):
    server = serve()
    server.uses_adapter = False
    refused(server, opened, "the base says what it says without")


def test_a_server_that_changes_prompts_is_refused(serve, opened):
    server = serve()
    server.changes_prompts = True
    refused(server, opened, "tokens that are not the 14 that were sent")


def test_a_server_that_tells_no_tokens_is_refused(serve, opened):
    server = serve()
    server._say = super(AdapterServer, server)._say
    refused(server, opened, r"as vLLM gives one: .*token_ids: Field required")


def test_another_model_that_answers_stops_everything(serve, opened, pairs):
    plan = Plan(final_rate=1.0, final_scored=("wrong_model",))
    with (
        serve(plan) as server,
        opened(server) as predictor,
        pytest.raises(ServerError, match="'another' answered instead of 'tiny--seed-3--"),
    ):
        predictor.answer(pairs)


def test_where_no_server_is_nothing_is_asked(opened):
    with (
        pytest.raises(ServerError, match="no server answers there"),
        opened("http://127.0.0.1:9/v1"),
    ):
        pytest.fail("it was opened")


def test_a_token_classifier_has_no_server(job, opened):
    model = job.trained.model.model_copy(update={"quantization": None})
    trained = job.trained.model_copy(update={"kind": "token-classification", "model": model})
    with (
        pytest.raises(ConfigError, match="only a generative one has a server"),
        opened("http://127.0.0.1:9/v1", own_job=job._replace(trained=trained)),
    ):
        pytest.fail("it was opened")


class Shifted:
    """A tokenizer of other tokens."""

    def encode(self, text):
        return [ord(character) + 1 for character in text]

    def prompt_of(self, tokens):
        return "".join(map(chr, tokens))
