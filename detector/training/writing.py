"""Folders of weights and checkpoints: written as a whole or not at all, readable as others are."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragmend.errors import OutputError, RagmendError
from ragmend.io import PARTIAL

_NO_ROOM = ("PytorchStreamWriter failed", "inline_container.cc", "iostream error")
"""How torch says that a file cannot be written."""


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to write into, which takes the place of another when all went well.

    Raises:
        OutputError: It cannot be written.
    """
    partial = folder.with_name(folder.name + PARTIAL)
    with explain_writing(folder):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        yield partial
        settle_folder(partial)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
        _sync(folder.parent)


def settle_folder(folder: Path) -> None:
    """Give the files of a folder the permissions of any new file, and see them on the disk.

    safetensors lets nobody read but the owner, whatever the umask says: a group that shares a
    cluster could not use what one of it trained.
    """
    allowed = folder.stat().st_mode & 0o666  # the folder is new too: the umask made it
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.chmod(allowed)
        _sync(path)
    _sync(folder)


@contextmanager
def explain_writing(folder: Path) -> Iterator[None]:
    """Turn each library's way to say that a file cannot be written into one error.

    Raises:
        OutputError: It cannot be.
    """
    try:
        yield
    except RagmendError:
        raise
    except OSError as error:
        raise OutputError.of(folder, error) from error
    except Exception as error:
        if not _is_of_writing(error):
            raise
        raise OutputError.of(folder, OSError(str(error).splitlines()[0])) from error


def _is_of_writing(error: Exception) -> bool:
    # safetensors' own error is of its module; it cannot be named where that is not installed.
    is_safetensors = type(error).__name__ == "SafetensorError"
    return is_safetensors or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in _NO_ROOM)
    )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
