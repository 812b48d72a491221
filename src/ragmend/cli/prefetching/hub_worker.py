"""Fetches one model in a process of its own, which can be ended at any moment.

The hub's library waits for every file that it has begun, which can take hours: a Ctrl-C would
wait as long. `python -m ragmend.cli.prefetching.hub_worker MODEL REVISION` (an empty revision is
"main") prints one `HubAnswer`.
"""

import errno
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Literal

from ragmend.cli.prefetching.hub_cache import ALLOWED, IGNORED
from ragmend.records import Record

Fault = Literal["not-installed", "gated", "not-found", "revision", "unreachable", "disk", "other"]
NO_ROOM = ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM")


class HubAnswer(Record):
    """What came of it: a snapshot's path, or a fault and the library's first line about it."""

    path: str | None = None
    fault: Fault | None = None
    message: str = ""


def main() -> None:
    """Fetch the model that the command line names."""
    signal.signal(signal.SIGTERM, _leave)
    _, model_id, revision = sys.argv
    answer = fetch(model_id, revision or None)
    print(answer.model_dump_json(), flush=True)  # noqa: T201 - the answer to the parent


def fetch(model_id: str, revision: str | None) -> HubAnswer:
    """Fetch a model into the hub's cache; what is there already is not fetched again."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils import disable_progress_bars
    except ImportError as error:
        return HubAnswer(fault="not-installed", message=str(error))
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        path = snapshot_download(
            model_id,
            revision=revision,
            allow_patterns=list(ALLOWED),
            ignore_patterns=list(IGNORED),
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent says it
        return HubAnswer(fault=_fault_of(error), message=_first_line(error))
    return HubAnswer(path=str(path))


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once and take along what this process has half-fetched: it cannot be resumed."""
    for descriptor in Path("/proc/self/fd").glob("*"):
        try:
            target = descriptor.readlink()
            if target.suffix == ".incomplete":
                target.unlink()
        except OSError:
            continue
    os._exit(128 + number)


def _fault_of(error: BaseException) -> Fault:
    """Tell what kind of fault an error of the library is, or the one that is behind it."""
    from huggingface_hub import errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.GatedRepoError):
        return "gated"
    if isinstance(error, errors.RevisionNotFoundError):
        return "revision"
    if isinstance(error, errors.RepositoryNotFoundError):
        return "not-found"
    if status is not None:
        return "gated" if status in (401, 403) else "unreachable"
    if isinstance(error, OSError) and errno.errorcode.get(error.errno or 0) in NO_ROOM:
        return "disk"
    if isinstance(error, errors.LocalEntryNotFoundError):  # nothing cached, and no network
        behind = None if error.__cause__ is None else _fault_of(error.__cause__)
        return "unreachable" if behind in (None, "other") else behind
    is_network = isinstance(error, ConnectionError | TimeoutError)
    return "unreachable" if is_network or type(error).__module__.startswith("httpx") else "other"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


if __name__ == "__main__":
    main()
