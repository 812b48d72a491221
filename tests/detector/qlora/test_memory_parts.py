"""The estimate of memory, against arithmetic by hand."""

import pytest

from ragmend.detector.qlora.memory import Linear, Shape, count_adapter, estimate_parts
from ragmend.sections.training import LoraConfig, Recipe

GIB = 2**30


def llama(n_hidden, n_inner, n_blocks, n_words=32_000):
    """Return the shape of a Llama-2 in bfloat16."""
    block = (
        *((name, n_hidden, n_hidden) for name in ("q_proj", "k_proj", "v_proj", "o_proj")),
        ("gate_proj", n_hidden, n_inner),
        ("up_proj", n_hidden, n_inner),
        ("down_proj", n_inner, n_hidden),
    )
    linear = tuple(
        Linear(f"model.layers.{number}.{name}", n_in, n_out)
        for number in range(n_blocks)
        for name, n_in, n_out in block
    )
    n_other = 2 * n_words * n_hidden + (2 * n_blocks + 1) * n_hidden
    return Shape(linear, n_other, n_blocks, n_hidden, n_words, bytes_each=2, n_kept=2 * n_hidden)


LLAMA_7B, LLAMA_13B = llama(4096, 11_008, 32), llama(5120, 13_824, 40)


def parts_of(shape, *, is_quantised=True, **recipe):
    found = estimate_parts(shape, Recipe(**recipe), is_quantised=is_quantised)
    return {part.part: part.gib for part in found}


def test_llama_2_has_as_many_parameters_as_it_is_known_to_have():
    # Touvron et al. 2023, as the published safetensors count them.
    assert LLAMA_7B.n_parameters == 6_738_415_616
    assert LLAMA_13B.n_parameters == 13_015_864_320


def test_a_quantised_base_takes_about_half_a_byte_a_weight():
    parts = parts_of(LLAMA_7B)
    in_nf4 = (6_738_415_616 - LLAMA_7B.n_other) * 4.127 / 8
    unpacked = 4096 * 11_008 * 2
    assert parts["base"] * GIB == pytest.approx(in_nf4 + 4 * LLAMA_7B.n_other + unpacked)
    assert parts_of(LLAMA_7B, is_quantised=False)["base"] * GIB == 2 * 6_738_415_616


def test_the_adapter_is_float32_with_two_moments_a_number():
    n = count_adapter(LLAMA_7B, Recipe())
    assert n == 32 * 32 * (4 * 2 * 4096 + 3 * (4096 + 11_008))  # rank × blocks × (in + out)
    parts = parts_of(LLAMA_7B)
    assert parts["adapter"] * GIB == parts["gradients"] * GIB == 4 * n
    assert parts["optimizer"] * GIB == 8 * n
    assert parts_of(LLAMA_7B, optimizer="paged-adamw-8bit")["optimizer"] * GIB == 2 * n


def test_only_adapted_layers_count_for_the_adapter():
    lora = LoraConfig(targets=("q_proj", "v_proj"))
    assert count_adapter(LLAMA_7B, Recipe(lora=lora)) == 32 * 32 * 2 * 2 * 4096


def test_the_total_is_the_sum_and_13b_fits_a_gpu_of_40_gib():
    parts = parts_of(LLAMA_13B)
    assert parts["total"] == pytest.approx(
        sum(parts.values()) - parts["total"] - parts["answering"]
    )
    assert 18 < parts["total"] < 40
    assert parts_of(LLAMA_7B)["total"] < parts["total"]


def test_answering_holds_keys_and_values_of_a_whole_batch():
    # Llama-2-13B: 2 × 5,120 numbers a token and block, 40 blocks, 16 prompts of 2,048, 2 bytes
    keys_and_values = 2 * 5120 * 40 * 16 * 2048 * 2 / GIB
    assert keys_and_values == pytest.approx(25.0, abs=0.01)
    of_16 = parts_of(LLAMA_13B, generation_batch_size=16)
    base = of_16["base"] + of_16["adapter"]
    assert base + keys_and_values < of_16["answering"] < base + keys_and_values + 4
    assert of_16["answering"] > 36  # no room on a GPU of 40 GB
    assert parts_of(LLAMA_13B, generation_batch_size=8)["answering"] < 28


def test_what_is_lowered_lowers_the_estimate():
    parts = parts_of(LLAMA_13B)
    assert parts_of(LLAMA_13B, micro_batch_size=1)["activations"] < parts["activations"] / 3.9
    assert parts_of(LLAMA_13B, max_length=1024)["activations"] == parts["activations"] / 2
    without = parts_of(LLAMA_13B, gradient_checkpointing=False)
    assert without["activations"] > 5 * parts["activations"]
    assert parts_of(LLAMA_13B, is_quantised=False)["base"] > 3 * parts["base"]
