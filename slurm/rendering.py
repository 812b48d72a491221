"""From jobs to the exact scripts that sbatch gets: the plain files with their blanks filled in.

A plain file has a block of `#SBATCH` lines and a block of settings. Both are replaced; what the
script does is left as a person reads it there.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from ragmend.errors import ConfigError
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.graph import After, DependencyKind, Job, Template
from ragmend.slurm.times import parse_time

SETTINGS, SETTINGS_END = "# settings", "# end of settings"
SHARED = "task.sh"
"""What every script sources; it lies beside them."""


class Waits(NamedTuple):
    """One thing that a piece waits for: another piece, or one task of it."""

    kind: DependencyKind
    piece: str
    place: int | None = None


class Piece(NamedTuple):
    """One submission to SLURM: a job, or a part of a job whose array is too large for one.

    Attributes:
        job: The job.
        name: Unique: "verify", or "verify.2" of its second piece.
        tasks: What each task of the array does; several shards packed into one stand together.
        after: What it waits for.
    """

    job: Job
    name: str
    tasks: tuple[tuple[str, ...], ...]
    after: tuple[Waits, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The tasks as the script has them: "3", or "3,19" of two shards."""
        return tuple(",".join(pack) for pack in self.tasks)


class Places(NamedTuple):
    """Where everything of a submission lies; all absolute.

    Attributes:
        run: The run folder.
        config: The snapshot of the configuration.
        code: The snapshot of the package's parent folder.
        scripts: The folder of the scripts.
        logs: The folder of the logs.
    """

    run: Path
    config: Path
    code: Path
    scripts: Path
    logs: Path


class Submitting(NamedTuple):
    """What all scripts of one submission share.

    Attributes:
        name: The experiment's name, with which job names begin.
        token: Marks its jobs in the queue.
        places: Where everything lies.
        cluster: The cluster file.
        accept_faults: Why faulty answers may be left out, if they may.
    """

    name: str
    token: str
    places: Places
    cluster: ClusterConfig
    accept_faults: str | None = None


def cut_into_pieces(
    jobs: Sequence[Job], *, max_array: int, tasks_at_most: int | None
) -> list[Piece]:
    """Return what is submitted, in an order in which nothing waits for what comes later.

    Args:
        jobs: The graph.
        max_array: The cluster's MaxArraySize: the most tasks of one array.
        tasks_at_most: Tasks of a job whose shards are packed when there are more.
    """
    pieces: dict[str, list[Piece]] = {}
    for job in jobs:
        pieces[job.name] = list(_pieces_of(job, pieces, max_array, tasks_at_most))
    return [piece for own in pieces.values() for piece in own]


def render(piece: Piece, submitting: Submitting) -> str:
    """Return the script of a piece.

    Raises:
        ConfigError: Its time limit leaves nothing before the signal, or a path cannot be written
            in a script.
    """
    lines = template(piece.job.template).splitlines()
    begin, end = lines.index(SETTINGS), lines.index(SETTINGS_END)
    directives = [n for n, line in enumerate(lines) if line.startswith("#SBATCH")]
    return "\n".join(
        [
            lines[0],
            *lines[1 : directives[0]],
            *(f"#SBATCH {option}" for option in header(piece, submitting)),
            *lines[directives[-1] + 1 : begin + 1],
            *settings(piece, submitting),
            *lines[end:],
            "",
        ]
    )


def template(name: Template) -> str:
    """Return a plain file."""
    return _read(f"{name}.sbatch")


def shared_script() -> str:
    """Return what every script sources."""
    return _read(SHARED)


def header(piece: Piece, submitting: Submitting) -> Iterator[str]:
    """Yield the options of a piece, as they stand behind `#SBATCH`."""
    job, cluster = piece.job, submitting.cluster
    wanted = job.resources
    yield f"--job-name={submitting.name}-{job.name}"
    yield f"--comment={comment(submitting.token, piece.name)}"
    if job.is_array:
        limit = "" if wanted.max_running is None else f"%{wanted.max_running}"
        yield f"--array=0-{len(piece.tasks) - 1}{limit}"
    for name in ("partition", "account", "qos", "reservation", "constraint"):
        value = getattr(wanted, name)
        if value is not None:
            yield f"--{name}={value}"
    yield f"--time={wanted.time}"
    yield "--nodes=1"
    yield "--ntasks=1"
    yield f"--cpus-per-task={wanted.cpus}"
    if wanted.memory_gb is not None:
        yield f"--mem={wanted.memory_gb}G"
    if wanted.gpus:
        kind = "" if wanted.gpu_type is None else f":{wanted.gpu_type}"
        yield f"--gres=gpu{kind}:{wanted.gpus}"
    yield from wanted.extra
    yield f"--chdir={_header_path(submitting.places.run)}"
    yield "--requeue"
    yield f"--signal=B:USR1@{_lead(piece, cluster)}"
    yield "--open-mode=append"
    number = "%A_%a" if job.is_array else "%j"
    yield f"--output={_header_path(submitting.places.logs)}/%x_{number}.out"
    export = cluster.export
    yield f"--export={export if isinstance(export, str) else ','.join(export)}"
    if cluster.kill_on_invalid_dep:
        yield "--kill-on-invalid-dep=yes"


