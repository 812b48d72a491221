"""What a real vLLM server answers is what the model says, and whatever is wrong has its name."""

import asyncio
import json
import random
import subprocess
from pathlib import Path

import pytest

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.gathering import gather_answers
from ragmend.llm.labels import LABEL_FORMS, read_support
from ragmend.llm.protocol import Prompt, Sampling

pytestmark = pytest.mark.vllm

WORDS = (
    "the town hall opened a new library with forty chairs and two windows near the old river "
    "bridge where boats carried grain until the mayor sold them in spring"
).split()
SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["kept", "dropped"]}, "n": {"type": "integer", "maximum": 9}},
    "required": ["label", "n"],
    "additionalProperties": False,
}


def text_of(seed, n_words):
    chosen = random.Random(seed).choices(WORDS, k=n_words)
    return " ".join(chosen)


PROMPTS = [
    Prompt("Answer with Yes or No.", f"<source>{text_of(n, 20 + n)}</source> Is it so?")
    for n in range(24)
]


async def scores_of(opening, prompts=PROMPTS):
    async with opening as model:
        return await gather_answers(model.score_labels(prompt) for prompt in prompts)


async def generate(opening, sampling, prompt=PROMPTS[0]):
    async with opening as model:
        return await model.generate(prompt, sampling)


def test_opening_tells_version_context_and_how_labels_are_scored(opened):
    async def look():
        async with opened() as model:
            return model.facts, model.context_length

    facts, context_length = asyncio.run(look())
    assert context_length == 2048
    assert facts["max_model_len"] == 2048
    assert facts["served_as"] == "org/tiny"
    assert facts["version"].startswith("0.")
    assert facts["logprobs"] == "token-ids"


def test_all_twelve_forms_are_scored_and_p_differs_from_prompt_to_prompt(opened):
    scores = asyncio.run(scores_of(opened()))
    for each in scores:
        assert set(each.logprobs) == set(LABEL_FORMS)
        assert each.bound is None
    found = [read_support(each, "all-forms", min_mass=0.0).p for each in scores]
    assert max(found) - min(found) > 0.1


def test_both_endpoints_give_the_same_support(opened):
    chat = asyncio.run(scores_of(opened(endpoint="chat")))
    completions = asyncio.run(scores_of(opened(endpoint="completions")))
    for one, other in zip(chat, completions, strict=True):
        assert one.n_prompt_tokens == other.n_prompt_tokens
        for scoring in ("two-token", "all-forms"):
            support, again = (read_support(each, scoring, min_mass=0.0) for each in (one, other))
            assert again.p == pytest.approx(support.p, abs=1e-5)
            assert again.mass == pytest.approx(support.mass, abs=1e-5)


def test_support_is_that_of_a_plain_forward_pass(opened, vllm_python, folder):
    scores = asyncio.run(scores_of(opened()))
    script = Path(__file__).parent / "score_in_process.py"
    done = subprocess.run(
        [vllm_python, str(script), str(folder)],
        input=json.dumps({"prompts": PROMPTS, "forms": LABEL_FORMS}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert plain["n_tokens"] == scores[-1].n_prompt_tokens
    for served, forward in zip(scores, plain["answers"], strict=True):
        assert served.logprobs == pytest.approx(forward, abs=1e-3)
        p = read_support(served, "two-token", min_mass=0.0).p
        same = served.model_copy(update={"logprobs": forward})
        assert p == pytest.approx(read_support(same, "two-token", min_mass=0.0).p, abs=1e-3)


def test_scores_are_bitwise_equal_at_any_concurrency(opened, forget):
    found = []
    for concurrency in (1, 8, 32):
        forget()
        found.append(asyncio.run(scores_of(opened(concurrency=concurrency))))
    assert found[0] == found[1] == found[2]


def test_requests_in_the_order_of_their_sources_find_more_in_the_prefix_cache(opened, forget, note):
    sources = [text_of(100 + n, 650) for n in range(8)]
    ordered = [
        Prompt("Answer with Yes or No.", f"<source>{source}</source> {text_of(n, 8)}?")
        for source in sources
        for n in range(6)
    ]
    shuffled = random.Random(1).sample(ordered, k=len(ordered))

    async def hit_rate(prompts):
        async with opened(concurrency=2) as model:
            await gather_answers(model.score_labels(prompt) for prompt in prompts)
        queries, hits = model.usage.prefix_cache
        return hits / queries

    rates = []
    for prompts in (ordered, shuffled):
        forget()
        rates.append(asyncio.run(hit_rate(prompts)))
    note(f"prefix cache: {rates[0]:.0%} of tokens in order of sources, {rates[1]:.0%} shuffled")
    assert rates[0] > 0.6
    assert rates[0] > rates[1] + 0.1


def test_a_text_is_generated_greedily_and_says_where_it_was_cut(opened):
    sampling = Sampling(max_tokens=8)
    first, again = (asyncio.run(generate(opened(), sampling)) for _ in range(2))
    assert first == again
    assert first.text
    assert first.n_tokens <= 8
    assert first.finish == ("length" if first.n_tokens == 8 else "stop")


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_schema_constrains_what_is_generated(opened, endpoint):
    sampling = Sampling(max_tokens=64, schema=SCHEMA)
    found = asyncio.run(generate(opened(endpoint=endpoint), sampling))
    assert found.finish == "stop"
    answer = json.loads(found.text)
    assert set(answer) == {"label", "n"}
    assert answer["label"] in ("kept", "dropped")


def test_tokens_are_counted_as_the_server_counts_them(opened):
    async def count():
        async with opened() as model:
            return await model.count_tokens(PROMPTS[0]), await model.score_labels(PROMPTS[0])

    counted, scored = asyncio.run(count())
    assert counted == scored.n_prompt_tokens


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_question_that_does_not_fit_is_a_fault_with_its_name(opened, endpoint):
    long = Prompt("Answer.", text_of(5, 3000))

    async def ask():
        async with opened(endpoint=endpoint) as model:
            await model.score_labels(long)

    with pytest.raises(AnswerFaultError) as caught:
        asyncio.run(ask())
    assert caught.value.status == "too_long"


def test_an_answer_that_does_not_fit_behind_its_question_is_a_fault_too(opened):
    async def ask():
        async with opened() as model:
            prompt = Prompt("Answer.", text_of(5, 800))
            n_left = 2048 - await model.count_tokens(prompt)
            await model.generate(prompt, Sampling(max_tokens=n_left + 1))

    with pytest.raises(AnswerFaultError) as caught:
        asyncio.run(ask())
    assert caught.value.status == "too_long"


def test_another_model_is_refused_with_the_one_that_is_there(opened):
    with pytest.raises(
        ServerError, match=r"does not have the model 'org/large', it has 'org/tiny'"
    ):
        asyncio.run(scores_of(opened(id="org/large")))


def test_another_context_is_refused(opened):
    with pytest.raises(ServerError, match=r"context of 2048 tokens, `max_model_len` says 4096"):
        asyncio.run(scores_of(opened(max_model_len=4096)))
