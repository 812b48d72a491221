"""The experiment as jobs: which tasks there are, what each needs, and what it waits for.

A function of the configuration and of what is done already; nothing of a cluster's state is in it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from ragmend.config import Config
from ragmend.paths import StageName
from ragmend.slurm.cluster import (
    ClusterConfig,
    EnvironmentConfig,
    EnvironmentName,
    ResourceName,
    Resources,
)
from ragmend.slurm.times import format_time, parse_time

DOCTOR_S = 900
"""What a doctor gets beside the time that a server may take to start."""

Template = Literal["train", "predict", "stage", "parts", "doctor", "report"]
DependencyKind = Literal["afterok", "aftercorr", "afterany"]


class After(NamedTuple):
    """One thing that a job waits for.

    Attributes:
        kind: `afterok`: until it has succeeded; `aftercorr`: each task until the task of the same
            name has; `afterany`: until it has ended.
        job: The other job.
        task: Only this task of it; None: all of them.
    """

    kind: DependencyKind
    job: str
    task: str | None = None


class Job(NamedTuple):
    """One job: a task, or an array of them.

    Attributes:
        name: Unique in the graph: "verify", "verify-fold", "judge-qwen".
        stage: What it is about, for people: a stage, or "train", "doctor".
        template: The script it is rendered from.
        tasks: What each task does: a training's name or a shard's number; ("",) without an array.
        settings: What the script's settings are set to.
        environment: Where it runs.
        resources: What a task gets.
        after: What it waits for.
        role: The role that answers, where one does.
        kind: Which section of the cluster file its resources are of.
    """

    name: str
    stage: str
    template: Template
    tasks: tuple[str, ...]
    settings: Mapping[str, str]
    environment: EnvironmentConfig
    resources: Resources
    after: tuple[After, ...] = ()
    role: str | None = None
    kind: ResourceName = "cpu"

    @property
    def is_array(self) -> bool:
        """Whether its tasks are those of an array."""
        return self.tasks != ("",)


class Done(NamedTuple):
    """What needs no job any more.

    Attributes:
        jobs: Jobs that are complete, by name.
        tasks: Tasks that are complete, by the name of their job.
        again: Stages that are complete, but will not be when what is missing is there: their jobs
            discard them first.
    """

    jobs: frozenset[str] = frozenset()
    tasks: Mapping[str, frozenset[str]] = {}
    again: frozenset[StageName] = frozenset()


class Asked(NamedTuple):
    """One role's questions in a stage: an array over shards."""

    job: str
    stage: StageName
    role: str
    n_shards: int

    @property
    def shards(self) -> tuple[str, ...]:
        """The shards' numbers, as tasks are named."""
        return tuple(map(str, range(self.n_shards)))


def build_graph(config: Config, cluster: ClusterConfig, done: Done | None = None) -> list[Job]:
    """Return the jobs of an experiment, each after those that it waits for.

    Args:
        config: The experiment.
        cluster: Where it is to run.
        done: What is complete; jobs and tasks that are get no job, and nobody waits for them.

    Raises:
        ConfigError: The cluster file lacks what a stage needs.
    """
    done = Done() if done is None else done
    jobs: list[Job] = []
    for job in _all_jobs(config, cluster, done):
        if job.name in done.jobs:
            continue
        left = tuple(t for t in job.tasks if t not in done.tasks.get(job.name, frozenset()))
        if left:
            jobs.append(job._replace(tasks=left))
    present = {job.name: frozenset(job.tasks) for job in jobs}
    return [_without_done(job, present) for job in jobs]


def parted_roles(config: Config, cluster: ClusterConfig) -> list[Asked]:
    """Return every role that is asked in shards, in the order of the graph."""
    shards = cluster.shards
    return [
        Asked("verify", "verify", "verifier", shards.verify),
        Asked("rewrite", "propose", "rewriter", shards.propose),
        Asked("verify-edits", "propose", "verifier", shards.propose),
        *(
            Asked(f"judge-{job_name(judge.name)}", "judge", judge.name, shards.judge)
            for judge in config.judges.panel
        ),
    ]


