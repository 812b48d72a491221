"""What is transient is asked again, within limits; what is not stops or is one answer's fault."""

import asyncio

import httpx2
import pytest
from fault_server import TRANSIENT, Plan, Traits
from openai import APIStatusError

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.protocol import Sampling
from ragmend.llm.server.connection import Connection
from ragmend.llm.server.faults import Transient, classify

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
    [("7", 7.0), ("-1", 0.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("x", None)],
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


def _status_error(status, headers=None, message="no"):
    request = httpx2.Request("POST", "http://h/v1/completions")
    response = httpx2.Response(status, headers=headers, request=request, text=message)
    return APIStatusError(message, response=response, body={"message": message})
