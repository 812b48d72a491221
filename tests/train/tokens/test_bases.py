"""Bases and recipes that a token classifier cannot be trained with, and what is measured."""

import json
import sys

import pytest

from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION
from ragmend.detector.tokens.loading import load_base
from ragmend.errors import ConfigError, MissingInputError

pytestmark = pytest.mark.train


def change(path, **entries):
    found = json.loads(path.read_text())
    path.write_text(json.dumps({**found, **entries}))


@pytest.fixture
def own(make_base, tmp_path):
    """A ModernBERT of the test's own, to spoil."""
    return make_base(tmp_path / "own", "modernbert")


def test_a_folder_without_weights_is_named(own, make_job):
    (own / "model.safetensors").unlink()
    with pytest.raises(MissingInputError, match="it is to hold config, tokenizer and safetensors"):
        load_base(make_job(base=own))


def test_weights_that_are_a_pickle_are_not_read(own, make_job):
    import torch

    (own / "model.safetensors").unlink()
    torch.save({}, own / "pytorch_model.bin")
    with pytest.raises(MissingInputError, match="safetensors"):
        load_base(make_job(base=own))


def test_a_model_that_is_not_in_the_cache_is_named(make_job):
    job = make_job(model={"id": "org/nowhere", "folder": None})
    with pytest.raises(MissingInputError, match="hf download org/nowhere"):
        load_base(job)


def test_a_causal_language_model_is_no_encoder(own, make_job):
    from transformers import LlamaConfig, LlamaForCausalLM

    LlamaForCausalLM(
        LlamaConfig(vocab_size=382, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                    num_attention_heads=2, pad_token_id=0)
    ).save_pretrained(own)  # fmt: skip
    with pytest.raises(ConfigError, match=r"is no encoder \(LlamaForCausalLM\)"):
        load_base(make_job(base=own))


def test_a_tokenizer_without_offsets_is_refused(own, make_job):
    from transformers import CanineTokenizer

    (own / "tokenizer.json").unlink()
    change(own / "config.json", model_type="canine")
    CanineTokenizer().save_pretrained(own)
    with pytest.raises(ConfigError, match=r"\(CanineTokenizer\) tells no offsets"):
        load_base(make_job(base=own))


def test_a_base_that_lacks_a_layer_of_the_encoder_is_refused(own, make_job):
    from safetensors.torch import load_file, save_file

    tensors = load_file(own / "model.safetensors")
    name = "model.layers.1.mlp.Wi.weight"
    save_file({n: t for n, t in tensors.items() if n != name}, own / "model.safetensors")
    with pytest.raises(ConfigError, match=f"1 weights are missing or of another shape, as {name}"):
        load_base(make_job(base=own))


def test_a_base_with_layers_of_another_shape_is_refused(own, make_job):
    change(own / "config.json", intermediate_size=64)
    with pytest.raises(ConfigError, match="weights are missing or of another shape, as model"):
        load_base(make_job(base=own))


def test_a_base_with_other_classes_gets_a_new_layer_for_ours(own, make_job):
    from transformers import AutoModelForTokenClassification

    AutoModelForTokenClassification.from_pretrained(own, num_labels=5).save_pretrained(own)
    assert load_base(make_job(base=own)).model.classifier.weight.shape == (2, 32)


def test_a_tokenizer_of_another_model_is_refused(make_base, make_job, tmp_path):
    base = make_base(tmp_path / "small", "modernbert", vocab_size=300)
    with pytest.raises(ConfigError, match="its tokenizer has 382 tokens, its weights 300"):
        load_base(make_job(base=base))


def test_the_layer_that_classifies_is_drawn_with_the_seed(make_job):
    weights = [load_base(make_job(seed=seed)).model.classifier.weight for seed in (1, 1, 2)]
    assert weights[0].equal(weights[1])
    assert not weights[0].equal(weights[2])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_length": 1024}, "org/tiny takes 512 tokens at most"),
        ({"packing": True}, "cannot be packed"),
        ({"pad_token": "<pad>"}, "'<pad>' is no token of org/tiny"),
        ({"model": {"dtype": "float16"}}, "cannot be trained in float16"),
        ({"model": {"max_model_len": 128}}, "takes 128 tokens at most"),
    ],
)
def test_a_recipe_that_does_not_suit_is_refused_before_anything(make_job, pairs, settings, words):
    job = make_job(**settings)
    for act in (lambda: load_base(job), lambda: TOKEN_CLASSIFICATION.measure(job, pairs)):
        with pytest.raises(ConfigError, match=words):
            act()


def test_a_tokenizer_without_padding_needs_a_recipe_that_names_it(own, make_job):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(own)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(own)
    with pytest.raises(ConfigError, match=r"set recipe\.pad_token"):
        load_base(make_job(base=own))
    assert load_base(make_job(base=own, pad_token="[PAD]")).tokenizer.pad_token_id == 0


def test_an_optimizer_for_a_gpu_needs_one(make_job, pairs, watch, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="works on a GPU only"):
        TOKEN_CLASSIFICATION.fit(make_job(optimizer="paged-adamw-8bit"), pairs, [], watch)


def test_a_library_that_is_missing_is_named(make_job, monkeypatch):
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(ConfigError, match=r"needs accelerate, .* 'ragmend\[train\]'"):
        load_base(make_job())


def test_lengths_are_counted_by_task(make_job, pairs, pair_of):
    job = make_job(max_length=96)
    long_source = pair_of("a", "It opens.", source="The library opens at nine. " * 30)
    long_answer = pair_of("b", "It opens at nine. " * 60)
    summary = pair_of("c", "It opens.")
    summary = summary._replace(source=summary.source.model_copy(update={"task_type": "Summary"}))
    rows = TOKEN_CLASSIFICATION.measure(job, [summary, *pairs, long_source, long_answer])
    assert [(row.task, row.n) for row in rows] == [("QA", 8), ("Summary", 1)]
    assert (rows[0].n_shortened, rows[0].n_refused) == (1, 1)
    assert rows[0].n_left_out > 10
    assert rows[0].prompt_max + 3 <= 96  # "It opens." has three tokens at least
    assert rows[0].target_median <= rows[0].target_p95 <= rows[0].target_max
    assert rows[1].n_left_out == rows[1].n_refused == 0


def test_prompts_and_targets_are_all_tokens_of_an_input(make_job, pairs):
    from ragmend.detector.tokens.encoding import encode_pair
    from ragmend.detector.tokens.loading import load_tokenizer

    job = make_job()
    (row,) = TOKEN_CLASSIFICATION.measure(job, pairs[:1])
    encoded = encode_pair(load_tokenizer(job), pairs[0], 256)
    assert row.prompt_median + row.target_median == encoded.length
    assert row.target_median == encoded.n_answer_tokens


def test_memory_is_that_of_every_weight(make_job):
    parts = {part.part: part.gib * 2**30 for part in TOKEN_CLASSIFICATION.memory(make_job())}
    n_weights = load_base(make_job()).model.num_parameters()
    assert parts["weights"] == parts["gradients"] == 4 * n_weights
    assert parts["optimizer"] == 8 * n_weights
    assert parts["total"] == pytest.approx(sum(parts.values()) - parts["total"])


def test_memory_falls_with_what_the_message_says_to_lower(make_job):
    def activations(**recipe):
        parts = TOKEN_CLASSIFICATION.memory(make_job(**recipe))
        return {part.part: part.gib for part in parts}["activations"]

    assert activations(micro_batch_size=1) == pytest.approx(activations() / 3)
    assert activations(max_length=128) == pytest.approx(activations() / 2)
    assert activations() < activations(gradient_checkpointing=False)
