"""TOML files by path or by the name under which they ship, and `${NAME}` in their strings.

A variable's value never ends up in a message: only its name does.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ragmend.errors import ConfigError, MissingInputError
from ragmend.io import read_file

MAX_DEPTH = 10  # levels of a file; the deepest valid one has six
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def shipped_names(folder: Traversable) -> list[str]:
    """Return the names, without ".toml", of the files that ship in a folder."""
    return sorted(
        file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")
    )


def read_path_or_shipped(where: str, folder: Traversable, *, what: str) -> bytes:
    """Return the bytes of a TOML file.

    Args:
        where: Its path, or the name of a file of `folder` without ".toml".
        folder: Where files ship.
        what: What such a file is, for messages.

    Raises:
        MissingInputError: Neither a file nor a shipped name.
        DataError: The system cannot read it.
    """
    path = Path(where)
    if path.is_file():
        return read_file(path)
    names = shipped_names(folder)
    if where in names:
        return folder.joinpath(f"{where}.toml").read_bytes()
    if path.is_dir():
        raise MissingInputError(f"{where}: is a directory, a TOML file was expected")
    raise MissingInputError(f"{where}: neither a file nor a shipped {what} ({', '.join(names)})")


def parse_toml(content: bytes, origin: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        ConfigError: Not UTF-8, or not TOML.
    """
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(f"{origin}: not UTF-8 ({error.reason})") from error
    except (ValueError, RecursionError) as error:
        # Beside TOMLDecodeError: a number of thousands of digits, brackets without end.
        raise ConfigError(f"{origin}: not valid TOML: {error}") from error


def refuse_deep(raw: Mapping[str, Any], origin: str) -> None:
    """Raise ConfigError where a value lies deeper than any valid one."""
    level: list[Any] = [raw]
    for _ in range(MAX_DEPTH):
        level = [item for value in level for item in _items(value)]
    if level:
        raise ConfigError(f"{origin}: nested deeper than {MAX_DEPTH} levels")


def expand_variables(text: str, environ: Mapping[str, str], *, whose: str, otherwise: str) -> str:
    """Put the environment's values in place of `${NAME}`.

    Args:
        text: A string value.
        environ: The variables.
        whose: The file and key, for messages.
        otherwise: What a person can do instead of setting a variable.

    Raises:
        ConfigError: A variable is not set, or empty.
    """

    def look_up(match: re.Match[str]) -> str:
        name = match.group(1)
        if not environ.get(name):
            raise ConfigError(
                f"{whose} needs the environment variable {name}, which is not set; "
                f"set it, or {otherwise}"
            )
        return environ[name]

    return _VARIABLE.sub(look_up, text)


def map_strings(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:  # noqa: ANN401
    """Return a parsed value with each string changed.

    Args:
        value: Tables, lists and what is in them.
        change: Gets the dotted key, in which a list's items have the list's own, and the string.
        key: That of the value itself; "" of a whole file.
    """
    if isinstance(value, dict):
        return {
            name: map_strings(item, change, f"{key}.{name}".lstrip("."))
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [map_strings(item, change, key) for item in value]
    return change(key, value) if isinstance(value, str) else value


def variables_in(text: str) -> list[str]:
    """Return the names of the variables that a string value holds."""
    return [match.group(1) for match in _VARIABLE.finditer(text)]


def _items(value: object) -> Collection[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
