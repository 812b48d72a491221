"""Loads an encoder with its tokenizer: a base that is to be trained, or a trained classifier.

Nothing comes by network, no code of a repository is run, and weights are safetensors.
"""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.detector.training.job import Job
from ragmend.detector.training.libraries import require_modules
from ragmend.detector.training.resources import explain_memory
from ragmend.errors import ConfigError, DataError, MissingInputError
from ragmend.io import dump_record, read_record, write_bytes
from ragmend.llm.in_process.loading import explain_failures, place_of
from ragmend.records import Name, Record
from ragmend.sections.models import ModelConfig

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

BASE = "base.json"
NAMES = {0: "supported", 1: "unsupported"}
UNSUPPORTED = 1
WHAT = "a token classifier"
LIBRARIES = ("torch", "transformers", "safetensors", "accelerate")


class Base(Record):
    """What a classifier was trained from; it lies beside its weights."""

    id: Name
    revision: Name | None = None

    @classmethod
    def of(cls, model: ModelConfig) -> "Base":
        """Return what a configuration names."""
        return cls(id=model.id, revision=model.revision)

    def __str__(self) -> str:
        """Return it as messages show it."""
        return f"{self.id} (revision {self.revision or 'not given'})"


class Encoder(NamedTuple):
    """A token classifier that is loaded.

    Attributes:
        model: On a GPU if there is one, weights in float32, in evaluation mode.
        tokenizer: Its own, which tells offsets and has a padding token.
        columns: What it takes as input, besides labels.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    columns: frozenset[str]


def load_base(job: Job) -> Encoder:
    """Load the base of a training; the layer that classifies is drawn with the job's seed.

    Raises:
        ConfigError: A library is not installed, or it is no encoder, or the recipe does not suit.
        MissingInputError: There is no such folder, or it or the cache lacks a file.
        ServerError: transformers cannot load it.
    """
    tokenizer = load_tokenizer(job)
    config = load_settings(job)
    check_recipe(job, config, tokenizer)
    from transformers import AutoModelForTokenClassification, set_seed

    set_seed(job.seed)
    base = job.trained.model
    with explain_failures(base, place_of(base)):
        model, findings = AutoModelForTokenClassification.from_pretrained(
            place_of(base),
            config=config,
            output_loading_info=True,
            # A base with other classes: that layer is drawn anew. What else differs is refused.
            ignore_mismatched_sizes=True,
            **_weights_source(base),
        )
        _check_base(base, model, findings, n_tokens=len(tokenizer))
    return _ready(job, model, tokenizer)


def load_trained(job: Job, weights: Path) -> Encoder:
    """Load a classifier that was trained.

    Raises:
        ConfigError: It was trained from another base, or is no token classifier.
        MissingInputError: There is no such folder.
        DataError: It cannot be read.
        ResourceError: There is no memory for it.
    """
    require_modules(WHAT, LIBRARIES)
    from safetensors import SafetensorError
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    check_base(job, weights)
    broken = f"{weights}: not the weights of a token classifier that can be read"
    try:
        with explain_memory(job, "generation_batch_size"):
            tokenizer = AutoTokenizer.from_pretrained(weights, **_source(None))
            model, findings = AutoModelForTokenClassification.from_pretrained(
                weights, output_loading_info=True, **_weights_source(None)
            )
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RuntimeError,
        SafetensorError,
    ) as error:
        raise DataError(f"{broken} ({_first_line(error)}); train it again") from error
    lacking = _lacking(findings)
    if lacking:
        raise DataError(f"{broken}: {len(lacking)} lack or have another shape, as {lacking[0]}")
    with explain_memory(job, "generation_batch_size"):
        return _ready(job, model, tokenizer)


def write_trained(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", folder: Path, base: ModelConfig
) -> None:
    """Write a classifier into a folder, with what it was trained from beside it."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_bytes(folder / BASE, dump_record(Base.of(base)))


def check_base(job: Job, weights: Path) -> None:
    """Refuse a folder that holds no classifier trained from the job's base.

    Raises:
        MissingInputError: There is no such folder.
        ConfigError: It holds something else.
        DataError: What it says of its base cannot be read.
    """
    if not weights.is_dir():
        raise MissingInputError(f"{weights}: no such folder; it is to hold a trained classifier")
    if not (weights / BASE).is_file():
        raise ConfigError(
            f"{weights}: holds no token classifier that was trained here (no {BASE} in it)"
        )
    found, wanted = read_record(weights / BASE, Base), Base.of(job.trained.model)
    if found != wanted:
        raise ConfigError(
            f"{weights}: was trained from {found}, but {job.name} is configured with {wanted}; "
            "give the weights of that base, or put the configuration back"
        )


