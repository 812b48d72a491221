"""The jobs of a run for people: how each is, why it waits or failed, and what helps."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.submitting.earlier import (
    ENDED,
    STUCK,
    find_queued,
    read_submissions,
    refuse_other_cluster,
)
from ragmend.errors import ConfigError, DataError, RunStateError
from ragmend.paths import RunPaths
from ragmend.slurm.commands import Slurm, SlurmError, TaskState
from ragmend.slurm.submission import Submission, SubmittedJob
from ragmend.slurm.words import HELPS, explain_reason, explain_state

BAD = ENDED - {"COMPLETED"}
MOST_NAMED = 8  # tasks that a line names
FORGOTTEN = "FORGOTTEN"
"""Of a task that has ended and that SLURM does not know any more: its files alone tell how."""


class JobState(NamedTuple):
    """One job of a submission under its name, and what SLURM says of each of its tasks."""

    name: str
    job: SubmittedJob
    tasks: tuple[TaskState, ...]


def describe_jobs(paths: RunPaths) -> Iterator[str]:
    """Yield what `ragmend status` says of the jobs of a run: nothing, if there are none."""
    try:
        submissions = read_submissions(paths)
    except DataError as error:
        yield f"jobs      damaged: {error}"
        return
    if not submissions:
        return
    try:
        states = find_states(Slurm.find(), submissions)
    except (ConfigError, RunStateError, SlurmError) as error:
        ids = ", ".join(job.job_id for own in submissions for job in own.jobs)
        yield f"jobs      {ids} were submitted; how they are cannot be asked here: {error}"
        return
    yield from _describe(states, submissions, paths)


def failed_jobs(paths: RunPaths) -> list[str]:
    """Return a line a job that ended badly, for a report, or why that cannot be told."""
    try:
        submissions = read_submissions(paths)
        states = find_states(Slurm.find(), submissions) if submissions else []
    except (ConfigError, RunStateError, SlurmError, DataError) as error:
        return [f"how its jobs ended cannot be told here: {error}"]
    return [line for state in states for line in _failures(state, paths)]


def find_states(slurm: Slurm, submissions: Sequence[Submission]) -> list[JobState]:
    """Find out how the jobs of the last submission are: the queue, then what SLURM remembers.

    Raises:
        RunStateError: They are another cluster's.
        SlurmError: SLURM does not answer.
    """
    last = submissions[-1]
    refuse_other_cluster(slurm, [last])
    queued = find_queued(slurm, [last])
    ids = [job.job_id for job in last.jobs]
    told: dict[tuple[str, int | None], TaskState] = {}
    # What the accounting says comes late; what the controller knows, and the queue, go before it.
    for state in (*slurm.accounted(ids), *slurm.known(ids), *queued.alive):
        told[state.job_id, state.place] = state
    for state in queued.stuck:
        told[state.job_id, state.place] = state._replace(reason=STUCK)
    names = {job.job_id: f"{last.start.name}-{job.job}" for job in last.jobs}
    ours = {key: state for key, state in told.items() if state.name in ("", names.get(key[0]))}
    return [JobState(names[job.job_id], job, tuple(_tasks(job, ours))) for job in last.jobs]


def _tasks(job: SubmittedJob, told: dict[tuple[str, int | None], TaskState]) -> Iterator[TaskState]:
    whole = told.get((job.job_id, None))
    if not job.tasks:
        yield whole or TaskState(job.job_id, None, FORGOTTEN)
        return
    for place in range(len(job.tasks)):
        own = told.get((job.job_id, place))
        # An array none of whose tasks has begun may be told as a whole.
        yield own or (whole or TaskState(job.job_id, place, FORGOTTEN))._replace(place=place)


def _describe(
    states: Sequence[JobState], submissions: Sequence[Submission], paths: RunPaths
) -> Iterator[str]:
    last = submissions[-1]
    interrupted = "" if last.end is not None else ", which was interrupted"
    withdrawn = "" if last.end is None or last.is_submitted else f", taken back: {last.end.reason}"
    yield (
        f"jobs      of submission {last.start.number} to {last.start.cluster}, "
        f"{last.start.started_at}{interrupted}{withdrawn}"
    )
    width = max((len(state.job.piece) for state in states), default=0)
    advice: dict[str, None] = {}
    for state in states:
        said = _sum_up(state, _waited_for(state.job, states))
        yield f"  {state.job.piece:{width}}  {state.job.job_id:>8}  {said}"
        for task in state.tasks:
            helps = _help(task)
            if helps is not None:
                advice[helps.replace("RUN", str(paths.root)).replace("JOB", task.job_id)] = None
    for state in states:
        for line in _failures(state, paths):
            yield f"  {line}"
    if not last.is_submitted:
        # Whatever is left of it is half a graph, which nobody may let go.
        yield f"  helps: ragmend cancel {paths.root} takes back what is left of it"
        return
    for line in advice:
        yield f"  helps: {line}"


def _waited_for(job: SubmittedJob, states: Sequence[JobState]) -> str:
    """Return the jobs that a job waits for still, by name."""
    ids = {
        word.partition("_")[0]
        for part in (job.dependency or "").split(",")
        for word in part.split(":")[1:]
    }
    names = [
        state.job.piece
        for state in states
        if state.job.job_id in ids and any(task.state not in ENDED for task in state.tasks)
    ]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _sum_up(state: JobState, waited_for: str) -> str:
    counts = Counter(_in_words(task, waited_for) for task in state.tasks)
    if not state.job.tasks:
        return next(iter(counts))
    return "; ".join(f"{n} of {len(state.tasks)}: {words}" for words, n in counts.items())


def _in_words(task: TaskState, waited_for: str) -> str:
    if task.state == FORGOTTEN:
        return "has ended; SLURM has forgotten how (the stage above tells)"
    if task.state == "PENDING" and task.reason == "Dependency" and waited_for:
        return f"waits for {waited_for}"
    if task.state == "PENDING":
        return explain_reason(task.reason).text
    if _is_ended_by_another(task):
        return "never began: a job that it needs has failed"
    return explain_state(task.state)


def _is_ended_by_another(task: TaskState) -> bool:
    return task.state == "CANCELLED" and task.reason == STUCK


def _help(task: TaskState) -> str | None:
    if task.state == "PENDING":
        return explain_reason(task.reason).helps
    return None if _is_ended_by_another(task) else HELPS.get(task.state)


def _failures(state: JobState, paths: RunPaths) -> Iterator[str]:
    """Yield a line a way in which tasks ended badly, with the log of the first of them."""
    groups: dict[str, list[TaskState]] = {}
    for task in state.tasks:
        # What was ended before it began is no failure of its own: the list above has it.
        is_begun = _log(state, task, paths) is not None
        if task.state in BAD and (is_begun or task.state != "CANCELLED"):
            groups.setdefault(task.state, []).append(task)
    for name, tasks in groups.items():
        first = tasks[0]
        code = "" if first.exit_code in ("", "0:0") else f" (exit code {first.exit_code})"
        said = _said(_log(state, first, paths))
        which = "" if first.place is None else f" task {_named(state.job, tasks)}"
        yield f"{state.job.piece}{which} {explain_state(name)}{code}{said}"


def _named(job: SubmittedJob, tasks: Iterable[TaskState]) -> str:
    names = [job.tasks[task.place] for task in tasks if task.place is not None]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _log(state: JobState, task: TaskState, paths: RunPaths) -> Path | None:
    place = "" if task.place is None else f"_{task.place}"
    path = paths.jobs.logs / f"{state.name}_{state.job.job_id}{place}.out"
    return path if path.is_file() else None


def _said(log: Path | None) -> str:
    """Return the last error line of a job's log, and where it is."""
    if log is None:
        return ""
    try:
        lines = log.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return f": {log}"
    # Beside what the job script says, each line with the time; of a traceback, its last line.
    own = [line for line in lines if line.strip() and not re.match(r"\d{4}-\d\d-\d\d ", line)]
    return f": {own[-1].removeprefix('ragmend: ')} ({log})" if own else f": {log}"
