"""Manifests: what a stage read, what it wrote, with what, and whether that still holds."""

import os
import platform
import socket
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue

from ragmend import __version__
from ragmend.errors import DataError
from ragmend.io import dump_record, read_record, sha256_of_file, write_bytes
from ragmend.records import Record

PACKAGES = ("matplotlib", "numpy", "pandas", "pydantic", "scikit-learn", "scipy", "statsmodels")
# What may differ between a run that was killed and one that was not.
VOLATILE_FIELDS = ("host", "slurm_job_id", "started_at", "ended_at", "service")
SNAPSHOT = "snapshot.json"  # beside the modules of a copied package
_MOST_NAMED = 4  # new inputs in a message


class Manifest(Record):
    """What one stage did; its presence marks the stage as complete.

    `servers` is what the language models of its roles said of themselves, `service` how often they
    were asked and how long it took.
    """

    schema_version: Literal[1] = 1
    stage: str
    settings: dict[str, JsonValue]
    inputs: dict[str, str]
    outputs: dict[str, str]
    counts: dict[str, JsonValue]
    models: dict[str, str]
    servers: dict[str, JsonValue] = Field(default_factory=dict)
    service: dict[str, JsonValue] = Field(default_factory=dict)
    seed: int | None = None
    n_units: int | None = None
    n_faults: int = 0
    accepted_faults: str | None = None
    ragmend_version: str = __version__
    git_commit: str | None = None
    git_dirty: bool | None = None
    python: str
    packages: dict[str, str]
    host: str
    slurm_job_id: str | None
    started_at: str
    ended_at: str


class Snapshot(Record):
    """Of which commit a copy of the package is."""

    git_commit: str | None
    git_dirty: bool | None


class Environment(NamedTuple):
    """With what and where the work is done."""

    git_commit: str | None
    git_dirty: bool | None
    python: str
    packages: dict[str, str]
    host: str
    slurm_job_id: str | None


class State(NamedTuple):
    """Whether a stage's files stand for its present inputs and settings."""

    kind: Literal["absent", "complete", "stale", "damaged"]
    reasons: tuple[str, ...] = ()
    manifest: Manifest | None = None


def current_environment() -> Environment:
    """Describe this process: commit of the code, package versions, host, job."""
    commit, dirty = _git_state(Path(__file__).resolve().parent)
    return Environment(
        git_commit=commit,
        git_dirty=dirty,
        python=platform.python_version(),
        packages={name: metadata.version(name) for name in PACKAGES},
        host=socket.gethostname(),
        slurm_job_id=os.environ.get("SLURM_JOB_ID"),
    )


def now() -> str:
    """Return the time in UTC, ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_manifest(path: Path) -> Manifest | None:
    """Read a manifest; None where there is none.

    Raises:
        DataError: The file is not a manifest.
    """
    if not path.exists():
        return None
    try:
        return read_record(path, Manifest)
    except DataError as error:
        raise DataError(f"{error}; redo the stage") from error


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest; from here on the stage is complete."""
    write_bytes(path, dump_record(manifest))


def hash_files(files: Mapping[str, Path]) -> dict[str, str]:
    """Return the SHA-256 of each named file."""
    return {name: sha256_of_file(path) for name, path in sorted(files.items())}


def inspect(
    path: Path, *, settings: Mapping[str, JsonValue], inputs: Mapping[str, Path], root: Path
) -> State:
    """Compare a stage's manifest with its present settings, inputs and outputs.

    Args:
        path: The manifest.
        settings: What the configuration says now of all that changes this stage's output.
        inputs: The present input files by the name they have in manifests.
        root: The run folder, to which output names are relative.
    """
    manifest = read_manifest(path)
    if manifest is None:
        return State("absent")
    reasons = [
        *_changed_settings(manifest.settings, settings),
        *_changed_inputs(manifest.inputs, inputs),
    ]
    if reasons:
        return State("stale", tuple(reasons), manifest)
    damaged = [
        f"{name} is missing or was changed"
        for name, digest in manifest.outputs.items()
        if not (root / name).is_file() or sha256_of_file(root / name) != digest
    ]
    return (
        State("damaged", tuple(damaged), manifest) if damaged else State("complete", (), manifest)
    )


def _changed_settings(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> list[str]:
    return [
        f"{name} was {_brief(was)}, is {_brief(now_is)}"
        for name, was, now_is in _differences(old, new)
    ]


def _differences(
    old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], prefix: str = ""
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """Yield what differs, looking into nested settings, so that a message names one value."""
    for name in sorted({*old, *new}):
        was, now_is = old.get(name), new.get(name)
        if isinstance(was, dict) and isinstance(now_is, dict):
            yield from _differences(was, now_is, f"{prefix}{name}.")
        elif was != now_is:
            yield f"{prefix}{name}", was, now_is


def _brief(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:20]}…"


def _changed_inputs(old: Mapping[str, str], files: Mapping[str, Path]) -> list[str]:
    missing = [f"input {name} is gone" for name, path in files.items() if not path.is_file()]
    if missing:
        return missing
    new = hash_files(files)
    changed = [f"input {name} changed" for name in sorted(old) if new.get(name) != old[name]]
    added = sorted({*new} - {*old})
    if added:
        more = len(added) - _MOST_NAMED
        names = ", ".join(added[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        changed.append(f"new inputs: {names}")
    return changed


def _git_state(folder: Path) -> tuple[str | None, bool | None]:
    # Code that was copied for the jobs of a cluster says from which commit.
    if (copied := folder / SNAPSHOT).is_file():
        facts = Snapshot.model_validate_json(copied.read_bytes())
        return facts.git_commit, facts.git_dirty
    # Outside a checkout (an installed wheel) there is no commit to name: None, not a guess.
    # An untracked file (an environment inside somebody's checkout) fails the first command.
    try:
        _git(folder, "ls-files", "--error-unmatch", Path(__file__).name)
        commit = _git(folder, "rev-parse", "HEAD")
        dirty = bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return None, None
    return commit, dirty


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(  # noqa: S603 - fixed words, no shell
        command, capture_output=True, text=True, check=True, timeout=10
    ).stdout.strip()
