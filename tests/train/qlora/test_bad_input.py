"""What is wrong with a training's input is said before it begins, or in words when it ends it."""

import json
import shutil

import pytest

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.errors import ConfigError, DataError, MissingInputError, ResourceError
from ragmend.sections.training import LoraConfig

pytestmark = pytest.mark.train


@pytest.fixture
def fit(pairs, quiet):
    return lambda job, train=pairs: GENERATIVE.fit(job, train, [], quiet())


def test_a_base_without_weights_is_named(llama, make_job, fit, tmp_path):
    shutil.copytree(llama, tmp_path / "base")
    (tmp_path / "base" / "model.safetensors").unlink()
    with pytest.raises(MissingInputError, match=r"base: .*model\.safetensors"):
        fit(make_job(tmp_path / "base", tmp_path / "run"))


def test_a_base_that_is_not_there_is_named(make_job, fit, tmp_path):
    with pytest.raises(MissingInputError, match="nowhere: no such folder"):
        fit(make_job(tmp_path / "nowhere", tmp_path / "run"))


def test_data_without_spans_is_refused(llama, make_job, fit, pairs, tmp_path):
    bare = pairs[1]._replace(response=pairs[1].response.model_copy(update={"gold_spans": None}))
    with pytest.raises(DataError, match="response 2: data without spans"):
        fit(make_job(llama, tmp_path / "run"), [pairs[0], bare])


def test_a_training_in_which_nothing_fits_is_refused(llama, make_job, fit, make_pair, tmp_path):
    long = make_pair("1", "word " * 900, None)
    with pytest.raises(DataError, match="not one of 1 training answers fits"):
        fit(make_job(llama, tmp_path / "run"), [long])


def test_layers_that_the_base_lacks_are_named(llama, make_job, fit, tmp_path):
    lora = LoraConfig(targets=("q_proj", "query_key_value"))
    with pytest.raises(ConfigError, match=r"no linear layer named query_key_value; it has: .*q_p"):
        fit(make_job(llama, tmp_path / "run", lora=lora))


def test_the_head_cannot_be_adapted(llama, make_job, fit, tmp_path):
    with pytest.raises(ConfigError, match="no linear layer named lm_head"):
        fit(make_job(llama, tmp_path / "run", lora=LoraConfig(targets=("lm_head",))))


def test_an_optimiser_of_gpus_is_refused_without_one(llama, make_job, fit, tmp_path):
    with pytest.raises(ConfigError, match="works on a GPU only"):
        fit(make_job(llama, tmp_path / "run", optimizer="paged-adamw-8bit"))


def test_without_memory_it_says_what_to_lower(llama, make_job, fit, tmp_path, monkeypatch):
    import torch
    from trl import SFTTrainer

    def fail(*args, **more):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore")

    monkeypatch.setattr(SFTTrainer, "training_step", fail)
    with pytest.raises(
        ResourceError, match=r"2\.00 GiB\.\); lower recipe\.micro_batch_size \(now 2"
    ):
        fit(make_job(llama, tmp_path / "run"))


def test_another_fault_of_a_step_is_not_taken_for_want_of_memory(
    llama, make_job, fit, tmp_path, monkeypatch
):
    from trl import SFTTrainer

    def fail(*args, **more):
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(SFTTrainer, "training_step", fail)
    with pytest.raises(RuntimeError, match="shapes differ"):
        fit(make_job(llama, tmp_path / "run"))


def test_answering_without_memory_says_what_to_lower(learnt, pairs, monkeypatch):
    import torch

    job, _ = learnt

    def fail(*args, **more):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    with GENERATIVE.open(job, job.weights(5)) as predictor:
        monkeypatch.setattr(predictor.model, "generate", fail)
        with pytest.raises(ResourceError, match=r"lower recipe\.generation_batch_size \(now 8\)"):
            predictor.answer(pairs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "org/other"}, "is of base org/tiny, the configuration has org/other"),
        ({"revision": "abc"}, "has org/tiny at abc"),
    ],
)
def test_an_adapter_of_another_base_is_refused(learnt, change, message):
    job, _ = learnt
    model = job.trained.model.model_copy(update=change)
    other = job._replace(trained=job.trained.model_copy(update={"model": model}))
    with pytest.raises(ConfigError, match=message), GENERATIVE.open(other, job.weights(5)):
        pass


def test_an_adapter_whose_matrices_do_not_fit_is_refused(
    learnt, make_llama, make_tokenizer, tmp_path
):
    job, _ = learnt
    folder = make_llama(tmp_path / "wide", make_tokenizer["byte-level"](), intermediate_size=256)
    model = job.trained.model.model_copy(update={"folder": str(folder)})
    other = job._replace(trained=job.trained.model_copy(update={"model": model}))
    with (
        pytest.raises(ConfigError, match=r"6 matrices do not fit the base.*found \(16, 128\)"),
        GENERATIVE.open(other, job.weights(5)),
    ):
        pass


def test_adapter_settings_that_cannot_be_read_are_refused(learnt, tmp_path):
    job, _ = learnt
    shutil.copytree(job.weights(5), tmp_path / "broken")
    (tmp_path / "broken" / "adapter_config.json").write_text(json.dumps({"r": "many"}))
    with pytest.raises(DataError, match=r"adapter_config\.json: "):
        GENERATIVE.norms(job, tmp_path / "broken")
