"""The paper's job graph, and one of a million answers: what they take, and where they break first.

Nothing is submitted: durations come from the estimate's arithmetic and from stages measured here,
see `slurm/SIMULATION.md`. `python -m bench.cluster` prints all tables.
"""

import math
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bench.figures import Figure
from bench.footprint import GIB, Disk, Need, disk_of, memory_needs, read_bytes, reading_s
from bench.job_simulation import Conditions, JobRun, critical_path, simulate
from bench.stage_costs import N_LARGE, N_SMALL, StageCosts, measure_stages
from ragmend.config import Config, load_config
from ragmend.slurm.cluster import ClusterConfig, ResourceName, ShardsConfig, load_cluster
from ragmend.slurm.estimate import TaskTime, assumptions, default_sizes, estimate_task
from ragmend.slurm.graph import Job, build_graph
from ragmend.slurm.rendering import Piece, cut_into_pieces
from ragmend.slurm.sizes import Sizes, scale_population
from ragmend.slurm.times import parse_time

CLUSTER = "a100"
N_ANSWERS = 1_000_000
GPUS = (4, 16, 64, 256)
MAX_ARRAY = 1001  # SLURM's default, as are these:
MAX_JOBS = 10_000
INODE_QUOTA = 1_000_000  # of a user, on many a cluster
HOURS_A_SHARD = 3.0  # the work that a shard of the large graph should have
# What a million answers need of the cluster file besides shards.
RAISED: Mapping[ResourceName, dict[str, str | int]] = {
    "cpu": {"memory_gb": 160, "time": "12:00:00"},
    "analyze": {"memory_gb": 192, "time": "12:00:00"},
    "predict": {"time": "1-00:00:00"},
}
N_BREAKS, N_ROWS = 5, 12  # limits that are told as figures, and in the table
HOUR_S, GIGA = 3600.0, 1e9


class Scenario(NamedTuple):
    """One experiment on one cluster.

    Attributes:
        name: For people.
        config: The experiment.
        sizes: How much there is to do.
        pieces: What is submitted.
        costs: What the stages cost by themselves.
        lead_s: How long before its limit a task ends itself, at the earliest.
        lives: Starts of a task, at most.
    """

    name: str
    config: Config
    sizes: Sizes
    pieces: list[Piece]
    costs: StageCosts
    lead_s: float
    lives: int

    def times(self, job: Job, task: str) -> TaskTime:
        """Return how long a task takes; a shard reads all answers before it asks about its own."""
        line = self.costs.cpu_s.get(job.name)
        if line is not None:
            return TaskTime(line.fixed, line.an_answer * self.sizes.population)
        time = estimate_task(job, task, self.config, self.sizes)
        if time is None:
            raise ValueError(f"{job.name}: there is no estimate of how long it takes")
        return time._replace(setup_s=time.setup_s + reading_s(job, self.sizes, self.costs))

    def run(self, n_gpus: int | None) -> list[JobRun]:
        """Run it on a cluster that has so many GPUs free."""
        conditions = Conditions(n_gpus, lead_s=self.lead_s, lives=self.lives)
        return simulate(self.pieces, self.times, conditions)

    def without_limits(self) -> "Scenario":
        """Return it with a limit of a hundred days: how long things would take."""
        return self._replace(
            pieces=[
                piece._replace(
                    job=piece.job._replace(
                        resources=piece.job.resources.model_copy(update={"time": "100-0"})
                    )
                )
                for piece in self.pieces
            ]
        )


class Break(NamedTuple):
    """A limit, and the number of answers under repair at which it is passed."""

    what: str
    n_answers: float


def cluster_figures() -> Iterator[Figure]:
    """Measure the stages, run the graphs, and tell what they take and which limits they pass."""
    costs = measure_stages()
    paper, many, raised = scenarios(costs)
    yield from (*_figures(paper), *_figures(many), _never_finish(raised))
    for each in find_breaks(many)[:N_BREAKS]:
        yield Figure(f"passed at so many answers: {each.what}", each.n_answers)


