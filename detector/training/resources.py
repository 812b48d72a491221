"""What a training takes of the machine: one device, and memory, whose end is said in words."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from ragmend.detector.training.job import Job
from ragmend.errors import ConfigError, ResourceError, ServerError

_SIGNS = ("out of memory", "not enough memory", "allocate memory", "alloc_failed")


def check_machine(job: Job) -> None:
    """Refuse a machine that a training cannot run on as its recipe says.

    Raises:
        ConfigError: It has several GPUs, or none where the optimizer needs one.
    """
    import torch

    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if n_gpus > 1:
        raise ConfigError(
            f"{n_gpus} GPUs are visible, and one training uses one: set CUDA_VISIBLE_DEVICES to "
            "one of them, and train other seeds on the others"
        )
    if (
        n_gpus
        and job.trained.model.dtype == "bfloat16"
        and not torch.cuda.is_bf16_supported(including_emulation=False)
    ):
        raise ConfigError(
            f"{torch.cuda.get_device_name()} has no bfloat16, in which {job.run_id} is to compute; "
            'set model.dtype = "float32", or take a newer GPU'
        )
    if not n_gpus and job.recipe.optimizer == "paged-adamw-8bit":
        raise ConfigError(
            'recipe.optimizer = "paged-adamw-8bit" works on a GPU only, and none is visible; set '
            '"adamw"'
        )


@contextmanager
def explain_memory(
    job: Job, first: Literal["micro_batch_size", "generation_batch_size"]
) -> Iterator[None]:
    """Turn each library's way to say that memory ran out into one error.

    Args:
        job: Whose settings are named.
        first: The setting of the recipe that helps first: of a training, or of one that answers.

    Raises:
        ResourceError: It ran out.
    """
    try:
        yield
    except ResourceError:
        raise
    except (MemoryError, RuntimeError, ServerError) as error:
        cause = _out_of_memory(error)
        if cause is None:
            raise
        advice = _training_advice(job) if first == "micro_batch_size" else _answering_advice(job)
        raise ResourceError(
            f"{job.run_id}: there is not enough memory ({_first_line(cause)}); {advice}"
        ) from error


def release_memory() -> None:
    """Give back what nobody holds any more, on the GPU too."""
    _forget_in_bitsandbytes()
    gc.collect()
    torch = sys.modules.get("torch")  # where it was not imported, it holds nothing
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _forget_in_bitsandbytes() -> None:
    """Clear the lists in which bitsandbytes keeps embeddings and paged states of optimizers.

    They live as long as the process, and with them a part of every model that was trained in it.
    """
    functional, optimizers = (
        sys.modules.get(f"bitsandbytes.{name}") for name in ("functional", "optim.optimizer")
    )
    if functional is not None and optimizers is not None:
        optimizers.GlobalOptimManager.get_instance().module_weight_config_triple.clear()
        functional.GlobalPageManager.get_instance().paged_tensors.clear()


def _out_of_memory(error: BaseException | None) -> BaseException | None:
    """Return the error in a chain of causes that says that memory ended."""
    while error is not None:
        words = str(error).lower()
        if isinstance(error, MemoryError) or (
            isinstance(error, RuntimeError) and any(sign in words for sign in _SIGNS)
        ):
            return error
        error = error.__cause__
    return None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _training_advice(job: Job) -> str:
    """Say what to lower, in the order of what it costs."""
    recipe = job.recipe
    size = recipe.micro_batch_size
    todo = [f"recipe.micro_batch_size (now {size}; the result stays the same)"] * (size > 1)
    todo.append(f"recipe.max_length (now {recipe.max_length})")
    text = f"lower {', then '.join(todo)}"
    if not recipe.gradient_checkpointing:
        text += "; set recipe.gradient_checkpointing = true"
    if job.trained.kind == "generative" and job.trained.model.quantization is None:
        text += '; set model.quantization = "bitsandbytes"'
    return text


def _answering_advice(job: Job) -> str:
    size = job.recipe.generation_batch_size
    if size > 1:
        return f"lower recipe.generation_batch_size (now {size})"
    return (
        "recipe.generation_batch_size is 1 already: take a machine with more, or lower "
        f"recipe.max_length (now {job.recipe.max_length}) and train again"
    )
