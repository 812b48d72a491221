"""Whether the libraries of the extra `[train]` are there, and that they keep quiet."""

import logging
from importlib import import_module

from ragmend.errors import ConfigError
from ragmend.llm.in_process.installed import silence_transformers
from ragmend.sections.models import ModelConfig

_ALWAYS = ("torch", "transformers", "safetensors", "peft")
_TO_TRAIN = ("accelerate", "datasets", "trl")


def require_libraries(model: ModelConfig, *, to_train: bool = False) -> None:
    """Find out whether what a detector needs can be imported, and keep it from printing.

    Args:
        model: The base; a quantised one needs bitsandbytes.
        to_train: Whether more is asked than to answer.

    Raises:
        ConfigError: Something cannot be imported.
    """
    # Says on each import that it has no kernels of its own for some CPUs.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    quantised = ("bitsandbytes",) if model.quantization == "bitsandbytes" else ()
    for name in (*_ALWAYS, *quantised, *(_TO_TRAIN if to_train else ())):
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"a generative detector needs {name}, which cannot be imported ({error}); install "
                "it by: pip install torch==2.13.0 and then pip install 'ragmend[train]'"
            ) from error
    silence_transformers()
    if to_train:
        import datasets

        datasets.disable_progress_bars()
