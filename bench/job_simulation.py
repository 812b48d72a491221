"""A job graph as it would run: a discrete-event simulation of tasks, GPUs, limits and failures.

A task runs as soon as what it waits for has ended as it must and its GPUs are free; earlier
submissions come first, and smaller tasks pass those that do not fit yet. A life ends when the work
is done, when the time limit is near, or when its node fails; then the task waits a little and lives
again. Nobody else is on this cluster: a real queue adds its waits.
"""

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ragmend.slurm.estimate import TaskTime
from ragmend.slurm.graph import Job
from ragmend.slurm.rendering import Piece, Waits
from ragmend.slurm.times import parse_time

HOUR_S = 3600.0
REQUEUE_S = 120.0  # SLURM holds a requeued task back for about so long
CHECKPOINT_S = 1200.0  # of training, between two checkpoints
KEEPS_WORK = ("train", "predict", "parts")  # templates of what goes on where it was
State = Literal["done", "failed"]
Times = Callable[[Job, str], TaskTime]


class Conditions(NamedTuple):
    """What is assumed of the cluster.

    Attributes:
        n_gpus: GPUs free for this experiment; None: as many as it can use.
        spread: Standard deviation of the logarithm of a task's work.
        node_failures_an_hour: Of the node of a task.
        lives: Starts of a task, at most.
        lead_s: A task ends itself so long before its limit.
        seed: Of all that is random.
    """

    n_gpus: int | None
    spread: float = 0.25
    node_failures_an_hour: float = 1 / 2000
    lives: int = 20
    lead_s: float = 180.0
    seed: int = 42


class JobRun(NamedTuple):
    """How a job went; hours since the submission, or of all its tasks together.

    Attributes:
        name: The job's.
        n_tasks: Its tasks, as SLURM counts them.
        n_lives: Starts of them all.
        n_failed: Tasks that never finished, or never could begin.
        gpu_hours: GPUs held.
        task_hours: Tasks at work.
        begin: When the first task began; None: none did.
        end: When the last one ended.
    """

    name: str
    n_tasks: int
    n_lives: int
    n_failed: int
    gpu_hours: float
    task_hours: float
    begin: float | None
    end: float


class _Task:
    """One task: what is left of it, and what it has used."""

    def __init__(self, piece: Piece, place: int, time: TaskTime, chance: random.Random) -> None:
        self.piece, self.place, self.chance = piece, place, chance
        self.setup_s, self.left_s = time
        self.n_lives, self.busy_s = 0, 0.0
        self.begin: float | None = None
        self.end = 0.0
        self.state: State | None = None
        self.is_queued = False

    @property
    def gpus(self) -> int:
        """GPUs that a life holds."""
        return self.piece.job.resources.gpus or 0


