"""The cache of a prefix: equal to no cache at all, and the same whatever was asked before."""

import random

import pytest

from ragmend.errors import AnswerFaultError
from ragmend.llm.in_process.running import BLOCK, Abandoned, Runner

pytestmark = pytest.mark.local


def never():
    return False


@pytest.fixture
def load(local):
    from transformers import AutoModelForCausalLM

    return lambda folder: AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.fixture
def runner(load, tiny):
    return Runner(load(tiny), n_threads=1)


def tokens(n):
    """Some prompt of so many tokens, all of which the tiny model has."""
    return [3 + place % 340 for place in range(n)]


def naive(model, ids):
    import torch

    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).logits[0, -1].float()


def prompts(n, *, seed=0):
    """Draw prompts: new ones, ones that share much or little with another, and the same again."""
    draw = random.Random(seed)

    def drawn(length):
        return [draw.randrange(3, 350) for _ in range(length)]

    made = [drawn(5)]
    for _ in range(n - 1):
        earlier = draw.choice([*made, *made[-1:] * len(made)])
        kept = earlier[: draw.choice((0, len(earlier) // 2, len(earlier) - 1, len(earlier)))]
        more = draw.choice((0, 1, 40, BLOCK - 1, BLOCK, BLOCK + 1, 300))
        made.append((kept + drawn(more))[:1500] or drawn(1))
    return made


def test_log_probabilities_equal_those_of_a_plain_forward_pass(runner):
    n_reused = 0
    for ids in prompts(60):
        found = runner.prefill(ids, never)
        n_reused += found.n_reused
        expected = naive(runner.model, ids)
        assert (found.logits.log_softmax(-1) - expected.log_softmax(-1)).abs().max() < 1e-4
    assert n_reused > 10 * BLOCK


def test_answers_do_not_depend_bit_by_bit_on_what_was_asked_before(load, tiny):
    asked = prompts(30, seed=1)
    model = load(tiny)
    alone = [Runner(model, n_threads=1).prefill(ids, never).logits for ids in asked]
    runner = Runner(model, n_threads=1)
    order = list(range(len(asked))) * 2
    random.Random(2).shuffle(order)
    for position in order:
        assert runner.prefill(asked[position], never).logits.equal(alone[position])


def test_whole_blocks_of_the_last_prompt_are_reused_and_one_token_is_always_run(runner):
    ids = tokens(2 * BLOCK + 10)
    assert runner.prefill(ids, never).n_reused == 0
    assert runner.prefill(ids, never).n_reused == 2 * BLOCK
    assert runner.prefill(ids[: 2 * BLOCK], never).n_reused == BLOCK
    assert runner.prefill(ids[: BLOCK + 1], never).n_reused == BLOCK
    assert runner.prefill(ids[:BLOCK], never).n_reused == 0
    assert runner.prefill([9, *ids[1:]], never).n_reused == 0


def test_generated_tokens_are_never_taken_for_a_part_of_the_next_prompt(runner):
    ids = tokens(BLOCK - 1)
    runner.prefill(ids, never)
    for token in (7, 8, 9):
        runner.advance([token], never)
    longer = [*ids, 7, 8, 9, 10]
    found = runner.prefill(longer, never)
    assert found.n_reused == 0
    assert found.logits.equal(Runner(runner.model, n_threads=1).prefill(longer, never).logits)


@pytest.mark.parametrize("architecture", ["gemma2", "qwen2", "mistral"])
def test_other_architectures_with_sliding_windows_too_equal_a_plain_pass(
    make_model, load, tmp_path, architecture
):
    settings = {"use_sliding_window": True} if architecture == "qwen2" else {}
    folder = make_model(tmp_path / "m", architecture=architecture, sliding_window=50, **settings)
    runner = Runner(load(folder), n_threads=1)
    for ids in prompts(25, seed=3):
        found = runner.prefill(ids, never).logits.log_softmax(-1)
        assert (found - naive(runner.model, ids).log_softmax(-1)).abs().max() < 1e-4


def test_a_prompt_that_nobody_waits_for_is_left_at_its_next_block(runner):
    ids = tokens(3 * BLOCK)
    looks = iter([False, True])
    with pytest.raises(Abandoned):
        runner.prefill(ids, lambda: next(looks))
    found = runner.prefill(ids, never)
    assert found.n_reused == BLOCK
    assert found.logits.equal(Runner(runner.model, n_threads=1).prefill(ids, never).logits)


def test_a_model_that_fails_half_way_leaves_nothing_behind(runner, monkeypatch):
    ids = tokens(2 * BLOCK)
    runner.prefill(ids, never)
    last = runner.model.model.layers[-1]

    def fail(*args, **kwargs):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(last, "forward", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        runner.prefill(ids, never)
    monkeypatch.undo()
    found = runner.prefill(ids, never)
    assert found.n_reused == 0
    assert found.logits.equal(Runner(runner.model, n_threads=1).prefill(ids, never).logits)


def test_a_logit_that_is_not_a_number_is_a_fault(runner):
    import torch

    ids = tokens(2 * BLOCK)
    with torch.no_grad():
        runner.model.model.norm.weight[0] = float("nan")
    with pytest.raises(AnswerFaultError, match="not a number") as caught:
        runner.prefill(ids, never)
    assert caught.value.status == "non_finite"
