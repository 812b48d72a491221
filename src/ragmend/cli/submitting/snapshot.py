"""Everything that jobs read, copied when they are submitted: editing it later changes nothing."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import tomli_w

import ragmend
from ragmend.cli.context import Context
from ragmend.config import dump_config
from ragmend.errors import OutputError
from ragmend.io import dump_record, write_bytes
from ragmend.manifest import SNAPSHOT, Snapshot
from ragmend.paths import RunPaths, SubmissionPaths
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.rendering import (
    SHARED,
    Piece,
    Places,
    Submitting,
    dependency,
    render,
    shared_script,
)


def places_of(run: RunPaths, paths: SubmissionPaths) -> Places:
    """Return where everything of a submission lies, absolute."""
    root = paths.root.absolute()
    own = SubmissionPaths(root)
    return Places(run.root.absolute(), own.config, own.code, own.scripts, run.jobs.logs.absolute())


def write_snapshot(
    context: Context,
    cluster: ClusterConfig,
    pieces: Sequence[Piece],
    submitting: Submitting,
    paths: SubmissionPaths,
) -> None:
    """Write a submission's folder: configuration, cluster file, code, scripts, commands.

    Raises:
        OutputError: It cannot be written; nothing was submitted.
    """
    try:
        shutil.rmtree(paths.root, ignore_errors=True)
        paths.scripts.mkdir(parents=True)
        # A job whose log folder is missing fails without any log.
        submitting.places.logs.mkdir(parents=True, exist_ok=True)
        _copy_code(context, paths.code / "ragmend")
    except shutil.Error as error:
        raise OutputError(f"{paths.code}: cannot be written: {error.args[0][0][2]}") from error
    except OSError as error:
        raise OutputError.of(error.filename or paths.root, error) from error
    write_bytes(paths.config, dump_config(context.config))
    write_bytes(paths.cluster, tomli_w.dumps(_plain(cluster)).encode())
    write_bytes(paths.scripts / SHARED, shared_script().encode())
    for piece in pieces:
        write_bytes(script_path(paths, piece), render(piece, submitting).encode())
    write_bytes(paths.commands, _commands(pieces, paths).encode())


def script_path(paths: SubmissionPaths, piece: Piece) -> Path:
    """Return where a piece's script lies, absolute."""
    return (paths.scripts / f"{piece.name}.sbatch").absolute()


def _copy_code(context: Context, target: Path) -> None:
    source = Path(ragmend.__file__).resolve().parent
    # In a checkout some folders are links: what they lead to is copied.
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    environment = context.environment
    facts = Snapshot(git_commit=environment.git_commit, git_dirty=environment.git_dirty)
    write_bytes(target / SNAPSHOT, dump_record(facts))


def _plain(cluster: ClusterConfig) -> Mapping[str, object]:
    return cluster.model_dump(mode="json", exclude_none=True)


def _commands(pieces: Sequence[Piece], paths: SubmissionPaths) -> str:
    """Return what submits the scripts, for people: each job's id in a variable of its name."""
    variables = {piece.name: _variable(n, piece.name) for n, piece in enumerate(pieces, 1)}
    names = {name: f"${{{variable}}}" for name, variable in variables.items()}
    lines = [
        "#!/bin/bash",
        "# Submits these jobs by hand, in this order.",
        "set -euo pipefail",
        'cd "$(dirname "${BASH_SOURCE[0]}")/scripts"',
        "",
    ]
    for piece in pieces:
        waits = dependency(piece, names)
        option = "" if waits is None else f'--dependency="{waits}" '
        lines.append(
            f"{variables[piece.name]}=$(sbatch --parsable {option}{piece.name}.sbatch); "
            f'echo "{piece.name} {names[piece.name]}"'
        )
    return "\n".join([*lines, ""])


def _variable(number: int, name: str) -> str:
    # Numbered, for two names may differ in such characters alone.
    return f"job_{number:02d}_" + "".join(c if c.isalnum() and c.isascii() else "_" for c in name)