class _Simulation:
    """The state of one simulation."""

    def __init__(self, pieces: Sequence[Piece], times: Times, conditions: Conditions) -> None:
        self.conditions = conditions
        self.pieces = {piece.name: piece for piece in pieces}
        self.tasks = {
            piece.name: [self._task(piece, n, times) for n in range(len(piece.tasks))]
            for piece in pieces
        }
        self.n_left = {name: len(tasks) for name, tasks in self.tasks.items()}
        self.n_running: dict[str, int] = defaultdict(int)
        self.waiting: dict[str, list[Piece]] = defaultdict(list)
        for piece in pieces:
            for name in {wait.piece for wait in piece.after}:
                self.waiting[name].append(piece)
        self.ready: dict[str, list[int]] = {piece.name: [] for piece in pieces}
        self.free = math.inf if conditions.n_gpus is None else conditions.n_gpus
        self.events: list[tuple[float, int, _Task, bool]] = []
        self.n_events = 0

    def run(self) -> None:
        """Run everything to its end."""
        for piece in self.pieces.values():
            self._look_at(piece, 0.0)
        self._start(0.0)
        while self.events:
            now, _, task, is_end = heapq.heappop(self.events)
            if is_end:
                self._end_life(task, now)
            else:
                heapq.heappush(self.ready[task.piece.name], task.place)
            self._start(now)

    def _task(self, piece: Piece, place: int, times: Times) -> _Task:
        chance = random.Random(f"{self.conditions.seed} {piece.name} {place}")  # noqa: S311
        each = [times(piece.job, task) for task in piece.tasks[place]]
        sigma = self.conditions.spread
        factor = math.exp(chance.gauss(-sigma * sigma / 2, sigma))  # its mean is 1
        setup_s = max(time.setup_s for time in each)
        return _Task(piece, place, TaskTime(setup_s, factor * sum(t.work_s for t in each)), chance)

    def _start(self, now: float) -> None:
        for name, places in self.ready.items():
            most = self.pieces[name].job.resources.max_running or math.inf
            while places and self.n_running[name] < most:
                task = self.tasks[name][places[0]]
                if task.gpus > self.free:
                    break
                heapq.heappop(places)
                self._begin_life(task, now)

    def _begin_life(self, task: _Task, now: float) -> None:
        self.free -= task.gpus
        self.n_running[task.piece.name] += 1
        task.begin = now if task.begin is None else task.begin
        task.n_lives += 1
        self._push(now + self._life_s(task), task, is_end=True)

    def _life_s(self, task: _Task) -> float:
        """Return how long a life lasts, and take what it does off the task's work."""
        limit = parse_time(str(task.piece.job.resources.time)) - self.conditions.lead_s
        rate = self.conditions.node_failures_an_hour / HOUR_S
        failure = task.chance.expovariate(rate) if rate else math.inf
        whole = task.setup_s + task.left_s
        life = min(whole, limit, failure)
        task.busy_s += life
        if life == whole:
            task.left_s = 0.0
        elif task.piece.job.template in KEEPS_WORK:
            # What is asked to end saves first; a failing node takes along what is newer than that.
            is_lost = life == failure and task.piece.job.template == "train"
            lost = task.chance.uniform(0, CHECKPOINT_S) if is_lost else 0.0
            task.left_s -= max(0.0, life - task.setup_s - lost)
        return life

    def _end_life(self, task: _Task, now: float) -> None:
        self.free += task.gpus
        self.n_running[task.piece.name] -= 1
        if task.left_s > 0 and task.n_lives < self.conditions.lives:
            self._push(now + REQUEUE_S, task, is_end=False)
            return
        self._settle(task, "failed" if task.left_s > 0 else "done", now)

    def _settle(self, task: _Task, state: State, now: float) -> None:
        task.state, task.end = state, now
        self.n_left[task.piece.name] -= 1
        is_over = not self.n_left[task.piece.name]
        for piece in self.waiting[task.piece.name]:
            if is_over:
                self._look_at(piece, now)
                continue
            for wait in piece.after:
                if wait.piece != task.piece.name:
                    continue
                if wait.kind == "aftercorr":
                    self._look_at(piece, now, task.place)
                elif wait.place == task.place:
                    self._look_at(piece, now)

    def _look_at(self, piece: Piece, now: float, place: int | None = None) -> None:
        """Queue the tasks of a piece, or the one at a place, that wait for nothing any more."""
        own = self.tasks[piece.name]
        for task in own if place is None else own[place : place + 1]:
            if task.is_queued or task.state is not None:
                continue
            states = [self._state_of(wait, task.place) for wait in piece.after]
            if "failed" in states:
                self._settle(task, "failed", now)
            elif all(state == "done" for state in states):
                task.is_queued = True
                heapq.heappush(self.ready[piece.name], task.place)

    def _state_of(self, wait: Waits, place: int) -> State | None:
        """Return "done" where a wait is over, "failed" where it never will be."""
        of = self.tasks[wait.piece]
        if wait.kind == "aftercorr":
            return of[place].state
        if wait.place is not None:
            return of[wait.place].state
        if self.n_left[wait.piece]:
            return None
        if wait.kind == "afterany" or all(task.state == "done" for task in of):
            return "done"
        return "failed"

    def _push(self, at: float, task: _Task, *, is_end: bool) -> None:
        self.n_events += 1
        heapq.heappush(self.events, (at, self.n_events, task, is_end))


def simulate(pieces: Sequence[Piece], times: Times, conditions: Conditions) -> list[JobRun]:
    """Run a graph and return how each job went, in the order of submission.

    Args:
        pieces: What is submitted, as `cut_into_pieces` cuts it.
        times: How long a task takes.
        conditions: What is assumed of the cluster.
    """
    simulation = _Simulation(pieces, times, conditions)
    simulation.run()
    by_job: dict[str, list[_Task]] = {}
    for piece in pieces:
        by_job.setdefault(piece.job.name, []).extend(simulation.tasks[piece.name])
    return [_job_run(name, tasks) for name, tasks in by_job.items()]


def critical_path(runs: Sequence[JobRun], pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the jobs that the end waits for, the first one first."""
    by_name = {run.name: run for run in runs}
    after: Mapping[str, set[str]] = _jobs_before(pieces)
    path, name = [], max(runs, key=lambda run: run.end).name
    while True:
        path.append(name)
        if not after.get(name):
            break
        name = max(after[name], key=lambda each: by_name[each].end)
    yield from reversed(path)


def _jobs_before(pieces: Sequence[Piece]) -> Mapping[str, set[str]]:
    job_of = {piece.name: piece.job.name for piece in pieces}
    before: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        before[piece.job.name] |= {job_of[wait.piece] for wait in piece.after}
        before[piece.job.name].discard(piece.job.name)
    return before


def _job_run(name: str, tasks: Sequence[_Task]) -> JobRun:
    begins = [task.begin for task in tasks if task.begin is not None]
    return JobRun(
        name=name,
        n_tasks=len(tasks),
        n_lives=sum(task.n_lives for task in tasks),
        n_failed=sum(task.state != "done" for task in tasks),
        gpu_hours=sum(task.busy_s * task.gpus for task in tasks) / HOUR_S,
        task_hours=sum(task.busy_s for task in tasks) / HOUR_S,
        begin=min(begins) / HOUR_S if begins else None,
        end=max(task.end for task in tasks) / HOUR_S,
    )
