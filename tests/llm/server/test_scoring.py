"""Log-probabilities of labels are the model's own, or known to lie between limits."""

import asyncio

import pytest
from fault_server import MINUS_INFINITY, Plan, Traits
from hypothesis import given
from hypothesis import strategies as st

from ragmend.errors import AnswerFaultError
from ragmend.llm.labels import LABEL_FORMS, read_support
from ragmend.llm.protocol import Sampling
from ragmend.llm.server.answers import Answer, finite_logprob
from ragmend.llm.server.label_tokens import among_the_top, by_ids


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_score_is_exactly_what_the_model_gives(serve, ask, prompt, text_of, endpoint):
    with serve() as server:
        scores = ask(
            server, lambda model: model.score_labels(prompt()), model={"endpoint": endpoint}
        )
        known = server.model.label_logprobs(text_of(prompt()))
    assert scores.logprobs == known
    assert (scores.bound, scores.absent) == (None, ())
    assert set(known) == set(LABEL_FORMS)


def test_completions_are_sent_tokens_and_never_a_text(serve, ask, prompt):
    async def both(model):
        await model.score_labels(prompt())
        await model.generate(prompt(), Sampling(30))

    with serve() as server:
        ask(server, both, model={"endpoint": "completions"})
    assert {path for path, _ in server.recent} == {"/completions"}
    for _, body in server.recent:
        assert all(isinstance(token, int) for token in body["prompt"])


@pytest.mark.parametrize("logprobs", ["token-ids", "top-20"])
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_after_the_opening_a_server_is_asked_in_one_way_only(
    serve, ask, prompt, logprobs, endpoint
):
    async def score_many(model):
        n_probes = len(server.recent)
        for n in range(5):
            await model.score_labels(prompt(n))
        return n_probes

    with serve(traits=Traits(logprobs=logprobs)) as server:
        n_probes = ask(server, score_many, model={"endpoint": endpoint})
        bodies = [body for _, body in server.recent][n_probes:]
    ways = {
        (body["logprobs"], body.get("top_logprobs"), str(body.get("logprob_token_ids")))
        for body in bodies
    }
    assert (len(bodies), len(ways)) == (5, 1)
    assert all(("logprob_token_ids" in body) == (logprobs == "token-ids") for body in bodies)


@pytest.mark.parametrize(
    "traits",
    [
        Traits(logprobs="top-20"),
        Traits(logprobs="top-20", names_tokens_by_id=False),
        Traits(logprobs="top-20", tokenizes=False, version=None),
    ],
    ids=["ids", "strings", "no tokenizer"],
)
def test_of_the_most_probable_tokens_only_an_interval_is_known(serve, ask, prompt, text_of, traits):
    with serve(traits=traits, mass=0.85) as server:
        opened = ask(server)
        assert (opened.facts["logprobs"], opened.facts["version"]) == ("top-20", traits.version)
        scores = ask(server, lambda model: model.score_labels(prompt()))
        known = server.model.label_logprobs(text_of(prompt()))
    told = sorted(known.values(), reverse=True)
    assert scores.absent  # some forms are less probable than twenty tokens
    assert set(scores.absent) | set(scores.logprobs) == set(known)
    assert all(scores.logprobs[form] == known[form] for form in scores.logprobs)
    assert all(known[form] <= scores.bound for form in scores.absent)
    assert scores.bound <= min(scores.logprobs.values())
    true = server.model.support(text_of(prompt()))
    read = read_support(scores, "all-forms", min_mass=0.5)
    low, high = read.interval
    assert low <= true <= high
    assert high - low < 0.1
    assert told[0] == scores.logprobs[max(scores.logprobs, key=scores.logprobs.get)]


def test_of_forms_with_one_token_in_common_the_first_is_asked_for():
    labels = by_ids({"Yes": [7], "yes": [7], "No": [8], "nope": [1, 2]})
    assert labels.names == {"Yes": "token_id:7", "No": "token_id:8"}
    assert labels.ids == [7, 8]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("nan", "non_finite"),
        ("null_logprob", "non_finite"),
        ("fewer", "empty"),
        ("refused", "refused"),
        ("not_json", "malformed"),
        ("no_choices", "malformed"),
    ],
)
@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_final_fault_is_the_fault_of_its_question(
    serve, ask, prompt, client, endpoint, kind, status
):
    plan = Plan(final_rate=1.0, final_scored=(kind,))
    with serve(plan) as server, pytest.raises(AnswerFaultError) as raised:
        ask(
            server,
            lambda model: model.score_labels(prompt()),
            model={"endpoint": endpoint},
            settings=client(max_tries=3),
        )
    assert raised.value.status == status
    assert server.injected[kind] == (3 if kind in {"no_choices", "not_json"} else 1)


