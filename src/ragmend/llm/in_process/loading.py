"""Loads a model's weights and tokenizer, from a folder or the hub's cache, and nothing by network.

No code of a repository is run and no pickle is read: weights are safetensors.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.errors import ConfigError, MissingInputError, ServerError
from ragmend.llm.in_process.installed import require_libraries, silence_transformers
from ragmend.sections.models import ModelConfig

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase


class Loaded(NamedTuple):
    """A model that is ready to run.

    Attributes:
        model: On a GPU if there is one, in evaluation mode.
        tokenizer: Its own.
        context_length: The most tokens of a prompt and its answer.
        end_ids: Tokens that end an answer.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    context_length: int
    end_ids: frozenset[int]


def load_model(model: ModelConfig) -> Loaded:
    """Load the model that a configuration names.

    Raises:
        ConfigError: torch or transformers is not installed, or the weights are not what the
            configuration says, or not what this backend can run.
        MissingInputError: There is no such folder, or it or the cache lacks a file.
        ServerError: There is no memory for it.
    """
    require_libraries()
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    silence_transformers()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # Everything is local: a missing file is an error at once, not a download.
    source = {"revision": model.revision, "local_files_only": True, "trust_remote_code": False}
    place = place_of(model)
    with explain_failures(model, place):
        config = AutoConfig.from_pretrained(place, **source)
        context_length = _context_length(model, config)
        how = _loading_arguments(model, config, device)
        tokenizer = AutoTokenizer.from_pretrained(place, **source)
        weights, findings = AutoModelForCausalLM.from_pretrained(
            place, config=config, use_safetensors=True, output_loading_info=True, **source, **how
        )
        if "device_map" not in how:
            weights = weights.to(device)
    _check_weights(model, weights, findings, n_tokens=len(tokenizer))
    return Loaded(weights.eval(), tokenizer, context_length, _end_ids(weights, tokenizer))


def place_of(model: ModelConfig) -> str:
    """Return what to load: a folder, or the repository's id in the hub's cache."""
    if model.folder is None:
        return model.id
    folder = Path(model.folder).expanduser()
    if not folder.is_dir():
        raise MissingInputError(
            f"{folder}: no such folder; it is to hold the weights of {model.id}"
        )
    if not (folder / "config.json").is_file():
        raise MissingInputError(f"{folder}: holds no model of transformers (no config.json in it)")
    return str(folder)


@contextmanager
def explain_failures(model: ModelConfig, place: str) -> Iterator[None]:
    """Turn what transformers says while it loads into errors that name the model."""
    from safetensors import SafetensorError

    try:
        yield
    except (ConfigError, MissingInputError):
        raise
    except ImportError as error:
        raise ConfigError(
            f"{place}: needs a library that is not installed: {_first(error)}"
        ) from error
    except OSError as error:
        raise MissingInputError(f"{place}: {_first(error)}; {_how_to_get(model)}") from error
    except (MemoryError, RuntimeError) as error:
        raise ServerError(f"{place}: cannot be loaded: {_first(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise ConfigError(f"{place}: not a model that can be loaded: {_first(error)}") from error


def _first(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _how_to_get(model: ModelConfig) -> str:
    if model.folder is not None:
        return "it is to hold config, tokenizer and safetensors"
    revision = f" --revision {model.revision}" if model.revision else ""
    return (
        f"fetch it by `hf download {model.id}{revision}` (one that is gated wants its licence "
        "accepted and a token in HF_TOKEN), or set model.folder"
    )


def _context_length(model: ModelConfig, config: "PreTrainedConfig") -> int:
    told, wanted = (
        getattr(config.get_text_config(), "max_position_embeddings", None),
        model.max_model_len,
    )
    if told is None and wanted is None:
        raise ConfigError(f"{model.id}: does not tell its context; set max_model_len")
    if told is None or wanted is None:
        return int(wanted or told or 0)
    if wanted > told:
        raise ConfigError(
            f"{model.id}: has a context of {told} tokens, but max_model_len is {wanted}"
        )
    return wanted


def _loading_arguments(
    model: ModelConfig, config: "PreTrainedConfig", device: str
) -> dict[str, Any]:
    """Return what the configuration says of number types and quantisation."""
    import torch

    dtype = "auto" if model.dtype == "auto" else getattr(torch, model.dtype)
    present = _present_quantization(config)
    if model.quantization == "bitsandbytes" and present is None:
        return {"dtype": dtype, "quantization_config": _four_bits(dtype), "device_map": device}
    if model.quantization is not None and model.quantization != present:
        found = f"are quantised by {present}" if present else "are not quantised"
        raise ConfigError(
            f"{model.id}: quantization is {model.quantization!r}, but its weights {found}; give "
            "the repository whose weights are"
        )
    return {"dtype": dtype, "device_map": device} if present else {"dtype": dtype}


def _present_quantization(config: "PreTrainedConfig") -> str | None:
    """Return how the weights on disk are quantised."""
    found = getattr(config, "quantization_config", None)
    if found is None:
        return None
    settings: Mapping[str, object] = found if isinstance(found, Mapping) else found.to_dict()
    return str(settings.get("quant_method", "an unnamed method"))


def _four_bits(dtype: Any) -> object:  # noqa: ANN401 - torch.dtype or "auto"
    """Quantise while loading, as QLoRA does: 4-bit NormalFloat, twice quantised.

    Source: Dettmers et al., "QLoRA" (arXiv 2305.14314), section 3.
    """
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16 if dtype == "auto" else dtype,
    )


def _check_weights(
    model: ModelConfig, weights: "PreTrainedModel", findings: Mapping[str, Any], *, n_tokens: int
) -> None:
    """Refuse weights that were not all read, or that are no match for tokenizer or cache."""
    for name in ("missing_keys", "mismatched_keys"):
        # transformers fills these at random and only warns.
        if findings.get(name):
            first = min(map(str, findings[name]))
            raise ConfigError(
                f"{model.id}: {len(findings[name])} weights are missing or of another shape, as "
                f"{first}; fetch the model again"
            )
    n_embedded = weights.get_input_embeddings().num_embeddings
    if n_tokens > n_embedded:
        raise ConfigError(
            f"{model.id}: its tokenizer has {n_tokens} tokens, its weights {n_embedded}; they are "
            "not of one model"
        )
    if getattr(weights, "_is_stateful", False):
        raise ConfigError(
            f"{model.id}: keeps a running state, not keys and values by token, so no prefix can "
            "be reused; ask it through a server"
        )


def _end_ids(weights: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> frozenset[int]:
    """Return the tokens that end an answer: the generation settings' and the tokenizer's."""
    settings = weights.generation_config.eos_token_id
    ids = settings if isinstance(settings, list | tuple) else [settings]
    found = frozenset(int(n) for n in (*ids, tokenizer.eos_token_id) if n is not None)
    if not found:
        raise ConfigError(f"{tokenizer.name_or_path}: no token ends an answer (eos_token_id)")
    return found
