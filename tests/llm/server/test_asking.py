"""What is transient is asked again, within limits; what is not stops or is one answer's fault."""

import asyncio
import json
from functools import partial

import httpx2
import pytest
from fake_http import Response, as_error
from fault_server import TRANSIENT, Plan, Traits
from openai import APIStatusError

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.protocol import Sampling
from ragmend.llm.server.connection import Connection
from ragmend.llm.server.faults import MissingEndpointError, Transient, classify

ALWAYS = Plan(transient_rate=1.0, longest_streak=10**9)
LONG = Sampling(max_tokens=60)


def always(kind, **changes):
    return Plan(transient_rate=1.0, longest_streak=10**9, transient=(kind,), **changes)


@pytest.mark.parametrize("kind", TRANSIENT)
def test_after_a_transient_fault_the_answer_is_the_same(serve, ask, client, prompt, text_of, kind):
    async def ask_shaken(model):
        server.inject(Plan(transient_rate=1.0, longest_streak=2, transient=(kind,)))
        return await model.score_labels(prompt()), model.usage.n_retries

    settings = client(timeout_s=0.3 if kind == "timeout" else 5.0)
    with serve() as server:
        scores, n_retries = ask(server, ask_shaken, settings=settings)
        assert scores.logprobs == server.model.label_logprobs(text_of(prompt()))
    assert n_retries >= 2
    assert server.injected[kind] == 2


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_fault_that_does_not_pass_is_one_answers_fault_while_the_server_lives(
    serve, ask, client, prompt, kind
):
    async def ask_in_vain(model):
        server.inject(always(kind))
        with pytest.raises(AnswerFaultError) as raised:
            await model.generate(prompt(), LONG)
        server.faults_off()
        await model.generate(prompt(), LONG)
        return raised.value

    settings = client(max_tries=3, timeout_s=0.3 if kind == "timeout" else 5.0)
    with serve() as server:
        fault = ask(server, ask_in_vain, settings=settings)
    assert fault.status == {"timeout": "timeout", "torn": "malformed"}.get(kind, "unavailable")
    assert "3 tries" in str(fault)
    assert server.injected[kind] == 3


def test_a_server_without_health_lives_while_it_lists_its_models(serve, ask, client, prompt):
    async def ask_in_vain(model):
        server.inject(always("500", spared=("/health", "/models")))
        with pytest.raises(AnswerFaultError) as raised:
            await model.generate(prompt(), LONG)
        assert raised.value.status == "unavailable"
        server.inject(always("500", spared=("/health",)))
        with pytest.raises(ServerError, match="died"):
            await model.generate(prompt(), LONG)

    with serve(traits=Traits(has_health=False)) as server:
        ask(server, ask_in_vain, settings=client(max_tries=2))


def test_a_server_that_fails_three_questions_in_a_row_fails_everything(serve, ask, client, prompt):
    async def ask_on(model):
        faults = []
        for n in range(4):
            # The third is answered: what counts is what failed since.
            server.faults_off() if n == 2 else server.inject(always("503"))
            try:
                await model.generate(prompt(n), LONG)
            except AnswerFaultError as fault:
                faults.append(fault.status)
        server.inject(always("503"))
        with pytest.raises(AnswerFaultError):
            await model.generate(prompt(4), LONG)
        with pytest.raises(ServerError, match="fails everything, 3 requests in a row"):
            await model.generate(prompt(5), LONG)
        return faults

    with serve() as server:
        assert ask(server, ask_on, settings=client(max_tries=2)) == ["unavailable"] * 3


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_source_on_which_the_server_always_fails_stops_nothing(
    serve, ask, client, prompt, concurrency, scored, endpoint
):
    """Its questions come one after another; the server answers all others."""

    def fail(path, request):
        asks = path in {"/completions", "/chat/completions", "/tokenize"}
        is_failing = asks and "source 1." in _text(server, request)
        return as_error(500, "out of memory") if is_failing else None

    async def ask_all(model):
        server.instead = fail
        asked = [prompt(n, source=source) for source in range(3) for n in range(8)]
        ask_one = model.score_labels if scored else partial(model.generate, sampling=LONG)
        return await asyncio.gather(*(ask_one(each) for each in asked), return_exceptions=True)

    with serve() as server:
        answers = ask(
            server,
            ask_all,
            model={"endpoint": endpoint},
            settings=client(max_tries=2, concurrency=concurrency),
        )
    faults = [answer for answer in answers if isinstance(answer, Exception)]
    assert [type(fault) for fault in faults] == [AnswerFaultError] * 8
    assert {fault.status for fault in faults} == {"unavailable"}
    assert answers[8:16] == faults


