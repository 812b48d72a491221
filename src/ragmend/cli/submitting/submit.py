"""`ragmend submit`: from a configuration and a cluster file to jobs in the queue, or to nothing."""

import difflib
import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend import __version__
from ragmend.cli.context import Context, say
from ragmend.cli.engine import check_folder, write_config
from ragmend.cli.protocol import refuse_locked
from ragmend.cli.submitting.earlier import (
    cancel_tasks,
    clear_ended_locks,
    find_queued,
    read_submissions,
    refuse_other_cluster,
    user_name,
    withdraw,
    withdraw_interrupted,
)
from ragmend.cli.submitting.estimating import estimate_pieces
from ragmend.cli.submitting.models import refuse_missing_models
from ragmend.cli.submitting.remaining import find_remaining
from ragmend.cli.submitting.snapshot import places_of, script_path, write_snapshot
from ragmend.errors import ConfigError, RagmendError, RunStateError
from ragmend.io import sha256_of_file
from ragmend.manifest import now
from ragmend.paths import RunPaths, SubmissionPaths
from ragmend.run_lock import FileLock
from ragmend.slurm.checking.models import check_models
from ragmend.slurm.checking.pieces import check_pieces, find_warnings
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.commands import Slurm, SlurmError
from ragmend.slurm.estimate import JobEstimate
from ragmend.slurm.graph import build_graph
from ragmend.slurm.limits import Limits, read_limits
from ragmend.slurm.rendering import Piece, Submitting, cut_into_pieces, dependency
from ragmend.slurm.submission import (
    Submission,
    SubmissionEnd,
    SubmissionStart,
    SubmittedJob,
    append_job,
    read_submission,
    write_end,
    write_start,
)

MAX_ARRAY = 1001
"""SLURM's own MaxArraySize where a cluster says nothing else."""


class Submitted(NamedTuple):
    """What was submitted, or would be.

    Attributes:
        pieces: The jobs, in the order of their submission.
        ids: What SLURM calls them, by the piece's name; empty of a dry run.
        folder: Where scripts and records lie.
        estimates: How long each piece takes, in their order.
    """

    pieces: list[Piece]
    ids: Mapping[str, str]
    folder: Path
    estimates: list[JobEstimate]


class Wish(NamedTuple):
    """What a user wants to be submitted."""

    context: Context
    cluster: ClusterConfig
    resume: bool
    accept_faults: str | None


def submit(wish: Wish) -> Submitted:
    """Submit all jobs that an experiment still needs; all of them, or none.

    Raises:
        ConfigError: This is no cluster, or the cluster has not what the cluster file says.
        RunStateError: The run was submitted before, or its jobs are in the queue.
        SlurmError: SLURM refuses a job; those submitted before it are taken back.
        OutputError: The run folder cannot be written.
    """
    slurm = Slurm.find()
    paths = wish.context.paths
    check_folder(paths.root)
    with FileLock(paths.jobs.lock, unlock=paths.root):
        _refuse_earlier(slurm, wish)
        limits = read_limits(slurm)
        pieces, cluster = plan_pieces(wish, max_array=limits.max_array)
        if not pieces:
            return Submitted([], {}, paths.jobs.root, [])
        estimates = estimate_pieces(wish.context.config, pieces)
        _refuse_unfit(wish, pieces, limits, cluster)
        write_config(wish.context)
        own = _next_submission(paths)
        submitting = _submitting(wish, cluster, own)
        write_snapshot(wish.context, cluster, pieces, submitting, own)
        for script in dict.fromkeys(script_path(own, piece) for piece in pieces):
            _check(slurm, script)
        write_start(own, _start(wish, own, submitting, pieces, limits.cluster))
        ids = _send(slurm, own, pieces)
    return Submitted(pieces, ids, own.root, estimates)


def write_dry_run(wish: Wish) -> Submitted:
    """Write what would be submitted, scripts and commands; nothing is.

    Without SLURM on this machine its usual limits are taken for granted.
    """
    paths = wish.context.paths
    check_folder(paths.root)
    limits = _limits_if_any()
    with FileLock(paths.jobs.lock, unlock=paths.root):
        max_array = MAX_ARRAY if limits is None else limits.max_array
        pieces, cluster = plan_pieces(wish, max_array=max_array)
        for problem in _problems(wish, pieces, limits, cluster):
            say(f"problem   {problem}")
        own = paths.jobs.dry_run
        write_snapshot(wish.context, cluster, pieces, _submitting(wish, cluster, own), own)
    return Submitted(pieces, {}, own.root, estimate_pieces(wish.context.config, pieces))


def plan_pieces(wish: Wish, *, max_array: int) -> tuple[list[Piece], ClusterConfig]:
    """Return what has to be submitted, and the cluster file with the shards that are fixed."""
    refuse_locked(wish.context, None)
    remaining = find_remaining(wish.context, wish.cluster)
    for note in remaining.notes:
        say(f"submit    {note}")
    cluster = remaining.cluster
    jobs = build_graph(wish.context.config, cluster, remaining.done)
    pieces = cut_into_pieces(jobs, max_array=max_array, tasks_at_most=cluster.tasks_at_most)
    return pieces, cluster


