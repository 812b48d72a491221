"""How long training inputs are, and what memory training on them takes, before it begins."""

import math
from collections.abc import Sequence

from ragmend.detector.tokens.encoding import Encoded, encode_pair
from ragmend.detector.tokens.loading import check_recipe, load_settings, load_tokenizer
from ragmend.detector.training.job import Job, Pair
from ragmend.records import TASKS, TaskType
from ragmend.trained import LengthRow, MemoryPart

GIB = 2**30
FLOAT32 = 4
ADAM_BYTES = {"adamw": 8, "paged-adamw-8bit": 2}
"""Of Adam's two averages, a weight."""
ACTIVATIONS = 34
"""Bytes a token, layer and hidden unit where activations are of 16 bits, without the attention
matrix, which fused attention does not keep.

Source: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models"
(arXiv 2205.05198), section 4.1.
"""


def measure_lengths(job: Job, pairs: Sequence[Pair]) -> list[LengthRow]:
    """Count tokens by task: prompts are all but the answer's, targets are the answer's.

    Raises:
        ConfigError, MissingInputError: As loading the tokenizer; or the recipe does not suit.
    """
    tokenizer = load_tokenizer(job)
    check_recipe(job, load_settings(job), tokenizer)
    found: dict[TaskType, list[Encoded | None]] = {}
    for pair in pairs:
        encoded = encode_pair(tokenizer, pair, job.recipe.max_length)
        found.setdefault(pair.source.task_type, []).append(encoded)
    return [_row(task, found[task]) for task in TASKS if task in found]


def estimate_memory(job: Job) -> list[MemoryPart]:
    """Estimate from the settings alone what training takes.

    Of an encoder with 22 layers, a CPU took 3 to 20 % more, besides what the libraries take.

    Activations are of `micro_batch_size` inputs of `max_length` tokens: of each layer, or, with
    gradient checkpointing, of one layer and of the inputs of all.

    Raises:
        ConfigError, MissingInputError: As loading the settings.
    """
    n_weights = _count_weights(job)
    recipe = job.recipe
    parts = {
        "weights": n_weights * FLOAT32,
        "gradients": n_weights * FLOAT32,
        "optimizer": n_weights * ADAM_BYTES[recipe.optimizer],
        "activations": _activations(job),
    }
    parts["total"] = sum(parts.values())
    return [MemoryPart(part=name, gib=n_bytes / GIB) for name, n_bytes in parts.items()]


def _row(task: TaskType, rows: Sequence[Encoded | None]) -> LengthRow:
    fitting = [row for row in rows if row is not None]
    targets = [row.n_answer_tokens for row in fitting]
    prompts = [row.length - row.n_answer_tokens for row in fitting]
    return LengthRow(
        task=task,
        n=len(rows),
        prompt_median=_quantile(prompts, 0.5),
        prompt_p95=_quantile(prompts, 0.95),
        prompt_max=_quantile(prompts, 1.0),
        target_median=_quantile(targets, 0.5),
        target_p95=_quantile(targets, 0.95),
        target_max=_quantile(targets, 1.0),
        n_shortened=sum(row.n_left_out > 0 for row in fitting),
        n_left_out=sum(row.n_left_out for row in fitting),
        n_refused=len(rows) - len(fitting),
    )


def _quantile(values: Sequence[int], share: float) -> int:
    """Return the smallest value that so large a share of all does not exceed; 0 of none."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1] if values else 0


def _count_weights(job: Job) -> int:
    import torch
    from transformers import AutoModelForTokenClassification

    config = load_settings(job)
    with torch.device("meta"):  # shapes only
        model = AutoModelForTokenClassification.from_config(config)
    return int(model.num_parameters())


def _activations(job: Job) -> int:
    config, recipe = load_settings(job), job.recipe
    is_mixed = job.trained.model.dtype == "bfloat16"
    n_units = recipe.micro_batch_size * recipe.max_length * int(config.hidden_size)
    layer = n_units * ACTIVATIONS * (1 if is_mixed else 2)
    n_layers = int(config.num_hidden_layers)
    if not recipe.gradient_checkpointing:
        return n_layers * layer
    return layer + n_layers * n_units * (FLOAT32 // 2 if is_mixed else FLOAT32)
