"""What was submitted of a run before, and what of it is in the queue still."""

import os
import pwd
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragmend.cli.context import say
from ragmend.errors import RunStateError
from ragmend.manifest import now
from ragmend.paths import RunPaths, lock_paths
from ragmend.run_lock import LockState, inspect_lock
from ragmend.slurm.commands import Slurm, TaskState
from ragmend.slurm.submission import Submission, SubmissionEnd, read_submission, write_end
from ragmend.unlocking import clear_locks

STUCK = "DependencyNeverSatisfied"
ENDED = frozenset(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED "
    "TIMEOUT".split()
)


class Queued(NamedTuple):
    """What is in the queue of a run.

    Attributes:
        alive: Tasks that run, or may yet.
        stuck: Tasks that wait for what can never be.
    """

    alive: tuple[TaskState, ...]
    stuck: tuple[TaskState, ...]


def user_name() -> str:
    """Return who submits."""
    # Not what the environment says: after `su` that may be somebody else.
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def read_submissions(paths: RunPaths) -> list[Submission]:
    """Read all submissions of a run, in order.

    Raises:
        DataError: One is damaged.
    """
    found = (read_submission(own) for own in paths.jobs.submissions())
    return [submission for submission in found if submission is not None]


def find_queued(slurm: Slurm, submissions: Sequence[Submission]) -> Queued:
    """Find what is in the queue of a run, by the marks of its submissions.

    Raises:
        SlurmError: SLURM does not answer.
    """
    if not submissions:
        return Queued((), ())
    users = {submission.start.user for submission in submissions} | {user_name()}
    mine = [
        state
        for state in slurm.queue(users)
        if state.state not in ENDED and any(_is_of(state, own) for own in submissions)
    ]
    stuck = _stuck(mine, submissions)
    return Queued(
        tuple(state for state in mine if state.job_id not in stuck),
        tuple(state for state in mine if state.job_id in stuck),
    )


def refuse_other_cluster(slurm: Slurm, submissions: Sequence[Submission]) -> None:
    """Refuse to look after jobs of another cluster: an id that is there is not theirs.

    Raises:
        RunStateError: A submission was made elsewhere.
    """
    here = slurm.cluster_name() if submissions else ""
    for submission in submissions:
        if submission.start.slurm != here:
            raise RunStateError(
                f"{submission.paths.root}: was submitted on the cluster "
                f"{submission.start.slurm!r}, this is {here!r}: ask there. If that is gone, delete "
                "this folder"
            )


def cancel_tasks(slurm: Slurm, tasks: Iterable[TaskState]) -> list[str]:
    """End the jobs of some tasks; return their ids."""
    ids = sorted({task.job_id for task in tasks}, key=int)
    if ids:
        slurm.cancel(ids)
    return ids


def withdraw(slurm: Slurm, submission: Submission, reason: str) -> None:
    """Take back whatever of a submission is in the queue."""
    # By mark or name, never by id alone: an id may be somebody else's by now.
    queued = find_queued(slurm, [submission])
    cancel_tasks(slurm, (*queued.alive, *queued.stuck))
    write_end(submission.paths, SubmissionEnd(outcome="withdrawn", reason=reason, at=now()))


def withdraw_interrupted(slurm: Slurm, submissions: Sequence[Submission]) -> int:
    """Take back what a killed `ragmend submit` has left in the queue; return of how many."""
    interrupted = [submission for submission in submissions if submission.end is None]
    for submission in interrupted:
        say(f"submit    {submission.paths.root}: was interrupted; its jobs are taken back")
        withdraw(slurm, submission, "submitting was interrupted")
    return len(interrupted)


def clear_ended_locks(slurm: Slurm, paths: RunPaths) -> None:
    """Clear the locks of SLURM jobs that have ended.

    Raises:
        RunStateError: Something else is at work in the run folder.
    """
    locks = [path for path in lock_paths(paths.root) if path != paths.jobs.lock]  # our own
    found = [state for path in locks if (state := inspect_lock(path)) is not None]
    for state in found:
        if not _has_ended(slurm, state):
            raise RunStateError(state.describe(paths.root))
    cleared = clear_locks([state.path for state in found], unlock=paths.root, force=True)
    for state in cleared:
        say(f"cleared   {state.path} (of {state.holder}, which has ended)")


def _is_of(state: TaskState, submission: Submission) -> bool:
    """Tell whether a task is a submission's: by its mark, else by id and name.

    Some sites write comments of their own.
    """
    start = submission.start
    return state.comment.startswith(f"ragmend:{start.token}:") or any(
        state.job_id == job.job_id and state.name == f"{start.name}-{job.job}"
        for job in submission.jobs
    )


def _has_ended(slurm: Slurm, lock: LockState) -> bool:
    """Tell whether a lock's holder is a SLURM job of which SLURM says that it is over."""
    if lock.kind == "dead":
        return True
    if lock.kind != "elsewhere" or lock.holder is None or lock.holder.slurm_job_id is None:
        return False
    known = slurm.known([lock.holder.slurm_job_id])
    return all(state.state in ENDED for state in known)


def _stuck(tasks: Sequence[TaskState], submissions: Sequence[Submission]) -> frozenset[str]:
    """Return the ids of jobs that can never start, those that wait for such among them."""
    needs = {
        job.job_id: _needed(job.dependency) for submission in submissions for job in submission.jobs
    }
    stuck = {task.job_id for task in tasks if task.reason == STUCK}
    while True:
        more = {
            task.job_id
            for task in tasks
            if task.job_id not in stuck
            and task.state == "PENDING"
            and needs.get(task.job_id, set()) & stuck
        }
        if not more:
            return frozenset(stuck)
        stuck |= more


def _needed(dependency: str | None) -> set[str]:
    """Return the ids without whose end a job never starts: what is stuck does not end either."""
    return {
        word.partition("_")[0]
        for part in (dependency or "").split(",")
        for word in part.split(":")[1:]
    }
