"""A model in this process, asked as roles ask it."""

import asyncio
import json
import shutil
import threading

import pytest

from ragmend.errors import AnswerFaultError, ConfigError, MissingInputError, ServerError
from ragmend.llm.in_process import running
from ragmend.llm.in_process.opening import open_in_process
from ragmend.llm.labels import LABEL_FORMS, read_support
from ragmend.llm.protocol import Prompt, Sampling
from ragmend.sections.models import ModelConfig

pytestmark = pytest.mark.local

PROMPT = Prompt("You check a claim.", "The library opens at nine. Is the claim supported?")


def ask(config, question, *, label_forms=LABEL_FORMS):
    """Open a model, ask it, close it."""

    async def run():
        async with open_in_process(config, label_forms=label_forms) as model:
            return await question(model)

    return asyncio.run(run())


def changed(config, **changes):
    return config.model_copy(update=changes)


def test_labels_have_the_log_probabilities_of_a_plain_forward_pass(config, tiny):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    scores = ask(config, lambda model: model.score_labels(PROMPT))
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    text = f"<|im_start|>system\n{PROMPT.system}<|im_end|>\n<|im_start|>user\n{PROMPT.user}"
    ids = tokenizer.encode(f"{text}<|im_end|>\n<|im_start|>assistant\n", add_special_tokens=False)
    with torch.inference_mode():
        logits = AutoModelForCausalLM.from_pretrained(tiny)(torch.tensor([ids])).logits[0, -1]
    expected = logits.double().log_softmax(-1)
    assert scores.n_prompt_tokens == len(ids)
    assert scores.logprobs.keys() == {"Yes", " Yes", "No", " No"}  # the others are several tokens
    for form, logprob in scores.logprobs.items():
        (token,) = tokenizer.encode(form, add_special_tokens=False)
        assert logprob == pytest.approx(expected[token].item(), abs=1e-4)
    assert 0 < read_support(scores, "two-token", min_mass=0.0).p < 1


def test_it_says_what_it_is_and_how_it_was_used(config):
    async def question(model):
        for _ in range(2):
            await model.score_labels(Prompt("Check.", "The library opens at nine. " * 40))
        await model.generate(PROMPT, Sampling(max_tokens=3))
        return model

    model = ask(config, question)
    assert model.model == "org/tiny"
    assert model.context_length == 2048
    assert model.facts["dtype"] == "float32"
    assert model.facts["max_model_len"] == 2048
    assert model.facts["logprobs"] == "token-ids"
    assert str(model.facts["version"]).startswith("transformers ")
    usage = model.usage.as_json()
    assert usage["n_requests"] == 3
    assert usage["n_tokens"] == 3
    assert usage["n_reused_tokens"] > 0
    assert model.usage.describe().startswith("prefix reuse ")


def test_an_answer_is_text_without_special_tokens(config):
    made = ask(config, lambda model: model.generate(PROMPT, Sampling(max_tokens=20)))
    assert made.finish in ("stop", "length")
    assert made.n_tokens <= 20
    assert "<|" not in made.text


def test_an_answer_under_a_schema_can_be_read(config):
    schema = {
        "type": "object",
        "properties": {"rewrite": {"enum": ["the library", None]}},
        "required": ["rewrite"],
        "additionalProperties": False,
    }
    made = ask(config, lambda model: model.generate(PROMPT, Sampling(60, schema=schema)))
    assert made.finish == "stop"
    assert json.loads(made.text)["rewrite"] in ("the library", None)


def test_tokens_are_counted_with_the_template(config):
    async def question(model):
        counted = await model.count_tokens(PROMPT)
        return counted, (await model.score_labels(PROMPT)).n_prompt_tokens

    counted, scored = ask(config, question)
    assert counted == scored