OUTAGES = {
    "521": Response(521, b"<html>Web server is down</html>", "text/html"),
    "page": Response(200, b"<html>We are back soon</html>", "text/html"),
    "refusal": as_error(400, "this key has no credit left"),
    "not found": Response(404, b"<html>Not Found</html>", "text/html"),
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_a_server_that_gives_everything_the_same_odd_answer_stops_the_run(
    serve, ask, client, prompt, outage
):
    async def ask_all(model):
        server.instead = lambda path, _: None if path == "/health" else OUTAGES[outage]
        return await asyncio.gather(
            *(model.score_labels(prompt(n)) for n in range(20)), return_exceptions=True
        )

    with serve() as server:
        answers = ask(server, ask_all, settings=client(max_tries=2, concurrency=1))
    faults, stops = answers[:2], answers[2:]
    assert all(isinstance(fault, AnswerFaultError) for fault in faults)
    assert {type(stop) for stop in stops} == {ServerError}
    assert "fails everything, 3 requests in a row and a short question" in str(answers[-1])


def test_odd_questions_in_a_row_stay_faults_of_their_own(serve, ask, client, prompt):
    async def ask_all(model):
        server.inject(Plan(final_rate=1.0, final_generated=("refused", "not_json")))
        return await asyncio.gather(
            *(model.generate(prompt(n), LONG) for n in range(10)), return_exceptions=True
        )

    with serve() as server:
        answers = ask(server, ask_all, settings=client(max_tries=2), forms=())
    assert {type(answer) for answer in answers} == {AnswerFaultError}
    assert {answer.status for answer in answers} == {"refused", "malformed"}


@pytest.mark.parametrize("outage", ["521", "page"])
def test_an_outage_that_passes_is_waited_for(serve, ask, prompt, outage):
    async def ask_shaken(model):
        left = iter([OUTAGES[outage]] * 3)
        server.instead = lambda _path, _request: next(left, None)
        return await model.score_labels(prompt()), model.usage.n_retries

    with serve() as server:
        scores, n_retries = ask(server, ask_shaken)
        assert scores == ask(server, lambda model: model.score_labels(prompt()))
    assert n_retries == 3


@pytest.mark.parametrize("status", [408, 425, 429, 500, 501, 507, 520, 521, 524, 530, 599])
def test_what_a_status_says_of_the_server_is_transient(status):
    fault = classify(_status_error(status), _SERVER)
    assert isinstance(fault, Transient)
    assert fault.status == "unavailable"


def test_what_is_not_implemented_is_missing_while_that_is_found_out():
    fault = classify(_status_error(501), _SERVER, is_opening=True)
    assert isinstance(fault, MissingEndpointError)


@pytest.mark.parametrize("dies_by", ["closing", "health"])
def test_a_server_that_dies_stops_everything_at_once(serve, ask, client, prompt, dies_by):
    async def ask_all(model):
        server.inject(Plan(die_after=20, dies_by=dies_by))
        answers = await asyncio.gather(
            *(model.score_labels(prompt(n)) for n in range(100)), return_exceptions=True
        )
        n_sent = server.n_requests.total()
        with pytest.raises(ServerError, match="start it and run the same command again"):
            await model.generate(prompt(), LONG)
        assert server.n_requests.total() == n_sent
        return answers

    with serve() as server:
        answers = ask(server, ask_all, settings=client(max_tries=3))
    errors = [answer for answer in answers if isinstance(answer, Exception)]
    assert {type(error) for error in errors} == {ServerError}
    assert "the server died" in str(errors[0])
    assert 0 < len(answers) - len(errors) <= 20


def test_a_model_that_is_gone_stops_everything(serve, ask, prompt):
    async def ask_other(model):
        server.traits = Traits(model="other")
        await model.generate(prompt(), LONG)

    with serve() as server, pytest.raises(ServerError, match="does not have the model 'tiny' any"):
        ask(server, ask_other)


def test_a_request_ends_at_its_deadline(serve, ask, client, prompt):
    async def ask_in_vain(model):
        server.inject(always("500"))
        await model.generate(prompt(), LONG)

    settings = client(deadline_s=0.2, backoff_s=0.05, max_backoff_s=0.05, max_tries=100)
    with serve() as server, pytest.raises(AnswerFaultError) as raised:
        ask(server, ask_in_vain, settings=settings)
    assert raised.value.status in {"unavailable", "timeout"}  # the last try may be cut short
    assert 1 <= server.injected["500"] < 20


def test_no_more_requests_are_in_flight_than_allowed_and_they_go_out_in_order(
    serve, ask, client, prompt
):
    async def ask_all(model):
        server.max_in_flight = 0
        await asyncio.gather(*(model.generate(prompt(n), LONG) for n in range(20)))

    with serve(Plan(latency_s=0.02)) as server:
        ask(server, ask_all, settings=client(concurrency=3), forms=())
        assert server.max_in_flight == 3
        server.recent.clear()
        ask(server, ask_all, settings=client(concurrency=1), forms=())
    asked = [body["messages"][-1]["content"] for _, body in server.recent]
    assert asked == [prompt(n).user for n in range(20)]


def test_a_request_that_is_cancelled_ends_at_once_and_frees_its_place(serve, ask, client, prompt):
    async def cancel(model):
        server.inject(Plan(latency_s=30.0))
        asking = [asyncio.create_task(model.generate(prompt(n), LONG)) for n in range(3)]
        while not server.max_in_flight:
            await asyncio.sleep(0.01)
        for task in asking:
            task.cancel()
        ended = await asyncio.gather(*asking, return_exceptions=True)
        server.inject(Plan())
        return ended, await model.generate(prompt(), LONG)

    with serve() as server:
        ended, said = ask(server, cancel, settings=client(concurrency=1), forms=())
    assert [type(end) for end in ended] == [asyncio.CancelledError] * 3
    assert said.finish == "stop"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("-1", 0.0),
        ("nan", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("x", None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 21 Oct 999999999999999999999 07:28:00 GMT", None),
    ],
)
def test_a_server_says_how_long_to_wait(said, seconds):
    fault = classify(_status_error(429, {"retry-after": said}), _SERVER)
    assert isinstance(fault, Transient)
    assert fault.retry_after_s == seconds


def test_a_wait_beyond_the_deadline_is_not_begun(serve, ask, client, prompt, monkeypatch):
    async def ask_in_vain(model):
        server.inject(always("429"))
        await model.generate(prompt(), LONG)

    monkeypatch.setattr("fault_server.RETRY_AFTER", "100000")
    with serve() as server, pytest.raises(AnswerFaultError, match="1 try"):
        ask(server, ask_in_vain)


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "This model's maximum context length is 9 tokens.", "too_long"),
        (400, "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)", "too_long"),
        (400, "Out of range float values are not JSON compliant", "non_finite"),
        (422, "x" * 10_000, "refused"),
        (404, "Not Found", "refused"),
    ],
)
def test_what_the_server_says_of_one_question_is_that_questions_fault(status, message, expected):
    fault = classify(_status_error(status, message=message), _SERVER)
    assert isinstance(fault, AnswerFaultError)
    assert fault.status == expected
    assert len(str(fault)) < 300


_SERVER = Connection("http://h/v1", "http://h", "tiny", None, http=None)


def _text(server, request):
    """Return all that a request says, tokens decoded."""
    body = json.loads(request.body)
    said = body.get("prompt", body.get("messages"))
    is_tokens = isinstance(said, list) and isinstance(said[0], int)
    return server.model.tokenizer.decode(said) if is_tokens else json.dumps(said)


def _status_error(status, headers=None, message="no"):
    request = httpx2.Request("POST", "http://h/v1/completions")
    response = httpx2.Response(status, headers=headers, request=request, text=message)
    return APIStatusError(message, response=response, body={"message": message})