def settings(piece: Piece, submitting: Submitting) -> Iterator[str]:
    """Yield the lines between the marks of the settings."""
    places, cluster = submitting.places, submitting.cluster
    own = {
        "here": str(places.scripts),
        "run": str(places.run),
        "config": str(places.config),
        "python": piece.job.environment.python,
        "lives": str(cluster.lives),
        **piece.job.settings,
    }
    if piece.job.template in ("stage", "predict"):
        own["accept_faults"] = submitting.accept_faults or ""
    for name, value in own.items():
        yield f"{name}={_quoted(value)}"
    if piece.job.is_array:
        yield f"tasks=({' '.join(map(_quote, piece.words))})"
    variables: Mapping[str, str] = cluster.variables
    if cluster.offline:
        variables = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", **variables}
    for name, value in variables.items():
        yield f"export {name}={_quote(value)}"
    yield from piece.job.environment.setup
    for module in piece.job.environment.modules:
        yield f"module load {_quote(module)} || exit 1"
    # Behind the modules, which may set it.
    yield f"export PYTHONPATH={_quote(str(places.code))}"


def comment(token: str, piece: str) -> str:
    """Return what marks a piece in the queue as this submission's."""
    return f"ragmend:{token}:{piece}"


def dependency(piece: Piece, ids: Mapping[str, str]) -> str | None:
    """Return a piece's --dependency, of the ids that the others got; None: it waits for nothing."""
    by_kind: dict[DependencyKind, list[str]] = {}
    for wait in piece.after:
        place = "" if wait.place is None else f"_{wait.place}"
        by_kind.setdefault(wait.kind, []).append(f"{ids[wait.piece]}{place}")
    return ",".join(f"{kind}:{':'.join(of)}" for kind, of in by_kind.items()) or None


def _pieces_of(
    job: Job, pieces: Mapping[str, list[Piece]], max_array: int, tasks_at_most: int | None
) -> Iterator[Piece]:
    number = 0
    for group in _groups(job, pieces):
        packs = _pack(group, tasks_at_most if job.template == "parts" else None)
        for begin in range(0, len(packs), max_array):
            chunk = packs[begin : begin + max_array]
            number += 1
            # A dot is in no job's name, so that no piece is called like another job.
            name = job.name if number == 1 else f"{job.name}.{number}"
            waits = [wait for after in job.after for wait in _waits(after, chunk, pieces)]
            yield Piece(job, name, chunk, tuple(dict.fromkeys(waits)))


def _groups(job: Job, pieces: Mapping[str, list[Piece]]) -> Iterator[tuple[str, ...]]:
    """Part tasks that wait for a corresponding task from those that have none to wait for."""
    partners = {
        task
        for after in job.after
        if after.kind == "aftercorr"
        for piece in pieces[after.job]
        for pack in piece.tasks
        for task in pack
    }
    for group in (
        tuple(task for task in job.tasks if task in partners),
        tuple(task for task in job.tasks if task not in partners),
    ):
        if group:
            yield group


def _pack(tasks: tuple[str, ...], at_most: int | None) -> tuple[tuple[str, ...], ...]:
    n = len(tasks) if at_most is None else min(at_most, len(tasks))
    return tuple(tasks[begin::n] for begin in range(n))


def _waits(
    after: After, chunk: tuple[tuple[str, ...], ...], pieces: Mapping[str, list[Piece]]
) -> Iterator[Waits]:
    if after.task is not None:
        yield _wait_for_task(after, after.task, pieces)
        return
    if after.kind != "aftercorr":
        yield from (Waits(after.kind, piece.name) for piece in pieces[after.job])
        return
    mine = {task for pack in chunk for task in pack}
    for piece in pieces[after.job]:
        if piece.tasks == chunk:
            yield Waits("aftercorr", piece.name)
        elif mine & {task for pack in piece.tasks for task in pack}:
            yield Waits("afterok", piece.name)  # their tasks stand otherwise: wait for all of it


def _wait_for_task(after: After, task: str, pieces: Mapping[str, list[Piece]]) -> Waits:
    for piece in pieces[after.job]:
        for place, pack in enumerate(piece.tasks):
            if task in pack:
                return Waits(after.kind, piece.name, place)
    raise ConfigError(f"{after.job} has no task {task!r}")


def _lead(piece: Piece, cluster: ClusterConfig) -> int:
    limit = parse_time(str(piece.job.resources.time))
    # SLURM may send the signal up to a minute early.
    if limit <= cluster.signal_lead_s + 60:
        raise ConfigError(
            f"{cluster.name}: {piece.job.name} has {limit} s, and is asked to save up to "
            f"{cluster.signal_lead_s + 60} s before: raise its time or lower signal_lead_s"
        )
    return cluster.signal_lead_s


def _header_path(path: Path) -> str:
    text = str(path)
    if any(character in "\"'\\%#:" or character.isspace() for character in text):
        raise ConfigError(
            f"{text}: a job script cannot name a folder with a space, a quote, a backslash, #, % "
            "or a colon: choose another --out"
        )
    return text


def _quote(value: str) -> str:
    if "\n" in value or "\r" in value or "\0" in value:
        raise ConfigError(f"{value!r} has a line break and cannot stand in a job script")
    return shlex.quote(value)


def _quoted(value: str) -> str:
    """Quote also what a shell would not mind, for who reads it: `stage='select'`, no command."""
    own = _quote(value)
    return own if own.startswith("'") else f"'{own}'"


def _read(name: str) -> str:
    return resources.files("ragmend.slurm").joinpath(name).read_text("utf-8")
