"""How fast things are, from first principles: every number that an estimate rests on.

None of it was measured on a GPU. Peaks are their makers'; the shares of them that are reached are
ours, and ordinary. A model without a known size, and a GPU that is not listed, have no rate.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ragmend.sections.models import ModelConfig
from ragmend.slurm.cluster import Resources

PREFILL_SHARE = 0.40
"""Of the peak FLOP/s, while prompts are read."""
DECODE_SHARE = 0.60
"""Of the peak bandwidth, while answers are written: the rest goes to caches and launches."""
TRAIN_SHARE = 0.25
"""Of the peak FLOP/s, while an adapter is trained in micro-batches on a base of 4 bits."""
TENSOR_PARALLEL_SHARE = 0.85
"""Of their peaks, what several GPUs reach that share a model."""
PREFIX_CACHE_SHARE = 0.80
"""Of what a prefix cache could save, what it saves; `make bench` demands it of the order of
requests."""
FORWARD, BACKWARD, RECOMPUTED, WEIGHT_GRADIENTS = 2, 2, 2, 2
"""FLOP a parameter and token: forward; back to activations; forward once more, where activations
are not kept; gradients of weights, which a frozen base has none of.

Source: Kaplan et al. 2020, "Scaling Laws for Neural Language Models" (arXiv 2001.08361), section
2.1 (2 and 4); Dettmers et al. 2023, "QLoRA" (arXiv 2305.14314): the base is frozen."""
DISK_BYTES_S = 1e9
"""Weights from a shared file system, a second."""
SERVER_SETUP_S = 180.0
"""Of a server besides its weights: imports, profiling, compilation, CUDA graphs."""
TRAIN_SETUP_S = 120.0
"""Of a process that trains or predicts besides its weights: imports, data, quantising."""
SELF_TEST_S = 60.0
"""What a doctor asks."""
GENERATE_STEP_S = 0.06
"""The least that one token takes of a batch in this process: some thousand kernels are launched."""
LONGEST_TO_MEAN = 2.0
"""A batch writes as long as its longest answer, of eight: so many times the mean."""
BITS = {"awq": 4.16, "gptq": 4.16, "bitsandbytes": 4.127, "fp8": 8.0, None: 16.0}
"""Bits a weight, with the constants of their groups."""
TERA, MILLION, BILLION = 1e12, 1e6, 1e9

_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])")
_MIXTURE = re.compile(r"\d+x\d+(?:\.\d+)?b|-a\d+(?:\.\d+)?b")


class Gpu(NamedTuple):
    """Peaks of one GPU: dense bf16 FLOP/s; bytes/s of its memory."""

    flops: float
    bandwidth: float


# NVIDIA's data sheets: A100 SXM of 40 and of 80 GB; H100 SXM.
_GPUS: Mapping[str, Mapping[int, Gpu]] = {
    "a100": {40: Gpu(312 * TERA, 1.555 * TERA), 80: Gpu(312 * TERA, 2.039 * TERA)},
    "h100": {80: Gpu(989 * TERA, 3.35 * TERA)},
}


class Place(NamedTuple):
    """GPUs that one model has for itself: their peaks together, as far as they are reached."""

    flops: float
    bandwidth: float

    def prefill_s(self, n_tokens: float, n_parameters: float) -> float:
        """Return the seconds in which so many tokens of prompts are read."""
        return FORWARD * n_parameters * n_tokens / (self.flops * PREFILL_SHARE)

    def step_s(self, n_bytes: float) -> float:
        """Return the seconds of one token of each answer: all weights are read once."""
        return n_bytes / (self.bandwidth * DECODE_SHARE)


def place_of(resources: Resources) -> Place | None:
    """Return the GPUs of a task; None: it has none, or nobody here knows how fast they are.

    An unnamed type is taken for an A100, and one of up to 40 GB for that of 40 GB.
    """
    n = resources.gpus or 0
    kinds = [
        sizes for name, sizes in _GPUS.items() if name in (resources.gpu_type or "a100").lower()
    ]
    if not n or len(kinds) != 1:
        return None
    sizes = kinds[0]
    memory = resources.gpu_memory_gb or min(sizes)
    gpu = sizes[min((size for size in sizes if memory <= size), default=max(sizes))]
    reached = n * (TENSOR_PARALLEL_SHARE if n > 1 else 1.0)
    return Place(gpu.flops * reached, gpu.bandwidth * reached)


def n_parameters(model_id: str) -> float | None:
    """Return a model's parameters as its name tells them: 7e9 of "Llama-2-7b-hf".

    None where the name tells none, or several, or of a mixture of experts, of which each token
    meets a part only.
    """
    name = model_id.rstrip("/").rpartition("/")[2].lower()
    found = {float(number) * (BILLION if unit == "b" else MILLION)
             for number, unit in _SIZE.findall(name)}  # fmt: skip
    return found.pop() if len(found) == 1 and not _MIXTURE.search(name) else None


def weight_bytes(model: ModelConfig, parameters: float) -> float:
    """Return the bytes of a model's weights in a GPU's memory."""
    bits = 32.0 if model.dtype == "float32" else BITS[model.quantization]
    return parameters * bits / 8


def loaded_bytes(model: ModelConfig, parameters: float) -> float:
    """Return the bytes that are read from disk: bitsandbytes quantises what it has loaded."""
    stored = None if model.quantization == "bitsandbytes" else model.quantization
    return parameters * BITS[stored] / 8