def test_a_prompt_and_answer_over_the_context_are_refused_and_one_token_less_is_not(config):
    n = ask(config, lambda model: model.count_tokens(PROMPT))
    short = changed(config, max_model_len=n + 10)

    async def too_long(model):
        with pytest.raises(AnswerFaultError, match="over the context") as caught:
            await model.generate(PROMPT, Sampling(max_tokens=11))
        assert caught.value.status == "too_long"
        assert model.usage.n_requests == 0
        return await model.generate(PROMPT, Sampling(max_tokens=10))

    assert ask(short, too_long).n_prompt_tokens == n


def test_a_template_that_refuses_the_system_role_gets_it_folded(make_model, tmp_path):
    template = (
        "{% for m in messages %}{% if m.role == 'system' %}"
        "{{ raise_exception('System role not supported') }}{% endif %}"
        "{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    )
    folder = make_model(tmp_path / "gemma", template=template)
    config = ModelConfig(id="org/gemma", folder=str(folder))

    async def question(model):
        folded = Prompt("", f"{PROMPT.system}\n\n{PROMPT.user}")
        return await model.score_labels(PROMPT), await model.score_labels(folded)

    first, second = ask(config, question)
    assert first == second


def test_a_label_whose_log_probability_is_not_finite_is_a_fault(config, monkeypatch):
    forward = running.Runner._forward

    def without_yes(self, ids):
        logits = forward(self, ids).clone()
        logits[yes] = -float("inf")
        return logits

    async def question(model):
        nonlocal yes
        yes = model._labels["Yes"]
        return await model.score_labels(PROMPT)

    yes = None
    monkeypatch.setattr(running.Runner, "_forward", without_yes)
    with pytest.raises(AnswerFaultError, match="not finite") as caught:
        ask(config, question)
    assert caught.value.status == "non_finite"


def test_a_model_that_fails_is_no_fault_of_one_answer(config, monkeypatch):
    def fail(self, ids):
        raise RuntimeError("CUDA out of memory\nand more")

    monkeypatch.setattr(running.Runner, "_forward", fail)
    with pytest.raises(ServerError, match="org/tiny failed in this process: CUDA out of memory;"):
        ask(config, lambda model: model.score_labels(PROMPT))


def test_many_questions_at_once_get_the_answers_of_one_by_one(config):
    asked = [Prompt("Check.", f"Claim {n}: the library opens at {n}.") for n in range(12)]

    async def at_once(model):
        return await asyncio.gather(*(model.score_labels(prompt) for prompt in asked))

    async def one_by_one(model):
        return [await model.score_labels(prompt) for prompt in asked]

    assert list(ask(config, at_once)) == ask(config, one_by_one)


def test_a_cancelled_generation_stops_and_the_next_question_is_answered(config, monkeypatch):
    has_begun = threading.Event()
    n_forwards = 0
    forward = running.Runner._forward

    def counted(self, ids):
        nonlocal n_forwards
        n_forwards += 1
        has_begun.set()
        return forward(self, ids)

    monkeypatch.setattr(running.Runner, "_forward", counted)

    async def question(model):
        long = asyncio.ensure_future(
            model.generate(PROMPT, Sampling(max_tokens=1900, temperature=1.0))
        )
        await asyncio.to_thread(has_begun.wait)  # the loop is free while the model runs
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        scores = await model.score_labels(PROMPT)
        return scores, n_forwards

    scores, n_run = ask(config, question)
    assert n_run < 1900
    assert scores == ask(config, lambda model: model.score_labels(PROMPT))


def test_leaving_while_a_generation_runs_stops_it(config, monkeypatch):
    has_begun = threading.Event()
    forward = running.Runner._forward

    def seen(self, ids):
        has_begun.set()
        return forward(self, ids)

    monkeypatch.setattr(running.Runner, "_forward", seen)

    async def question(model):
        running_on = asyncio.ensure_future(
            model.generate(PROMPT, Sampling(max_tokens=1900, temperature=1.0))
        )
        await asyncio.to_thread(has_begun.wait)
        return model, running_on

    async def run():
        async with open_in_process(config) as model:
            model, running_on = await question(model)
        with pytest.raises(ServerError, match="is closed"):
            await running_on
        with pytest.raises(ServerError, match="is closed"):
            await model.generate(PROMPT, Sampling(max_tokens=1))

    asyncio.run(run())


def test_labels_cannot_be_scored_where_none_were_named(config):
    with pytest.raises(RuntimeError, match="no label forms"):
        ask(config, lambda model: model.score_labels(PROMPT), label_forms=())


def refused(config, *, label_forms=()):
    return ask(config, lambda model: model.count_tokens(PROMPT), label_forms=label_forms)


def test_a_missing_folder_is_named(config, tmp_path):
    with pytest.raises(MissingInputError, match="none: no such folder; it is to hold the weights"):
        refused(changed(config, folder=str(tmp_path / "none")))


def test_a_folder_without_a_model_is_named(config, tmp_path):
    with pytest.raises(MissingInputError, match=r"no config.json in it"):
        refused(changed(config, folder=str(tmp_path)))


def test_what_the_hubs_cache_lacks_is_not_downloaded(config):
    with pytest.raises(MissingInputError, match="hf download org/tiny --revision abc"):
        refused(changed(config, folder=None, revision="abc"))


def test_a_folder_without_weights_is_named(config, tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "m")
    (folder / "model.safetensors").unlink()
    with pytest.raises(MissingInputError, match="safetensors"):
        refused(changed(config, folder=str(folder)))


def test_pickled_weights_are_not_read(config, tiny, tmp_path):
    import torch

    folder = shutil.copytree(tiny, tmp_path / "m")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(MissingInputError, match="safetensors"):
        refused(changed(config, folder=str(folder)))


def test_damaged_weights_are_refused(config, tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "m")
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-1000])
    with pytest.raises(ConfigError, match="not a model that can be loaded"):
        refused(changed(config, folder=str(folder)))