def _refuse_earlier(slurm: Slurm, wish: Wish) -> None:
    paths = wish.context.paths
    submissions = read_submissions(paths)
    refuse_other_cluster(slurm, submissions)
    withdraw_interrupted(slurm, submissions)
    queued = find_queued(slurm, submissions)
    if queued.alive:
        ids = sorted({task.job_id for task in queued.alive}, key=int)
        raise RunStateError(
            f"{paths.root}: {len(queued.alive)} tasks of it are in the queue (jobs "
            f"{', '.join(ids)}): `ragmend status {paths.root}` shows them; wait until they have "
            f"ended, or `ragmend cancel {paths.root}` ends them"
        )
    was_submitted = any(submission.is_submitted for submission in submissions)
    if was_submitted and not wish.resume:
        raise RunStateError(
            f"{paths.root} was submitted before: --resume submits what is missing; another --out "
            "makes a new run"
        )
    if wish.resume and not submissions:
        raise RunStateError(f"{paths.root} was never submitted: leave --resume out")
    for job_id in cancel_tasks(slurm, queued.stuck):
        say(f"submit    job {job_id} could never start and is cancelled")
    clear_ended_locks(slurm, paths)


def _refuse_unfit(
    wish: Wish, pieces: Sequence[Piece], limits: Limits, cluster: ClusterConfig
) -> None:
    problems = _problems(wish, pieces, limits, cluster)
    if problems:
        raise ConfigError(f"{cluster.name}: nothing was submitted. {'; '.join(problems)}")
    refuse_missing_models(wish.context.config, cluster, pieces)
    for warning in (*find_warnings(pieces, limits, cluster), *_unused_roles(wish, cluster)):
        say(f"warning   {warning}")


def _problems(
    wish: Wish, pieces: Sequence[Piece], limits: Limits | None, cluster: ClusterConfig
) -> list[str]:
    of_pieces = [] if limits is None else check_pieces(pieces, limits, cluster)
    return list(dict.fromkeys([*of_pieces, *check_models(wish.context.config, cluster)]))


def _unused_roles(wish: Wish, cluster: ClusterConfig) -> Iterator[str]:
    """Yield a line a role of the cluster file that the experiment has not: a slip, or another's."""
    roles = list(wish.context.config.roles())
    for name in cluster.roles:
        if name not in roles:
            near = difflib.get_close_matches(name, roles, n=1)
            hint = f"; is {near[0]!r} meant?" if near else ""
            yield f"{cluster.name}: roles.{name} is no role of this experiment{hint}"


def _limits_if_any() -> Limits | None:
    try:
        return read_limits(Slurm.find())
    except (ConfigError, SlurmError) as error:
        say(f"warning   what the cluster has is not checked: {error}")
        return None


def _next_submission(paths: RunPaths) -> SubmissionPaths:
    """Return the folder of a new submission: one that came to no job is written over."""
    for own in paths.jobs.submissions():
        if read_submission(own) is None:
            return own
    numbers = [own.number for own in paths.jobs.submissions()]
    return paths.jobs.submission(max(numbers, default=0) + 1)


def _submitting(wish: Wish, cluster: ClusterConfig, own: SubmissionPaths) -> Submitting:
    return Submitting(
        name=wish.context.config.name,
        token=secrets.token_hex(8),
        places=places_of(wish.context.paths, own),
        cluster=cluster,
        accept_faults=wish.accept_faults,
    )


def _check(slurm: Slurm, script: Path) -> None:
    try:
        slurm.check(script)
    except SlurmError as error:
        raise SlurmError(f"nothing was submitted: {script.name}: {error}") from error


def _start(
    wish: Wish,
    own: SubmissionPaths,
    submitting: Submitting,
    pieces: Sequence[Piece],
    slurm: str,
) -> SubmissionStart:
    return SubmissionStart(
        number=own.number,
        token=submitting.token,
        name=submitting.name,
        cluster=submitting.cluster.name,
        slurm=slurm,
        resumed=wish.resume,
        accept_faults=wish.accept_faults,
        user=user_name(),
        host=socket.gethostname(),
        started_at=now(),
        ragmend_version=__version__,
        git_commit=wish.context.environment.git_commit,
        git_dirty=wish.context.environment.git_dirty,
        pieces=tuple(piece.name for piece in pieces),
        config_sha256=sha256_of_file(own.config),
    )


def _send(slurm: Slurm, own: SubmissionPaths, pieces: Sequence[Piece]) -> dict[str, str]:
    """Submit the pieces: those that wait for nothing are held until all are there."""
    ids: dict[str, str] = {}
    try:
        for piece in pieces:
            waits = dependency(piece, ids)
            job_id = slurm.submit(script_path(own, piece), dependency=waits, hold=waits is None)
            ids[piece.name] = job_id
            append_job(own, _submitted(piece, job_id, waits))
        # Before they go: a graph that runs is never one that was interrupted.
        write_end(own, SubmissionEnd(outcome="submitted", at=now()))
        slurm.release([ids[piece.name] for piece in pieces if not piece.after])
    except BaseException as error:
        _take_back(slurm, own, list(ids.values()), error)
        raise
    return ids


def _take_back(
    slurm: Slurm, own: SubmissionPaths, ids: Sequence[str], error: BaseException
) -> None:
    """Take back what was submitted just now; whatever goes wrong in it hides no reason."""
    reason = str(error) or type(error).__name__
    try:
        if ids:
            slurm.cancel(ids)
        submission = read_submission(own)
        if isinstance(submission, Submission):
            withdraw(slurm, submission, reason)  # one whose id was never read, too
        say(f"submit    {len(ids)} jobs were taken back")
    except RagmendError as another:
        say(f"submit    {reason}")
        say(
            f"submit    jobs {', '.join(ids)} could not be taken back ({another}); they wait: "
            f"`ragmend cancel {own.root.parents[1]}` takes them back"
        )


def _submitted(piece: Piece, job_id: str, waits: str | None) -> SubmittedJob:
    job = piece.job
    return SubmittedJob(
        piece=piece.name,
        job=job.name,
        stage=job.stage,
        role=job.role,
        tasks=piece.words if job.is_array else (),
        job_id=job_id,
        dependency=waits,
        gpus=job.resources.gpus or 0,
        held=waits is None,
        at=now(),
    )
