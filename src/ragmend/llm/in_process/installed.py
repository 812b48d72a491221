"""Whether the libraries of the extra `[local]` are there; the base has none of them."""

from importlib import import_module

from ragmend.errors import ConfigError

LIBRARIES = ("torch", "transformers")


def require_libraries(*more: str) -> None:
    """Find out whether torch, transformers and other libraries can be imported.

    Args:
        *more: Names of modules besides these two.

    Raises:
        ConfigError: One cannot be.
    """
    for name in (*LIBRARIES, *more):
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"a language model in this process needs {name}, which cannot be imported "
                f"({error}); install it by: pip install 'ragmend[local]'"
            ) from error


def silence_transformers() -> None:
    """Keep transformers from printing bars and reports; what matters of them is checked here."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
