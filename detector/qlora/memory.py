"""An estimate of the memory that training needs, from the base's settings alone.

It counts what must be there at once in the worst step, a batch of the longest examples; not what
the libraries themselves take, nor what is lost between blocks (together about 1 to 2 GiB on a
GPU). Whole logits (batch × length × vocabulary), which used to need the most of all, are never
made: TRL's fused head works on tiles of them.

Source: Dettmers et al. 2023, "QLoRA" (arXiv 2305.14314), sections 2 and 3 (NF4: 4 bits and, twice
quantised, 0.127 bits of constants a weight); Korthikanti et al. 2022, "Reducing Activation
Recomputation in Large Transformer Models" (arXiv 2205.05198), for counting activations.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.detector.qlora.libraries import require_libraries
from ragmend.detector.training.job import Job
from ragmend.llm.in_process.loading import explain_failures, place_of
from ragmend.sections.training import Recipe
from ragmend.trained import MemoryPart

if TYPE_CHECKING:
    from transformers import PreTrainedModel

GIB = 2**30
NF4_BYTES = 4.127 / 8
"""A weight in NF4, with its share of twice quantised constants."""
TILE_TOKENS, TILE_WORDS = 4096, 32768
"""The tile of logits that TRL's fused head makes at once."""
_FLOAT32 = 4


class Linear(NamedTuple):
    """One linear layer of the base: its name, and numbers of its inputs, outputs and weights."""

    name: str
    n_in: int
    n_out: int

    @property
    def n_weights(self) -> int:
        """How many weights it has, without a bias."""
        return self.n_in * self.n_out


class Shape(NamedTuple):
    """What of a base decides how much memory it takes.

    Attributes:
        linear: The linear layers of its blocks, which quantisation concerns.
        n_other: Parameters of everything else: embeddings, head, norms, biases.
        n_blocks: Blocks, of equal size.
        n_hidden: Numbers a token has between two blocks.
        n_words: The vocabulary.
        bytes_each: Of one number in the base's own type.
        n_kept: Numbers of keys and values that a token leaves in each block.
    """

    linear: tuple[Linear, ...]
    n_other: int
    n_blocks: int
    n_hidden: int
    n_words: int
    bytes_each: int
    n_kept: int

    @property
    def n_parameters(self) -> int:
        """All parameters of the base."""
        return self.n_other + sum(layer.n_weights for layer in self.linear)


def estimate_memory(job: Job) -> list[MemoryPart]:
    """Estimate the memory of a training, its parts and their total, and that of answering.

    Raises:
        ConfigError, MissingInputError: As opening the base model.
    """
    model = job.trained.model
    require_libraries(model)
    from transformers import AutoConfig

    place = place_of(model)
    with explain_failures(model, place):
        settings = AutoConfig.from_pretrained(
            place, revision=model.revision, local_files_only=True, trust_remote_code=False
        )
        shape = shape_of(settings, model.dtype)
    return estimate_parts(shape, job.recipe, is_quantised=model.quantization is not None)