def scenarios(costs: StageCosts) -> list[Scenario]:
    """Return the paper's graph, and that of a million answers, in as many shards as they need.

    The last one is the same with the limits raised that it passes.
    """
    # The variable need not be set: nothing is read.
    config = load_config("paper", ["data.path=unused"])
    cluster = load_cluster(CLUSTER, {"HOME": "/home/anybody"})
    sizes = default_sizes(config)
    many = scale_population(sizes, N_ANSWERS)
    large = cluster.model_copy(update={"shards": shards_for(config, cluster, many)})
    resources = {
        name: section.model_copy(update=RAISED.get(name, {}))
        for name, section in large.resources.items()
    }
    raised = large.model_copy(update={"resources": resources})
    return [
        _scenario("the paper", config, cluster, sizes, costs),
        _scenario(f"{N_ANSWERS:,} answers", config, large, many, costs),
        _scenario(f"{N_ANSWERS:,} answers, limits raised", config, raised, many, costs),
    ]


def shards_for(config: Config, cluster: ClusterConfig, sizes: Sizes) -> ShardsConfig:
    """Return shards of some hours each, as many as the cluster file may have."""
    single = cluster.model_copy(update={"shards": ShardsConfig()})
    hours: dict[str, float] = {}
    for job in build_graph(config, single):
        if job.template == "parts":
            time = estimate_task(job, "0", config, sizes)
            hours[job.stage] = max(hours.get(job.stage, 0.0), time.work_s / HOUR_S if time else 0)
    return ShardsConfig(
        **{
            name: min(_most(name), max(1, math.ceil(hours[name] / HOURS_A_SHARD)))
            for name in ("verify", "propose", "judge")
        }
    )


def tables(costs: StageCosts) -> Iterator[str]:
    """Yield everything as text, line by line."""
    yield f"stages measured on: {costs.answers}"
    paper, many, raised = scenarios(costs)
    for scenario in (paper, many):
        yield from ("", f"== {scenario.name} ==", "", *assumptions(scenario.sizes))
        yield from _table("jobs", _job_rows(scenario))
        yield from _table("wall-clock if no limit ended anything", _wall_rows(scenario))
        yield from _table("disk at its fullest", _disk_rows(scenario))
        yield from _table("memory of a task, beside a model's", _memory_rows(scenario))
        yield from _table("limits", _limit_rows(scenario))
    for scenario in (many, raised):
        yield from ("", f"== where it breaks: {scenario.name} ==")
        yield from _table("limits, the one that is passed first in front", _break_rows(scenario))
    yield from _table(f"jobs: {raised.name}", _job_rows(raised))


def find_breaks(scenario: Scenario) -> list[Break]:
    """Return the limits that grow with the answers, that which is passed first in front.

    Args:
        scenario: The graph with as many shards as the cluster file may have.
    """
    found = [*_memory_breaks(scenario), *_life_breaks(scenario), *_array_breaks(scenario)]
    return sorted(found, key=lambda each: each.n_answers)


def _scenario(
    name: str, config: Config, cluster: ClusterConfig, sizes: Sizes, costs: StageCosts
) -> Scenario:
    pieces = cut_into_pieces(
        build_graph(config, cluster), max_array=MAX_ARRAY, tasks_at_most=cluster.tasks_at_most
    )
    lead_s = cluster.signal_lead_s + 60.0
    return Scenario(name, config, sizes, pieces, costs, lead_s, cluster.lives)


def _most(name: str) -> int:
    field = ShardsConfig.model_fields[name]
    return next(int(each.le) for each in field.metadata if hasattr(each, "le"))


