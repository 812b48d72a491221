"""The estimate of memory, against models that are there."""

import pytest

from ragmend.detector.qlora.kind import GENERATIVE
from ragmend.detector.qlora.memory import count_adapter, shape_of

pytestmark = pytest.mark.train


@pytest.mark.parametrize(
    ("sizes", "n_parameters"),
    [
        ((4096, 11_008, 32, 32), 6_738_415_616),
        ((5120, 13_824, 40, 40), 13_015_864_320),
    ],
    ids=["Llama-2 7B", "Llama-2 13B"],
)
def test_the_shape_of_settings_has_the_known_parameters(sizes, n_parameters):
    from transformers import LlamaConfig

    n_hidden, n_inner, n_blocks, n_heads = sizes
    settings = LlamaConfig(
        hidden_size=n_hidden,
        intermediate_size=n_inner,
        num_hidden_layers=n_blocks,
        num_attention_heads=n_heads,
        vocab_size=32_000,
    )
    shape = shape_of(settings, "bfloat16")
    assert shape.n_parameters == n_parameters
    assert (shape.n_blocks, shape.n_hidden, shape.n_words) == (n_blocks, n_hidden, 32_000)
    assert len(shape.linear) == 7 * n_blocks
    assert shape.bytes_each == 2


def test_the_adapter_is_as_large_as_the_one_that_was_trained(learnt):
    from safetensors.torch import load_file
    from transformers import AutoConfig

    job, _ = learnt
    trained = load_file(job.weights(5) / "adapter_model.safetensors")
    shape = shape_of(AutoConfig.from_pretrained(job.trained.model.folder), "float32")
    assert count_adapter(shape, job.recipe) == sum(tensor.numel() for tensor in trained.values())


def test_the_parts_are_named_and_add_up(llama, make_job, tmp_path):
    parts = {part.part: part.gib for part in GENERATIVE.memory(make_job(llama, tmp_path))}
    names = ["base", "adapter", "gradients", "optimizer", "activations", "logits"]
    assert list(parts) == [*names, "total", "answering"]
    assert parts["total"] == pytest.approx(sum(parts[name] for name in names))


def test_activations_are_about_what_autograd_keeps(llama, make_job, tmp_path, note):
    import torch
    from peft import get_peft_model

    from ragmend.detector.qlora.adapters import make_settings
    from ragmend.detector.qlora.bases import load_base
    from ragmend.detector.qlora.libraries import ignore_known_warnings

    recipe = {"micro_batch_size": 2, "batch_size": 2, "max_length": 512}
    job = make_job(llama, tmp_path, **recipe)
    base = load_base(job)
    with ignore_known_warnings():
        model = get_peft_model(base, make_settings(base, job.recipe.lora)).train()
    n_tokens = 2 * 512
    kept = {}
    own = {parameter.data_ptr() for parameter in model.parameters()}

    def keep(tensor):
        if tensor.data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    ids = torch.randint(5, 100, (2, 512))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model.get_base_model().model(input_ids=ids)
    measured = sum(kept.values()) / n_tokens
    estimated = {part.part: part.gib for part in GENERATIVE.memory(job)}["activations"] * 2**30
    note(f"activations a token: {estimated / n_tokens:.0f} bytes estimated, {measured:.0f} kept")
    assert 0.5 < estimated / n_tokens / measured < 2
