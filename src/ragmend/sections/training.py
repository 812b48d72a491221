"""Sections about detectors that are trained: which ones, how, and with which seeds."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ragmend.records import Name
from ragmend.sections.models import ModelConfig
from ragmend.sections.section import Section

DetectorKind = Literal["generative", "token-classification"]
Tracker = Literal["tensorboard", "wandb", "mlflow", "trackio"]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0.0, lt=1.0, allow_inf_nan=False)]
DetectorName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]

LLAMA_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Every linear layer of a Llama block."""


class LoraConfig(Section):
    """The low-rank adapter of a generative detector.

    Source: Hu et al. 2021, "LoRA" (arXiv 2106.09685); arXiv 2608.29307, section 3.1 (r, alpha).
    """

    r: Annotated[int, Field(ge=1)] = 32
    """Rank."""
    alpha: Annotated[int, Field(ge=1)] = 64
    """Scale: what the adapter adds is multiplied by alpha / r."""
    dropout: Fraction = 0.05
    """Share of the adapter's inputs that are dropped while training."""
    targets: Annotated[tuple[Name, ...], Field(min_length=1)] = LLAMA_PROJECTIONS
    """Names of the linear layers that get an adapter, in every block."""


class Recipe(Section):
    """How a detector is trained; the defaults are the paper's where it gives them.

    Source: arXiv 2608.29307, section 3.1 (learning rate, epochs, length, effective batch).
    """

    epochs: Annotated[int, Field(ge=1)] = 3
    """Passes over the training answers; after each, the weights are kept and evaluated."""
    max_steps: Annotated[int, Field(ge=1)] | None = None
    """End after so many steps, for trying out: what is there then is the last epoch's."""
    learning_rate: Positive = 5e-4
    """The highest learning rate."""
    schedule: Literal["linear", "cosine", "constant"] = "cosine"
    """How the learning rate falls after the warm-up."""
    warmup: Fraction = 0.03
    """Share of the steps in which it rises."""
    weight_decay: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    """Decoupled weight decay."""
    max_grad_norm: Positive = 0.3
    """Gradients are scaled down to this norm."""
    optimizer: Literal["adamw", "paged-adamw-8bit"] = "adamw"
    """`paged-adamw-8bit` keeps its state in 8 bits and swaps it; on a GPU only."""
    batch_size: Annotated[int, Field(ge=1)] = 16
    """Answers a step."""
    micro_batch_size: Annotated[int, Field(ge=1)] = 4
    """Answers at once in memory; gradients are summed up to `batch_size`."""
    max_length: Annotated[int, Field(ge=64)] = 2048
    """Tokens of a prompt and its target, at most."""
    answer_tokens: Annotated[int, Field(ge=8)] = 384
    """Of these, kept free for what a generative detector answers: a longer answer is cut, and
    that is no verdict."""
    lora: LoraConfig = LoraConfig()
    """The adapter; a token classifier is trained as a whole and has none."""
    gradient_checkpointing: bool = True
    """Computes activations twice, to hold fewer."""
    packing: bool = False
    """Puts several answers into one sequence."""
    save_steps: Annotated[int, Field(ge=1)] = 100
    """Steps between two checkpoints from which a killed training resumes."""
    generation_batch_size: Annotated[int, Field(ge=1)] = 8
    """Answers that are generated, or classified, at once."""
    pad_token: Name | None = None
    """The padding token; None: one that is found. It is never a token that ends an answer."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.batch_size % self.micro_batch_size:
            raise ValueError(
                f"batch_size {self.batch_size} is no multiple of micro_batch_size "
                f"{self.micro_batch_size}"
            )
        if self.answer_tokens * 2 > self.max_length:
            raise ValueError(
                f"answer_tokens {self.answer_tokens} is more than half of max_length "
                f"{self.max_length}: little would be left for the source"
            )
        return self


class DevelopmentConfig(Section):
    """The answers on which epoch and threshold are chosen: whole sources of the train split.

    Source: arXiv 2608.29307, section 3.1: 942 records, which are 157 sources with six answers.
    """

    sources: Annotated[int, Field(ge=1)] = 157
    """How many sources are drawn, with all their answers."""
    seed: Annotated[int, Field(ge=0)] = 42
    """Seed of the draw; the same for every training."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """Of their answers, at most so many, for trying out."""


class TrainedModelConfig(Section):
    """One detector that is trained, with as many seeds as there are."""

    kind: DetectorKind = "generative"
    """`generative`: a causal language model writes its verdict as JSON; `token-classification`: an
    encoder gives each token of the answer a probability."""
    model: ModelConfig
    """The base: id, revision, dtype, quantization ("bitsandbytes": NF4, twice quantised)."""
    recipe: Recipe | None = None
    """How it is trained; None: as `training.recipe` says."""

    @model_validator(mode="after")
    def _can_be_trained(self) -> Self:
        if self.model.quantization not in (None, "bitsandbytes"):
            raise ValueError(
                f'quantization {self.model.quantization!r} cannot be trained on; "bitsandbytes" '
                "(NF4) or none can"
            )
        if self.kind == "token-classification" and self.model.quantization is not None:
            raise ValueError("a token classifier is trained as a whole: it cannot be quantised")
        return self


class TrainingConfig(Section):
    """The detectors that are trained on the train split of the data."""

    models: Annotated[dict[DetectorName, TrainedModelConfig], Field(min_length=1)]
    """The detectors by name; a run is `<name>/seed-<n>`."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**32)], ...], Field(min_length=1)]
    """One training a model and seed."""
    recipe: Recipe = Recipe()
    """How each is trained that says nothing else."""
    development: DevelopmentConfig = DevelopmentConfig()
    probe: Annotated[int, Field(ge=1)] = 48
    """Development answers that are generated once more to find out a training's health."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """At most so many training answers, drawn with the development's seed, for trying out."""
    trackers: tuple[Tracker, ...] = ("tensorboard",)
    """Where losses go besides `log.jsonl`."""

    @model_validator(mode="after")
    def _has_each_seed_once(self) -> Self:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must differ, found {list(self.seeds)}: a training repeats")
        return self

    def run_ids(self) -> tuple[str, ...]:
        """Return the names of all trainings, models first: "llama-2-13b/seed-42"."""
        return tuple(run_id(name, seed) for name in self.models for seed in self.seeds)

    def recipe_of(self, name: str) -> Recipe:
        """Return how a detector is trained."""
        return self.models[name].recipe or self.recipe


def run_id(name: str, seed: int) -> str:
    """Return the name of one training."""
    return f"{name}/seed-{seed}"
