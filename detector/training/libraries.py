"""Whether the libraries of the extra `[train]` are there, and that they keep quiet."""

import logging
from collections.abc import Iterable
from importlib import import_module

from ragmend.errors import ConfigError
from ragmend.llm.in_process.installed import silence_transformers


def require_modules(what: str, names: Iterable[str]) -> None:
    """Find out whether what a detector needs can be imported, and keep it from printing.

    Args:
        what: The kind of detector, for the message, as in "a token classifier".
        names: Modules.

    Raises:
        ConfigError: One cannot be imported.
    """
    # The Trainer imports it where it is there, and on a CPU it then says what it lacks.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    for name in names:
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"{what} needs {name}, which cannot be imported ({error}); install it by: pip "
                "install torch==2.13.0 and then pip install 'ragmend[train]'"
            ) from error
    silence_transformers()
