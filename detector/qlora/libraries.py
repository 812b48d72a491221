"""Which libraries a generative detector needs, and what they may not warn of."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ragmend.detector.training.libraries import require_modules
from ragmend.sections.models import ModelConfig

_TO_TOKENIZE = ("transformers", "safetensors")
_TO_COMPUTE = ("torch", "peft")
_TO_TRAIN = ("accelerate", "datasets", "trl")


def require_libraries(
    model: ModelConfig, *, to_train: bool = False, to_ask_a_server: bool = False
) -> None:
    """Find out whether what a detector needs can be imported, and keep it from printing.

    Args:
        model: The base; a quantised one needs bitsandbytes.
        to_train: Whether more is asked than to answer.
        to_ask_a_server: Whether less is: to make the tokens that a server answers.

    Raises:
        ConfigError: Something cannot be imported.
    """
    quantised = ("bitsandbytes",) if model.quantization == "bitsandbytes" else ()
    to_compute = () if to_ask_a_server else (*_TO_COMPUTE, *quantised)
    require_modules(
        "a generative detector", (*_TO_TOKENIZE, *to_compute, *(_TO_TRAIN if to_train else ()))
    )
    if to_train:
        import datasets

        datasets.disable_progress_bars()


# What the pinned versions say about each other, and nobody here can change.
_KNOWN = (
    # peft 0.21 asks transformers 5.24 by a name that it gave up.
    (r"`is_gradient_checkpointing` is deprecated", FutureWarning),
)


@contextmanager
def ignore_known_warnings() -> Iterator[None]:
    """Keep libraries from warning of each other; every other warning goes through."""
    with warnings.catch_warnings():
        for message, category in _KNOWN:
            warnings.filterwarnings("ignore", message=message, category=category)
        yield