def load_tokenizer(job: Job) -> "PreTrainedTokenizerBase":
    """Load the tokenizer of a job's base.

    Raises:
        ConfigError: A library is not installed; it tells no offsets, or has no padding token.
        MissingInputError: It is not there.
    """
    require_modules(WHAT, LIBRARIES)
    from transformers import AutoTokenizer

    base = job.trained.model
    with explain_failures(base, place_of(base)):
        tokenizer = AutoTokenizer.from_pretrained(place_of(base), **_source(base.revision))
    if not tokenizer.is_fast:
        raise ConfigError(
            f"{base.id}: its tokenizer ({type(tokenizer).__name__}) tells no offsets, without "
            "which no token has a place in the answer; use a base with a tokenizer.json"
        )
    _set_padding(job, tokenizer)
    return tokenizer


def load_settings(job: Job) -> "PreTrainedConfig":
    """Load the settings of a job's base, for a classifier with two labels.

    Raises:
        ConfigError: It is no encoder.
        MissingInputError: They are not there.
    """
    require_modules(WHAT, LIBRARIES)
    from transformers import AutoConfig

    base = job.trained.model
    with explain_failures(base, place_of(base)):
        config = AutoConfig.from_pretrained(
            place_of(base), id2label=NAMES, label2id=_ids(), **_source(base.revision)
        )
        architectures = config.architectures or []
        is_causal = any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in architectures)
        if is_causal or getattr(config, "is_decoder", False) or config.is_encoder_decoder:
            raise ConfigError(
                f"{base.id}: is no encoder ({', '.join(architectures) or config.model_type}): a "
                'token of its answer would not see what follows; use kind = "generative" for it, '
                "or an encoder such as ModernBERT"
            )
    return config


def check_recipe(
    job: Job, config: "PreTrainedConfig", tokenizer: "PreTrainedTokenizerBase"
) -> None:
    """Refuse a recipe that a token classifier cannot follow.

    Raises:
        ConfigError: It is one.
    """
    base, recipe = job.trained.model, job.recipe
    told = getattr(config, "max_position_embeddings", None)
    limits = [n for n in (told, tokenizer.model_max_length, base.max_model_len) if n]
    if limits and recipe.max_length > min(limits):
        raise ConfigError(
            f"{job.name}: recipe.max_length is {recipe.max_length}, but {base.id} takes "
            f"{min(limits)} tokens at most; lower it"
        )
    if recipe.packing:
        raise ConfigError(
            f"{job.name}: a token classifier cannot be packed; recipe.packing = false"
        )
    if base.dtype == "float16":
        raise ConfigError(
            f'{job.name}: cannot be trained in float16; use model.dtype = "bfloat16" (float32 '
            'weights, bfloat16 products) or "float32"'
        )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _source(revision: str | None) -> dict[str, Any]:
    return {"revision": revision, "local_files_only": True, "trust_remote_code": False}


def _weights_source(base: ModelConfig | None) -> dict[str, Any]:
    import torch

    # Adam's steps are too small for bfloat16 weights: these are float32 whatever is computed in.
    revision = None if base is None else base.revision
    return {**_source(revision), "use_safetensors": True, "dtype": torch.float32}


def _ids() -> dict[str, int]:
    return {name: number for number, name in NAMES.items()}


def _set_padding(job: Job, tokenizer: "PreTrainedTokenizerBase") -> None:
    wanted = job.recipe.pad_token
    if wanted is not None:
        if wanted not in tokenizer.get_vocab():
            raise ConfigError(
                f"{job.name}: recipe.pad_token {wanted!r} is no token of {job.trained.model.id}"
            )
        tokenizer.pad_token = wanted
    if tokenizer.pad_token_id is None:
        raise ConfigError(
            f"{job.trained.model.id}: its tokenizer has no padding token; set recipe.pad_token"
        )


def _check_base(
    base: ModelConfig, model: "PreTrainedModel", findings: dict[str, Any], *, n_tokens: int
) -> None:
    """Refuse weights of which more is missing than the layers that classify."""
    prefix = f"{model.base_model_prefix}."
    lacking = [name for name in _lacking(findings) if name.startswith(prefix)]
    if lacking:
        raise ConfigError(
            f"{base.id}: {len(lacking)} weights are missing or of another shape, as {lacking[0]}; "
            "fetch the model again"
        )
    n_embedded = model.get_input_embeddings().num_embeddings
    if n_tokens > n_embedded:
        raise ConfigError(
            f"{base.id}: its tokenizer has {n_tokens} tokens, its weights {n_embedded}; they are "
            "not of one model"
        )


def _lacking(findings: dict[str, Any]) -> list[str]:
    names = (*findings.get("missing_keys", ()), *findings.get("mismatched_keys", ()))
    return sorted(name if isinstance(name, str) else str(name[0]) for name in names)


def _ready(job: Job, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> Encoder:
    import torch

    taken = inspect.signature(model.forward).parameters
    columns = frozenset(name for name in tokenizer.model_input_names if name in taken)
    # The same number always: sums over threads depend on it in the last digits.
    torch.set_num_threads(job.trained.model.threads)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    return Encoder(model.eval(), tokenizer, columns)