def _figures(scenario: Scenario) -> Iterator[Figure]:
    name, runs = scenario.name, scenario.without_limits().run(None)
    disk = _disk(scenario)
    yield Figure(f"{name}: GPU-hours (arithmetic)", sum(r.gpu_hours for r in runs), "h")
    for n_gpus in GPUS:
        wall = max(run.end for run in scenario.without_limits().run(n_gpus))
        yield Figure(f"{name}: wall-clock with {n_gpus} GPUs free", wall, "h")
    yield Figure(f"{name}: bytes on disk", sum(disk.n_bytes.values()) / GIGA, "GB")
    yield Figure(f"{name}: inodes", sum(disk.inodes.values()), "", "at most", INODE_QUOTA)
    yield Figure(f"{name}: tasks", _n_tasks(scenario), "", "at most", MAX_JOBS)
    yield Figure(f"{name}: read by shards", _read(scenario) / 1e12, "TB")
    for need in _needs(scenario):
        limit = None if need.given is None else need.given / GIB
        yield Figure(f"{name}: memory of {need.job}", need.needed / GIB, "GiB", "at most", limit)
    for job, hours, limit in _unresumed(scenario):
        yield Figure(f"{name}: one life of {job}", hours, "h", "at most", limit)
    yield _never_finish(scenario)


def _never_finish(scenario: Scenario) -> Figure:
    failed = sum(run.n_failed for run in scenario.run(GPUS[-1]))
    return Figure(f"{scenario.name}: tasks that never finish", failed, "", "at most", 0)


def _job_rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    yield ("job", "tasks", "GPU-hours", "CPU task-hours", "hours a task", "lives", "never finish")
    limited = {run.name: run for run in scenario.run(GPUS[-1])}
    for run in scenario.without_limits().run(GPUS[-1]):
        yield (
            run.name,
            f"{run.n_tasks:,}",
            f"{run.gpu_hours:,.1f}",
            "" if run.gpu_hours else f"{run.task_hours:,.2f}",
            f"{run.task_hours / run.n_tasks:,.2f}",
            f"{limited[run.name].n_lives:,}",
            f"{limited[run.name].n_failed:,}",
        )


def _wall_rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    yield ("GPUs free", "hours", "days", "the end waits for")
    for n_gpus in (*GPUS, None):
        runs = scenario.without_limits().run(n_gpus)
        hours = max(run.end for run in runs)
        path = critical_path(runs, scenario.pieces)
        yield ("any" if n_gpus is None else str(n_gpus), f"{hours:,.1f}", f"{hours / 24:,.1f}",
               " > ".join(path))  # fmt: skip


def _disk_rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    disk = _disk(scenario)
    yield ("of", "GB", "inodes")
    for name in dict.fromkeys((*disk.n_bytes, *disk.inodes)):
        n_bytes, inodes = disk.n_bytes.get(name), disk.inodes.get(name)
        yield (name, "" if n_bytes is None else f"{n_bytes / GIGA:,.2f}",
               "" if inodes is None else f"{inodes:,}")  # fmt: skip
    total = sum(disk.n_bytes.values()) / GIGA
    yield ("together", f"{total:,.2f}", f"{sum(disk.inodes.values()):,}")
    yield ("read by all shards", f"{_read(scenario) / GIGA:,.0f}", "")
    idle = sum(
        reading_s(piece.job, scenario.sizes, scenario.costs)
        * sum(map(len, piece.tasks))
        * (piece.job.resources.gpus or 0)
        for piece in scenario.pieces
    )
    yield (f"GPU-hours idle meanwhile: {idle / HOUR_S:,.2f}", "", "")


def _memory_rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    yield ("job", "GiB needed", "GiB given", "")
    for need in _needs(scenario):
        given = "default" if need.given is None else f"{need.given / GIB:,.0f}"
        is_short = need.given is not None and need.needed > need.given
        yield (need.job, f"{need.needed / GIB:,.1f}", given, "short" if is_short else "")


def _limit_rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    yield ("what", "found", "limit", "")
    longest = max(len(piece.tasks) for piece in scenario.pieces)
    rows: list[tuple[str, float, float]] = [
        ("tasks of one array, after cutting (MaxArraySize)", longest, MAX_ARRAY),
        ("tasks in the queue at once (MaxJobCount)", _n_tasks(scenario), MAX_JOBS),
        ("inodes", sum(_disk(scenario).inodes.values()), INODE_QUOTA),
        *((f"hours of one life of {job}", hours, limit) for job, hours, limit in
          _unresumed(scenario)),
    ]  # fmt: skip
    for what, found, limit in rows:
        yield (what, f"{found:,.4g}" if found < 100 else f"{found:,.0f}", f"{limit:,.0f}",
               "passed" if found > limit else "")  # fmt: skip
    for stage, an_answer in scenario.costs.journal_bytes.items():
        n_parts = sum(
            sum(map(len, piece.tasks))
            for piece in scenario.pieces
            if piece.job.template == "parts" and piece.job.stage == stage
        )
        size = an_answer * scenario.sizes.population / n_parts / 1e6
        yield (f"MB of one journal of {stage}, of {n_parts:,}", f"{size:,.2f}", "", "")


