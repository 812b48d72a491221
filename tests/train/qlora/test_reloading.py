"""What is on disk is what was trained: reloaded exactly, merged within a tolerance."""

import numpy as np
import pytest

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.qlora.merging import merge_adapter
from ragmend.errors import DataError
from ragmend.io import read_records
from ragmend.trained import DetectorAnswer

pytestmark = pytest.mark.train


def test_reloaded_weights_answer_exactly_as_those_in_memory_did(learnt, pairs):
    job, _ = learnt
    in_memory = list(read_records(job.folder / "in-memory.jsonl", DetectorAnswer))
    with GENERATIVE.open(job, job.weights(5)) as predictor:
        reloaded = [a for b in GENERATIVE.batches(job, pairs) for a in predictor.answer(b)]
    assert reloaded == in_memory


def test_an_answer_does_not_depend_on_how_it_was_batched(learnt, pairs, make_pair):
    job, _ = learnt
    long = make_pair("9", "The library opens at nine.", None, "The library opens at six. " * 12)
    with GENERATIVE.open(job, job.weights(5)) as predictor:
        together = predictor.answer([*pairs, long])
        alone = [predictor.answer([pair])[0] for pair in [*pairs, long]]
    assert together == alone


def test_an_answer_that_needs_more_tokens_is_cut_and_says_so(learnt, pairs):
    job, _ = learnt
    short = job._replace(recipe=job.recipe.model_copy(update={"answer_tokens": 8}))
    with GENERATIVE.open(short, job.weights(5)) as predictor:
        answers = predictor.answer(pairs)
    assert [(answer.n_tokens, answer.ended) for answer in answers] == [(8, False)] * 4


def test_norms_are_those_of_what_the_adapter_adds(learnt):
    from safetensors.torch import load_file

    job, _ = learnt
    tensors = load_file(job.weights(5) / "adapter_model.safetensors")
    layers = GENERATIVE.norms(job, job.weights(5))
    assert len(layers) == 14
    for layer in layers:
        a, b = (
            tensors[f"base_model.model.{layer.layer}.lora_{which}.weight"].numpy() for which in "AB"
        )
        assert layer.a == pytest.approx(float(np.linalg.norm(a)), rel=1e-5)
        assert layer.b == pytest.approx(float(np.linalg.norm(b)), rel=1e-5)
        assert layer.delta == pytest.approx(float(np.linalg.norm(2 * b @ a)), rel=1e-4)


def test_merged_into_the_unpacked_base_it_answers_the_same_within_a_tolerance(
    learnt, pairs, tmp_path, note
):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    job, _ = learnt
    out = tmp_path / "merged"
    merged = merge_adapter(job, job.weights(5), out, list(GENERATIVE.batches(job, pairs)))
    assert 0 <= merged.difference < 1e-3
    assert merged.n_different_answers == 0
    note(f"merged into the dequantised base: greatest logit difference {merged.difference:.1e}")
    assert sorted(path.suffix for path in out.glob("model*")) == [".safetensors"]
    plain = AutoModelForCausalLM.from_pretrained(out)
    assert getattr(plain.config, "quantization_config", None) is None
    assert len(AutoTokenizer.from_pretrained(out)) == plain.config.vocab_size


def test_merging_a_training_in_full_precision_works_too(llama, make_job, pairs, quiet, tmp_path):
    job = make_job(llama, tmp_path / "run", quantization=None, epochs=1)
    GENERATIVE.fit(job, pairs, [], quiet())
    merged = merge_adapter(job, job.weights(1), tmp_path / "merged", [pairs])
    assert 0 <= merged.difference < 1e-3


def test_merging_with_nothing_to_compare_is_refused(learnt, tmp_path):
    job, _ = learnt
    with pytest.raises(DataError, match="nothing shows what merging changed"):
        merge_adapter(job, job.weights(5), tmp_path / "merged", [])