def test_minus_infinity_for_every_label_is_kept_and_no_support_is_read_of_it(serve, ask, prompt):
    with serve(Plan(final_rate=1.0, final_scored=("minus_infinity",))) as server:
        scores = ask(server, lambda model: model.score_labels(prompt()))
    assert set(scores.logprobs.values()) == {MINUS_INFINITY}
    with pytest.raises(AnswerFaultError) as raised:
        read_support(scores, "all-forms", min_mass=0.0)
    assert raised.value.status == "non_finite"


@pytest.mark.parametrize("style", ["token-ids", "top-20"])
def test_fewer_most_probable_tokens_than_at_first_are_a_fault(serve, ask, prompt, style):
    plan = Plan(final_rate=1.0, final_scored=("fewer",))
    with serve(plan, Traits(logprobs=style)) as server, pytest.raises(AnswerFaultError) as raised:
        ask(server, lambda model: model.score_labels(prompt()))
    assert raised.value.status == "empty"


def test_a_prompt_that_fills_the_context_is_too_long(serve, ask, prompt):
    n_tokens = []

    async def score(model):
        n_tokens.append(await model.count_tokens(prompt()))
        return await model.score_labels(prompt())

    with serve() as server:
        assert ask(server, score).n_prompt_tokens == n_tokens[0]
    for spare in (1, 0, -1):
        with serve(traits=Traits(max_model_len=n_tokens[0] + spare)) as server:
            if spare > 0:
                ask(server, score)
                continue
            with pytest.raises(AnswerFaultError) as raised:
                ask(server, score)
            assert raised.value.status == "too_long"


def test_log_probabilities_that_jitter_stay_within_the_jitter(serve, ask, prompt, text_of):
    async def twice(model):
        return await asyncio.gather(*(model.score_labels(prompt()) for _ in range(2)))

    with serve(Plan(jitter=1e-3)) as server:
        first, second = ask(server, twice)
        known = server.model.label_logprobs(text_of(prompt()))
    assert first.logprobs != second.logprobs
    assert all(abs(first.logprobs[form] - known[form]) <= 1e-3 for form in known)


@given(st.floats(max_value=1e-6, allow_nan=False, allow_infinity=False))
def test_a_log_probability_is_at_most_zero(value):
    assert finite_logprob(value) == min(value, 0.0)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (None, "non_finite"),
        (float("nan"), "non_finite"),
        (float("-inf"), "non_finite"),
        (0.01, "malformed"),
    ],
)
def test_what_is_no_log_probability_is_a_fault(value, status):
    with pytest.raises(AnswerFaultError) as raised:
        finite_logprob(value)
    assert raised.value.status == status


def test_an_answer_without_a_requested_label_is_a_fault():
    labels = by_ids({"Yes": [7], "No": [8]})
    answer = _answer(("token_id:1", -0.1), ("token_id:7", -1.0))
    with pytest.raises(AnswerFaultError, match="without \\['No'\\]") as raised:
        labels.read(answer)
    assert raised.value.status == "empty"
    assert among_the_top(labels.names).settle(answer).read(answer).absent == ("No",)


def test_a_sampled_token_that_a_server_adds_does_not_lower_the_bound():
    """What lies below the 20th is known of one token only: others may lie there too."""
    others = [(f"token_id:{n}", -3.0 - n / 100) for n in range(100, 119)]
    answer = _answer(("token_id:7", -0.3), *others, ("token_id:8", -12.0))
    way = among_the_top({"Yes": "token_id:7", "No": "token_id:8"}).settle(answer)
    scores = way.read(answer)
    assert scores.bound == -3.0 - 118 / 100
    assert (scores.logprobs, scores.absent) == ({"Yes": -0.3}, ("No",))


def test_two_tokens_that_decode_alike_are_two_of_the_most_probable():
    def told(*labels):
        return _answer(*labels, *((f"t{n}", -4.0 - n) for n in range(20 - len(labels))))

    way = among_the_top({"Yes": "Yes", "No": "No"}).settle(told(("Yes", -0.5)))
    scores = way.read(told(("Yes", -0.5), ("No", -2.0), ("No", -2.5), ("t0", -3.0)))
    assert scores.logprobs == {"Yes": -0.5, "No": -2.0}
    with pytest.raises(AnswerFaultError, match="fewer log-probabilities"):
        way.read(_answer(("Yes", -0.5), ("No", -2.0)))


def _answer(*logprobs):
    return Answer("tiny", "x", "length", logprobs, 5, 1)