def shape_of(settings: Any, dtype: str) -> Shape:  # noqa: ANN401 - a transformers config
    """Return the shape of the model that settings describe; it is made without its numbers."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(settings)
    text = settings.get_text_config()
    linear = tuple(_linear_layers(empty))
    n_all = sum(parameter.numel() for parameter in empty.parameters())
    own = getattr(settings, "dtype", None) if dtype == "auto" else getattr(torch, dtype)
    return Shape(
        linear=linear,
        n_other=n_all - sum(layer.n_weights for layer in linear),
        n_blocks=text.num_hidden_layers,
        n_hidden=text.hidden_size,
        n_words=text.vocab_size,
        bytes_each=(own or torch.float32).itemsize,
        n_kept=2 * _n_key_heads(text) * _head_size(text),
    )


def _n_key_heads(text: Any) -> int:  # noqa: ANN401 - a transformers config
    return int(getattr(text, "num_key_value_heads", None) or text.num_attention_heads)


def _head_size(text: Any) -> int:  # noqa: ANN401 - a transformers config
    own = getattr(text, "head_dim", None)
    return int(own or text.hidden_size // text.num_attention_heads)


def estimate_parts(shape: Shape, recipe: Recipe, *, is_quantised: bool) -> list[MemoryPart]:
    """Estimate the parts, in GiB, of a base of a known shape.

    Args:
        shape: Of the base.
        recipe: How it is trained.
        is_quantised: Whether its linear layers are in NF4. Whatever else it has is in float32
            then, and so is what flows between its blocks.
    """
    n_tokens = recipe.micro_batch_size * recipe.max_length
    n_adapter = count_adapter(shape, recipe)
    state = 2 if recipe.optimizer == "paged-adamw-8bit" else 2 * _FLOAT32
    parts = {
        "base": _base_bytes(shape, is_quantised=is_quantised),
        "adapter": n_adapter * _FLOAT32,
        "gradients": n_adapter * _FLOAT32,
        "optimizer": n_adapter * state,
        "activations": n_tokens * _activation_bytes(shape, recipe, is_quantised=is_quantised),
        "logits": min(n_tokens, TILE_TOKENS) * min(shape.n_words, TILE_WORDS) * _FLOAT32,
    }
    parts["total"] = sum(parts.values())
    parts["answering"] = parts["base"] + parts["adapter"] + _answering_bytes(shape, recipe)
    return [MemoryPart(part=name, gib=n_bytes / GIB) for name, n_bytes in parts.items()]


def count_adapter(shape: Shape, recipe: Recipe) -> int:
    """Return the parameters of the adapter: r · (inputs + outputs) a layer."""
    return sum(recipe.lora.r * (layer.n_in + layer.n_out) for layer in _adapted(shape, recipe))


def _linear_layers(empty: "PreTrainedModel") -> Iterable[Linear]:
    """Yield the linear layers but the head, which is never quantised."""
    import torch

    head = empty.get_output_embeddings()
    for name, module in empty.named_modules():
        if isinstance(module, torch.nn.Linear) and module is not head:
            yield Linear(name, module.in_features, module.out_features)


def _adapted(shape: Shape, recipe: Recipe) -> list[Linear]:
    targets = set(recipe.lora.targets)
    return [layer for layer in shape.linear if layer.name.rpartition(".")[2] in targets]


def _base_bytes(shape: Shape, *, is_quantised: bool) -> float:
    if not is_quantised:
        return shape.n_parameters * shape.bytes_each
    # One matrix at a time is unpacked to be multiplied with.
    unpacked = max((layer.n_weights for layer in shape.linear), default=0) * shape.bytes_each
    in_nf4 = sum(layer.n_weights for layer in shape.linear) * NF4_BYTES
    return in_nf4 + shape.n_other * _FLOAT32 + unpacked


def _activation_bytes(shape: Shape, recipe: Recipe, *, is_quantised: bool) -> float:
    """Return the bytes that a token keeps until its gradient is known.

    Of a block: what goes into and comes out of its two norms; twice what its linear layers give
    (they and what is made of them: rotated queries and keys, the attention's result, the gate);
    of each adapted layer the input that dropout left, and which numbers that were. With
    checkpointing only what flows between blocks is kept, and one block is made again at a time,
    with gradients as large as itself.
    """
    flow = _FLOAT32 if is_quantised else shape.bytes_each
    outputs = sum(layer.n_out for layer in shape.linear) / shape.n_blocks
    inputs = sum(layer.n_in for layer in _adapted(shape, recipe)) / shape.n_blocks
    dropped = inputs * (flow + 1) if recipe.lora.dropout else 0.0
    # The layers of a quantised base give back the type that they were given.
    block = 4 * shape.n_hidden * flow + 2 * outputs * flow + dropped
    if not recipe.gradient_checkpointing:
        return shape.n_blocks * block
    return shape.n_blocks * shape.n_hidden * flow + 2 * block


def _answering_bytes(shape: Shape, recipe: Recipe) -> float:
    """Return what a batch of answers takes: keys, values, and the prompts' way through a block."""
    n_tokens = recipe.generation_batch_size * recipe.max_length
    widest = max((layer.n_out for layer in shape.linear), default=0)
    passing = 2 * widest * _FLOAT32
    return float(n_tokens * (shape.n_blocks * shape.n_kept * shape.bytes_each + passing))