def test_weights_that_are_missing_are_not_drawn_at_random(config, tiny, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(tiny, tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ConfigError, match=r"1 weights are missing.*up_proj"):
        refused(changed(config, folder=str(folder)))


def test_a_tokenizer_of_another_model_is_refused(config, make_model, tmp_path):
    folder = make_model(tmp_path / "m", vocab_size=100)
    with pytest.raises(ConfigError, match=r"its tokenizer has .* tokens, its weights 100"):
        refused(changed(config, folder=str(folder)))


def test_a_context_longer_than_the_models_is_refused(config):
    with pytest.raises(
        ConfigError, match="has a context of 2048 tokens, but max_model_len is 4096"
    ):
        refused(changed(config, max_model_len=4096))


def test_code_of_a_repository_is_not_run(config, tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "m")
    settings = json.loads((folder / "config.json").read_text())
    settings["model_type"] = "own"
    settings["auto_map"] = {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(settings))
    mark = tmp_path / "was_run"
    (folder / "own.py").write_text(f"from pathlib import Path\nPath({str(mark)!r}).touch()\n")
    with pytest.raises(ConfigError, match="not a model that can be loaded"):
        refused(changed(config, folder=str(folder)))
    assert not mark.exists()


def test_weights_that_are_not_quantised_as_configured_are_refused(config):
    with pytest.raises(ConfigError, match="'awq', but its weights are not quantised"):
        refused(changed(config, quantization="awq"))


def test_a_model_without_a_token_for_a_label_is_refused(config):
    with pytest.raises(ConfigError, match="none of 'YES' is one token"):
        refused(config, label_forms=("YES", "No"))


def test_threads_are_the_configurations_whatever_the_process_has(config, monkeypatch):
    import torch

    found = []
    forward = running.Runner._forward

    def seen(self, ids):
        found.append(torch.get_num_threads())
        return forward(self, ids)

    monkeypatch.setattr(running.Runner, "_forward", seen)
    for threads in (2, 1):
        ask(changed(config, threads=threads), lambda model: model.score_labels(PROMPT))
    assert found == [2, 1]