def job_name(role: str) -> str:
    """Return a role's name as a part of job and file names; a judge may be called anything."""
    # "judge-fold" is the job that takes all judges together.
    if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", role) and role != "fold":
        return role
    digest = hashlib.sha256(role.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', role)[:30].strip('-')}-{digest}".lstrip("-")


def population_run(config: Config) -> str:
    """Return the training whose verdicts define the population."""
    return config.population.run or config.trainings.run_ids()[0]


def _all_jobs(config: Config, cluster: ClusterConfig, done: Done) -> Iterator[Job]:
    builder = _Builder(config, cluster, done)
    analyze = builder.cpu("analyze", "analyze", _analyze_after(config), resources="analyze")
    jobs = [*builder.detecting(), *builder.repairing(), *builder.judging(), analyze]
    everything = tuple(After("afterany", job.name) for job in jobs)
    yield from jobs
    yield builder.report(everything)


def _analyze_after(config: Config) -> tuple[After, ...]:
    judged = After("afterok", "judge-fold")
    if config.detector.kind != "trained":
        return (judged,)
    # A table of all detectors waits for all of them, and does without one that failed.
    return judged, After("afterany", "predict")


def _without_done(job: Job, present: Mapping[str, frozenset[str]]) -> Job:
    """Drop what a job waits for no longer: old ids say nothing, the stage's own files do."""
    after = tuple(
        each
        for each in job.after
        if each.job in present and (each.task is None or each.task in present[each.job])
    )
    return job._replace(after=after)


class _Builder(NamedTuple):
    """Makes the jobs of one experiment on one cluster."""

    config: Config
    cluster: ClusterConfig
    done: Done

    def detecting(self) -> Iterator[Job]:
        """Yield the detectors, and the selection of what one of them flagged."""
        if self.config.detector.kind != "trained":
            yield self.cpu("detect", "detect", ())
            yield self.cpu("select", "select", (After("afterok", "detect"),))
            return
        runs = self.config.trainings.run_ids()
        train = self._job("train", "train", "train", "train", runs)
        yield train
        predict = self._job("predict", "detect", "predict", "train", runs, kind="predict")
        yield predict._replace(after=(After("aftercorr", "train"),))
        followed = After("afterok", "predict", population_run(self.config))
        yield self.cpu("select", "select", (followed,))

    def is_done(self, asked: Asked) -> bool:
        """Tell whether all shards of a role are complete."""
        tasks = self.done.tasks.get(asked.job, frozenset())
        return asked.job in self.done.jobs or tasks.issuperset(asked.shards)

    def repairing(self) -> Iterator[Job]:
        """Yield everything from claims to repaired answers."""
        yield self.cpu("split", "split", (After("afterok", "select"),))
        yield self.cpu("match", "match", (After("afterok", "split"),))
        verify, rewrite, verify_edits = parted_roles(self.config, self.cluster)[:3]
        yield from self._asking(verify, (After("afterok", "match"),))
        yield self.fold("verify", ("verify",))
        yield from self._asking(rewrite, (After("afterok", "verify-fold"),))
        # The verifier is asked in two stages, and looked at once.
        yield from self._asking(
            verify_edits, (After("aftercorr", "rewrite"),), has_doctor=self.is_done(verify)
        )
        yield self.fold("propose", ("verify-edits",))
        yield self.cpu("assemble", "assemble", (After("afterok", "propose-fold"),))

    def judging(self) -> Iterator[Job]:
        """Yield the judges beside one another, and what takes their answers together."""
        judges = parted_roles(self.config, self.cluster)[3:]
        for judge in judges:
            yield from self._asking(judge, (After("afterok", "assemble"),))
        yield self.fold("judge", tuple(judge.job for judge in judges))

    def cpu(
        self,
        name: str,
        stage: StageName,
        after: tuple[After, ...],
        *,
        resources: ResourceName = "cpu",
        fold: bool = False,
    ) -> Job:
        """Return a job of one task that runs a stage without a model."""
        settings = {
            "stage": stage,
            "fold": "--fold" if fold else "",
            "redo": "--redo" if stage in self.done.again else "",
        }
        return self._job(name, stage, "stage", "base", kind=resources, settings=settings)._replace(
            after=after
        )

    def fold(self, stage: StageName, after: tuple[str, ...]) -> Job:
        """Return the job that takes a stage's shards together."""
        waits = tuple(After("afterok", name) for name in after)
        return self.cpu(f"{stage}-fold", stage, waits, fold=True)

    def report(self, after: tuple[After, ...]) -> Job:
        """Return the job that reports what there is, however the others ended."""
        return self._job("report", "report", "report", "base", kind="analyze")._replace(after=after)

    def _asking(
        self, asked: Asked, after: tuple[After, ...], *, has_doctor: bool = True
    ) -> Iterator[Job]:
        """Yield a role's array over shards, and before it the doctor of a role that is served."""
        is_served = self.is_served(asked.role)
        doctor = f"doctor-{job_name(asked.role)}"
        if is_served and has_doctor and not self.is_done(asked):
            yield self._doctor(doctor, asked.role)
        settings = {
            "stage": asked.stage,
            "role": asked.role,
            "shards": str(asked.n_shards),
            "serve": "--serve" if is_served else "",
        }
        kind, environment = self._place(asked.role)
        waits = (*after, After("afterok", doctor)) if is_served else after
        yield self._job(
            asked.job,
            asked.stage,
            "parts",
            environment,
            asked.shards,
            kind=kind,
            role=asked.role,
            settings=settings,
        )._replace(after=waits)

    def is_served(self, role: str) -> bool:
        """Tell whether tasks start a server of their own; one that is named is elsewhere."""
        return self.config.roles()[role].backend == "openai" and role not in self.config.servers

    def _doctor(self, name: str, role: str) -> Job:
        kind, environment = self._place(role)
        job = self._job(
            name, "doctor", "doctor", environment, kind=kind, role=role, settings={"role": role}
        )
        # A start and a question, however long the arrays' tasks may take: a short job starts soon.
        limit = int(self.config.serve.ready_s) + DOCTOR_S
        if parse_time(str(job.resources.time)) <= limit:
            return job
        return job._replace(resources=job.resources.model_copy(update={"time": format_time(limit)}))

    def _place(self, role: str) -> tuple[ResourceName, EnvironmentName]:
        if self.is_served(role):
            return "served", "serve"
        # A model in the process wants torch, which [train] has.
        if self.config.roles()[role].backend == "transformers":
            return "served", "train"
        return "embedded", "base"

    def _job(
        self,
        name: str,
        stage: str,
        template: Template,
        environment: EnvironmentName,
        tasks: tuple[str, ...] = ("",),
        *,
        kind: ResourceName = "train",
        role: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Job:
        return Job(
            name=name,
            stage=stage,
            template=template,
            tasks=tasks,
            settings={} if settings is None else settings,
            environment=self.cluster.environment_of(environment),
            resources=self.cluster.resources_of(kind, role),
            role=role,
            kind=kind,
        )
