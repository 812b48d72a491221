"""The two ways in which published trainings failed, planted: each is seen, and named."""

import shutil

import pytest

from ragmend.detector.qlora import collating, tokens
from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.training.health import Evidence, judge_training
from ragmend.errors import ConfigError, DataError, MissingInputError
from ragmend.io import read_records
from ragmend.trained import DetectorAnswer, LogRow

pytestmark = pytest.mark.train


@pytest.fixture
def padding_is_the_end(monkeypatch):
    """Plant the fault: padding and end are one token, and no padding token has a loss."""

    def build(coder):
        from transformers import DataCollatorForLanguageModeling

        masking = DataCollatorForLanguageModeling(coder.tokenizer, mlm=False)

        def collate(rows):
            batch = masking([{"input_ids": row["input_ids"]} for row in rows])
            for at, row in enumerate(rows):  # the loss on the completion alone stays
                n_prompt = sum(label == -100 for label in row["labels"])
                batch["labels"][at, :n_prompt] = -100
            return batch

        return collate

    monkeypatch.setattr(collating, "build_collator", build)
    monkeypatch.setattr(tokens, "choose_pad", lambda tokenizer, *_: tokenizer.eos_token_id)


@pytest.fixture
def damaged(learnt, tmp_path):
    """Write a copy of the learnt adapter that is changed by a function; return its folder."""
    from safetensors.torch import load_file, save_file

    def damage(change):
        folder = tmp_path / "damaged"
        shutil.copytree(learnt[0].weights(5), folder)
        path = folder / "adapter_model.safetensors"
        save_file({name: change(name, t) for name, t in load_file(path).items()}, path)
        return folder

    return damage


def answer_all(job, weights, pairs):
    with GENERATIVE.open(job, weights) as predictor:
        return [a for batch in GENERATIVE.batches(job, pairs) for a in predictor.answer(batch)]


def judge(job, pairs, answers, weights, facts=None):
    by_id = {pair.response.record_id: pair.response for pair in pairs}
    verdicts = {
        a.record_id: GENERATIVE.read(a, by_id[a.record_id], run_id=job.run_id, threshold=None)
        for a in answers
        if a.problem is None
    }
    evidence = Evidence(
        answers=answers,
        verdicts=verdicts,
        n_hallucinated=sum(bool(pair.response.gold_spans) for pair in pairs),
        in_memory=(),
        reloaded=(),
        log=list(read_records(job.folder / "log.jsonl", LogRow)),
        tokens=facts,
        layers=GENERATIVE.norms(job, weights),
    )
    return judge_training(job.run_id, evidence)


def test_a_sound_training_is_usable(learnt, pairs):
    job, _ = learnt
    facts = GENERATIVE.token_facts(job, pairs)
    answers = answer_all(job, job.weights(5), pairs)
    assert judge(job, pairs, answers, job.weights(5), facts).verdict == "usable"


def test_where_padding_is_the_end_no_answer_ends_and_the_tokens_show_it(
    llama, make_job, pairs, quiet, tmp_path, padding_is_the_end
):
    job = make_job(llama, tmp_path / "run", answer_tokens=40)
    facts = GENERATIVE.token_facts(job, pairs)
    assert facts.pad_is_end
    assert (facts.n_targets, facts.n_without_end) == (4, 4)
    GENERATIVE.fit(job, pairs * 6, list(GENERATIVE.batches(job, pairs)), quiet())
    answers = list(read_records(job.folder / "in-memory.jsonl", DetectorAnswer))
    assert [answer.ended for answer in answers] == [False] * 4
    assert [answer.n_tokens for answer in answers] == [40] * 4
    assert all(answer.text.startswith('{"hallucinated": ') for answer in answers)
    report = judge(job, pairs, answers, job.weights(5), facts)
    assert report.verdict == "failed"
    assert "never end" in " ".join(report.reasons)
    assert "padding token is the end token" in " ".join(report.reasons)


def test_a_zeroed_adapter_adds_nothing_and_its_norms_say_so(learnt, damaged):
    job, _ = learnt
    layers = GENERATIVE.norms(job, damaged(lambda name, t: t * ("lora_B" not in name)))
    assert len(layers) == 14
    assert all(layer.delta == layer.b == 0.0 and layer.a > 0 for layer in layers)


def test_a_scaled_layer_stands_out_of_the_norms(learnt, damaged, pairs):
    job, _ = learnt
    name = "model.layers.1.mlp.up_proj"
    weights = damaged(lambda key, t: t * 1000 if f"{name}.lora_B" in key else t)
    before = {layer.layer: layer for layer in GENERATIVE.norms(job, job.weights(5))}
    after = {layer.layer: layer for layer in GENERATIVE.norms(job, weights)}
    assert after[name].delta == pytest.approx(1000 * before[name].delta)
    assert {key for key in before if before[key] != after[key]} == {name}
    report = judge(job, pairs, answer_all(job, weights, pairs), weights)
    assert report.verdict != "usable"
    assert name in " ".join(report.reasons)


def test_an_adapter_of_no_numbers_gives_no_answer_and_no_norm(learnt, damaged, pairs):
    job, _ = learnt
    name = "model.layers.0.self_attn.q_proj"
    weights = damaged(lambda key, t: t * float("nan") if f"{name}.lora_A" in key else t)
    [broken] = [layer for layer in GENERATIVE.norms(job, weights) if layer.layer == name]
    assert (broken.a, broken.delta) == (None, None)
    assert broken.b > 0
    answers = answer_all(job, weights, pairs)
    assert [answer.problem for answer in answers] == ["non_finite"] * 4
    assert "logits of token 1 of its answer" in answers[0].message
    assert judge(job, pairs, answers, weights).verdict == "failed"


def test_an_adapter_that_is_cut_off_is_refused(learnt, tmp_path):
    job, _ = learnt
    shutil.copytree(job.weights(5), tmp_path / "cut")
    path = tmp_path / "cut" / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DataError, match=r"adapter_model\.safetensors: cannot be read"):
        GENERATIVE.norms(job, tmp_path / "cut")
    with (
        pytest.raises(DataError, match=r"adapter_model\.safetensors: cannot be read"),
        GENERATIVE.open(job, tmp_path / "cut"),
    ):
        pass


def test_an_adapter_without_its_file_is_named(learnt, tmp_path):
    job, _ = learnt
    shutil.copytree(job.weights(5), tmp_path / "empty")
    (tmp_path / "empty" / "adapter_model.safetensors").unlink()
    with pytest.raises(MissingInputError, match="no such file"):
        GENERATIVE.norms(job, tmp_path / "empty")


def test_a_layer_that_lacks_one_of_its_matrices_is_refused(learnt, tmp_path):
    from safetensors.torch import load_file, save_file

    job, _ = learnt
    shutil.copytree(job.weights(5), tmp_path / "part")
    path = tmp_path / "part" / "adapter_model.safetensors"
    tensors = load_file(path)
    del tensors["base_model.model.model.layers.0.mlp.up_proj.lora_B.weight"]
    save_file(tensors, path)
    with pytest.raises(DataError, match=r"layer model\.layers\.0\.mlp\.up_proj has no two"):
        GENERATIVE.norms(job, tmp_path / "part")
    with (
        pytest.raises(ConfigError, match="1 matrices do not fit the base"),
        GENERATIVE.open(job, tmp_path / "part"),
    ):
        pass
