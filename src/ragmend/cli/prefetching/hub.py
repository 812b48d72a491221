"""Fetches models from the hub into its cache, and puts what goes wrong into words."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import say
from ragmend.cli.prefetching.hub_cache import (
    cache_problem,
    cached_snapshot,
    find_snapshot,
    hub_cache,
    hub_is_offline,
    incomplete_files,
    is_repository,
    model_cache,
    snapshot_bytes,
)
from ragmend.cli.prefetching.hub_worker import HubAnswer
from ragmend.cli.prefetching.models import NeededModel
from ragmend.cli.progress import PLAIN_EVERY_S
from ragmend.errors import (
    ConfigError,
    DataError,
    MissingInputError,
    OutputError,
    RagmendError,
    ServerError,
)
from ragmend.io import Line, parse_record

WORKER = "ragmend.cli.prefetching.hub_worker"
POLL_S = 0.2
END_S = 10.0
"""How long a download may take to end when it is asked to."""


class FetchedModel(NamedTuple):
    """A model that is in the cache.

    Attributes:
        snapshot: Where it lies.
        n_bytes: What is used of it, in bytes.
        was_there: Whether nothing had to be fetched.
    """

    snapshot: Path
    n_bytes: int
    was_there: bool


def fetch_model(model: NeededModel, environ: Mapping[str, str]) -> FetchedModel:
    """Make sure that a model is in the hub's cache, and fetch what is not.

    Args:
        model: Which one.
        environ: The environment of the download: where the cache is, which hub, which token.

    Raises:
        ConfigError: huggingface_hub is not installed, the id is none of a repository, the hub's
            licence is not accepted, or the repository has no safetensors.
        MissingInputError: The hub has no such repository or revision.
        ServerError: The hub cannot be reached, or refuses.
        OutputError: The cache cannot be written.
    """
    there = cached_snapshot(model.id, model.revision, environ)
    if there is not None:
        return FetchedModel(there, snapshot_bytes(there), was_there=True)
    if not is_repository(model.id):
        raise ConfigError(
            f"{model.id}: is no id of a repository (OWNER/NAME); where it is a folder, name that "
            f"as model.folder ({_users(model)})"
        )
    if hub_is_offline(environ):
        raise ConfigError(
            f"{model.label} is to be fetched, but HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids "
            "it: unset it for this command"
        )
    answer = _ask_worker(model, environ)
    if answer.fault is not None:
        raise _error_of(answer, model, environ)
    return _checked(model, environ)


def describe_leftovers(model: NeededModel, environ: Mapping[str, str]) -> str | None:
    """Return a line about half-fetched files that nobody will go on with, if there are any."""
    found = incomplete_files(model.id, hub_cache(environ))
    if not found:
        return None
    n_bytes = sum(path.stat().st_size for path in found if path.exists())
    return (
        f"{len(found)} half-fetched files ({n_bytes:,} bytes) lie in {found[0].parent}: if nobody "
        "is fetching them now, they can go (`hf cache prune`)"
    )


def _checked(model: NeededModel, environ: Mapping[str, str]) -> FetchedModel:
    """Look at what was fetched: where a hub cannot be asked, its library returns what it has."""
    problem = cache_problem(model.id, model.revision, environ)
    snapshot = find_snapshot(model.id, model.revision, hub_cache(environ))
    if problem is None and snapshot is not None:
        return FetchedModel(snapshot, snapshot_bytes(snapshot), was_there=False)
    if problem is not None and problem.startswith("no safetensors"):
        raise ConfigError(f"{model.label}: {problem}; give a repository that has them")
    raise ServerError(
        f"{model.label}: was fetched, and yet {problem}; run the same command again, and look "
        "whether the hub can be reached"
    )


def _ask_worker(model: NeededModel, environ: Mapping[str, str]) -> HubAnswer:
    command = [sys.executable, "-P", "-m", WORKER, model.id, model.revision or ""]
    with _running(command, environ) as process:
        begun = last = time.monotonic()
        while process.poll() is None:
            time.sleep(POLL_S)
            now = time.monotonic()
            if now >= last + PLAIN_EVERY_S and not sys.stderr.isatty():
                say(_progress_line(model, environ, now - begun))
                last = now
        said = b"" if process.stdout is None else process.stdout.read()
    try:
        return parse_record(Line(WORKER, said.decode()), HubAnswer)
    except (DataError, UnicodeDecodeError) as error:
        raise ServerError(
            f"{model.label}: the download ended with exit code {process.returncode} and no answer; "
            "run the same command again: files that are complete are kept"
        ) from error


@contextmanager
def _running(command: list[str], environ: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a download; it ends with this block, however that ends."""
    process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=dict(environ),
        start_new_session=True,  # a Ctrl-C in the terminal is for ragmend, which then acts
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _progress_line(model: NeededModel, environ: Mapping[str, str], seconds: float) -> str:
    blobs = model_cache(model.id, hub_cache(environ)) / "blobs"
    sizes = []
    for path in blobs.glob("*"):
        try:
            sizes.append(path.stat().st_size)
        except FileNotFoundError:
            continue  # it has just got its final name
    return f"prefetch  {model.id}: {sum(sizes) / 1e9:.1f} GB are here after {seconds / 60:.0f} min"


def _error_of(answer: HubAnswer, model: NeededModel, environ: Mapping[str, str]) -> RagmendError:
    where, said = model.label, answer.message
    hub = (environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    again = "run the same command again: files that are complete are kept"
    if answer.fault == "not-installed":
        return ConfigError(
            f"the hub is spoken to by huggingface_hub, which cannot be imported ({said}); install "
            "it by: pip install 'ragmend[train]' (or [local], or [serve])"
        )
    if answer.fault == "gated":
        token = "HF_TOKEN is set, but" if environ.get("HF_TOKEN") else "no HF_TOKEN is set, and"
        return ConfigError(
            f"{where}: {token} the hub does not let this account in ({said}); accept the licence "
            f"at {hub}/{model.id} and set HF_TOKEN to a token of the account that has"
        )
    if answer.fault == "not-found":
        return MissingInputError(
            f"{where}: the hub has no such repository, or it is private and HF_TOKEN may not read "
            f"it ({said}); used by {_users(model)}; a model that somebody else serves is not "
            "fetched once servers.ROLE says where"
        )
    if answer.fault == "revision":
        return MissingInputError(
            f"{where}: the repository has no such revision; {hub}/{model.id}/commits/main lists "
            "them"
        )
    if answer.fault == "disk":
        return OutputError(
            f"{hub_cache(environ)}: cannot be written ({said}); make room, or name another place "
            f"in HF_HUB_CACHE or HF_HOME, then {again}"
        )
    if answer.fault == "unreachable":
        return ServerError(
            f"{where}: the hub {hub} cannot be reached or is not well ({said}); {again}, on a "
            "machine with internet (a proxy is named in HTTPS_PROXY)"
        )
    return ServerError(f"{where}: cannot be fetched ({said}); {again}")


def _users(model: NeededModel) -> str:
    return ", ".join(model.used_by)
