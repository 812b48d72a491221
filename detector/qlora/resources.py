"""When memory runs out: said in one place, with what to lower."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ragmend.detector.training.job import Job
from ragmend.errors import ResourceError, ServerError

_SIGNS = ("out of memory", "not enough memory", "allocate memory", "ALLOC_FAILED")


@contextmanager
def explain_memory(job: Job, first: str) -> Iterator[None]:
    """Turn each library's way to say that memory ran out into one error.

    Args:
        job: Whose settings are named.
        first: The setting of the recipe that helps first.

    Raises:
        ResourceError: It ran out.
    """
    try:
        yield
    except ResourceError:
        raise
    except (MemoryError, RuntimeError, ServerError) as error:
        if not _is_memory(error):
            raise
        raise ResourceError(
            f"{job.run_id}: there is not enough memory ({_first_line(error)}); "
            f"{_advice(job, first)}"
        ) from error


def release_memory() -> None:
    """Give back what nobody holds any more, on the GPU too."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, ServerError) and error.__cause__ is not None:  # while a model is loaded
        return _is_memory(error.__cause__)
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _SIGNS)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _advice(job: Job, first: str) -> str:
    """Say what to lower, in the order of what it costs."""
    recipe, todo = job.recipe, []
    if first == "micro_batch_size":
        size = recipe.micro_batch_size
        todo += [f"recipe.micro_batch_size (now {size}; the result stays the same)"] * (size > 1)
    else:
        todo.append(f"recipe.generation_batch_size (now {recipe.generation_batch_size})")
    todo.append(f"recipe.max_length (now {recipe.max_length})")
    text = f"lower {', then '.join(todo)}"
    if not recipe.gradient_checkpointing:
        text += "; set recipe.gradient_checkpointing = true"
    if job.trained.model.quantization is None:
        text += '; set model.quantization = "bitsandbytes"'
    return text
