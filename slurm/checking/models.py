"""Whether the models of the roles fit the GPUs that their tasks get."""

import re
from collections.abc import Iterator

from ragmend.config import Config
from ragmend.sections.models import ModelConfig
from ragmend.sections.roles import RoleConfig
from ragmend.slurm.cluster import ClusterConfig, Resources

SERVING = 1.1
"""What a served model takes, as a multiple of its weights, before there is room for a context."""
BYTES_PER_GB_OF_GPU = 2**30
"""An "80 GB" GPU has 80 GiB, and a "70B" model's weights 140 · 10⁹ bytes."""
_FOUR_BITS = 0.6  # a byte holds two weights; their scales, and layers that are left alone
_BYTES = {"awq": _FOUR_BITS, "gptq": _FOUR_BITS, "bitsandbytes": _FOUR_BITS, "fp8": 1.0}
_BYTES_IN_NAMES = (
    (_FOUR_BITS, r"awq|gptq|bnb|int4|nf4|w4a16|(?:mx|nv)?fp4|4-?bits?|gpt-oss"),
    (1.0, r"fp8|int8|w8a8|w8a16|8-?bits?"),
)
# Not of "8x7b", which share some of their weights, nor of "1_6b".
_SIZE = re.compile(r"(?<![a-z0-9._])(\d+(?:\.\d+)?)b(?![a-z0-9])")


def check_models(config: Config, cluster: ClusterConfig) -> list[str]:
    """Return what is wrong between the models of the roles and the GPUs of their tasks.

    Args:
        config: The experiment.
        cluster: The cluster file.

    Returns:
        A sentence a problem; none about models whose ids name no size.

    Raises:
        ConfigError: The cluster file does not say what a task gets.
    """
    return [
        problem
        for name, role in config.roles().items()
        if role.model is not None and name not in config.servers
        for problem in _check(name, role, role.model, cluster)
    ]


def weights_gb(model: ModelConfig) -> float | None:
    """Return what a model's weights take in 10⁹ bytes, by its id; None: it names no size."""
    name = model.id.rstrip("/").rpartition("/")[2].lower()
    size = _SIZE.search(name)
    if size is None:
        return None
    return float(size.group(1)) * _bytes_a_weight(model, name)


def _check(
    name: str, role: RoleConfig, model: ModelConfig, cluster: ClusterConfig
) -> Iterator[str]:
    who = name if name in ("verifier", "rewriter") else f"judge {name}"
    wanted = cluster.resources_of("served", name)
    gpus, split = wanted.gpus or 0, model.tensor_parallel_size
    key = cluster.key_of("gpus", "served", name)
    # One part and no GPU: the CPU serves it, and its memory is the node's.
    if role.backend == "openai" and split != max(gpus, 1):
        yield f"{who}: tensor_parallel_size {split} but {key} = {gpus}"
    weights = weights_gb(model)
    if gpus and wanted.gpu_memory_gb is not None and weights is not None:
        yield from _check_weights(who, model, weights, wanted, cluster, name)


def _check_weights(
    who: str,
    model: ModelConfig,
    weights: float,
    wanted: Resources,
    cluster: ClusterConfig,
    name: str,
) -> Iterator[str]:
    gpus, each = wanted.gpus or 0, wanted.gpu_memory_gb or 0
    room = gpus * each * BYTES_PER_GB_OF_GPU / 1e9
    if weights * SERVING > room:
        key = cluster.key_of("gpu_memory_gb", "served", name)
        yield (
            f"{who}: {model.id} ({model.quantization or model.dtype}) has about {weights:.0f} GB of"
            f" weights, with which a server needs {weights * SERVING:.0f} GB; {gpus} × {key} = "
            f"{each} is less: more GPUs (gpus, tensor_parallel_size), larger ones, or a quantised "
            "model"
        )


def _bytes_a_weight(model: ModelConfig, name: str) -> float:
    if model.quantization is not None:
        return _BYTES[model.quantization]
    for n_bytes, words in _BYTES_IN_NAMES:
        if re.search(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", name):
            return n_bytes
    return 4.0 if model.dtype == "float32" else 2.0