def _memory_breaks(scenario: Scenario) -> Iterator[Break]:
    for need in _needs(scenario):
        if need.given is not None and need.line.an_answer:
            n = (need.given - need.line.fixed) / need.line.an_answer
            yield Break(f"memory of {need.job}: {need.given / GIB:,.0f} GiB", n)


def _life_breaks(scenario: Scenario) -> Iterator[Break]:
    """Yield when work that begins anew in each life fits into none."""
    for job, _, limit in _unresumed(scenario):
        line = scenario.costs.cpu_s[job]
        if line.an_answer:
            n = (limit * HOUR_S - line.fixed) / line.an_answer
            yield Break(f"time of {job}: one life of {limit:,.1f} h", n)


def _array_breaks(scenario: Scenario) -> Iterator[Break]:
    """Yield when the lives of the slowest task do not suffice: its work grows with the answers."""
    slowest: dict[str, float] = {}
    for job in {piece.job.name: piece.job for piece in scenario.pieces}.values():
        if job.template not in ("predict", "parts"):
            continue
        limit = parse_time(str(job.resources.time)) - scenario.lead_s
        for task in job.tasks[:1] if job.template == "parts" else job.tasks:
            time = scenario.times(job, task)
            n = scenario.sizes.population / time.work_s * scenario.lives * (limit - time.setup_s)
            what = f"time of {job.name}: {scenario.lives} lives of {limit / HOUR_S:,.1f} h"
            slowest[what] = min(slowest.get(what, math.inf), n)
    yield from (Break(what, n) for what, n in slowest.items())


def _break_rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    yield ("limit", "passed at so many answers under repair")
    for each in find_breaks(scenario)[:N_ROWS]:
        # Two digits: the lines are not better known.
        yield (each.what, f"{float(f'{each.n_answers:.1e}'):,.0f}")


def _is_of(job: str, stage: str) -> bool:
    return {"verify": job == "verify", "propose": job == "rewrite"}.get(
        stage, job.startswith("judge-")
    )


def _unresumed(scenario: Scenario) -> Iterator[tuple[str, float, float]]:
    """Yield the jobs whose work must fit into one life: its hours, and those of the limit."""
    for piece in scenario.pieces:
        if piece.job.template in ("stage", "report"):
            hours = sum(scenario.times(piece.job, "")) / HOUR_S
            limit = parse_time(str(piece.job.resources.time)) - scenario.lead_s
            yield piece.job.name, hours, limit / HOUR_S


def _n_tasks(scenario: Scenario) -> int:
    return sum(len(piece.tasks) for piece in scenario.pieces)


def _needs(scenario: Scenario) -> list[Need]:
    return list(memory_needs(scenario.pieces, scenario.sizes, scenario.costs))


def _disk(scenario: Scenario) -> Disk:
    return disk_of(scenario.config, scenario.pieces, scenario.sizes, scenario.costs)


def _read(scenario: Scenario) -> float:
    return read_bytes(scenario.pieces, scenario.sizes, scenario.costs)


def _table(title: str, rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield from ("", f"{title}:", *_aligned(rows))


def _aligned(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    held = list(rows)
    columns = list(zip(*held, strict=True))
    widths = [max(map(len, column)) for column in columns]
    are_numbers = [all(cell[:1].isdecimal() for cell in own[1:] if cell) for own in columns]
    for row in held:
        cells = (
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, are_numbers, strict=True)
        )
        yield "  " + "  ".join(cells).rstrip()


if __name__ == "__main__":
    n_small, n_large = map(int, sys.argv[1:3] or (N_SMALL, N_LARGE))
    for text in tables(measure_stages(n_small, n_large)):
        print(text)  # noqa: T201 - its result
