"""Whatever goes wrong on the way: an answer is the model's own, or there is none."""

import asyncio

import pytest
from fault_server import FINAL_GENERATED, TRANSIENT, Plan
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmend.llm.labels import read_support
from ragmend.llm.protocol import Sampling

N_QUESTIONS = 12
LONG = Sampling(max_tokens=60)
STATUSES = {
    "refused": "refused",
    "nan": "non_finite",
    "fewer": "empty",
    "minus_infinity": "non_finite",
    "null_logprob": "non_finite",
    "null_text": "empty",
    "odd_finish": "malformed",
}
READ_BY_ROLES = {"empty", "cut", "garbage"}  # the model said so

plans = st.builds(
    Plan,
    seed=st.integers(0, 2**32),
    transient_rate=st.floats(0.0, 0.3),
    transient=st.lists(st.sampled_from(TRANSIENT), min_size=1, unique=True).map(tuple),
)
with_final = st.builds(
    Plan,
    seed=st.integers(0, 2**32),
    transient_rate=st.floats(0.0, 0.3),
    transient=st.just(tuple(kind for kind in TRANSIENT if kind != "timeout")),
    final_rate=st.floats(0.1, 0.6),
    final_generated=st.just(tuple(kind for kind in FINAL_GENERATED if kind not in READ_BY_ROLES)),
)


@pytest.fixture(scope="module")
def server(serve):
    """One server for all plans: they differ in what it does, not in what it is."""
    with serve() as served:
        yield served


@settings(max_examples=6)
@given(plan=plans, endpoint=st.sampled_from(["chat", "completions"]))
def test_under_transient_faults_every_answer_is_that_of_a_run_without(
    server, ask, client, prompt, plan, endpoint
):
    server.inject(plan)
    quick = client(timeout_s=0.5)
    shaken = _ask_all(server, ask, prompt, endpoint, quick)
    server.faults_off()
    calm = _ask_all(server, ask, prompt, endpoint, quick)
    assert not any(isinstance(answer, Exception) for answer in calm)
    assert shaken == calm


@settings(max_examples=6)
@given(plan=with_final, endpoint=st.sampled_from(["chat", "completions"]))
def test_no_fault_is_ever_an_answer(server, ask, client, prompt, text_of, plan, endpoint):
    quick = client(max_tries=8)
    server.faults_off()
    calm = _ask_all(server, ask, prompt, endpoint, quick)
    server.inject(plan)
    shaken = _ask_all(server, ask, prompt, endpoint, quick)
    for n, (answer, without) in enumerate(zip(shaken, calm, strict=True)):
        kind = server.draws.final(text_of(prompt(n)), is_scored=_is_scored(n))
        if kind is None:
            assert answer == without
        elif kind in {
            "no_choices",
            "not_json",
        }:  # tried again, and the last try may have met another fault
            assert answer.status in {"malformed", "unavailable"}
        else:
            assert answer.status == STATUSES[kind]


def _ask_all(server, ask, prompt, endpoint, settings):
    async def ask_one(model, n):
        if _is_scored(n):
            return read_support(await model.score_labels(prompt(n)), "all-forms", min_mass=0.5)
        return await model.generate(prompt(n), LONG)

    async def ask_each(model):
        asking = (ask_one(model, n) for n in range(N_QUESTIONS))
        return await asyncio.gather(*asking, return_exceptions=True)

    return ask(server, ask_each, model={"endpoint": endpoint}, settings=settings)


def _is_scored(n):
    return n % 2 == 0
