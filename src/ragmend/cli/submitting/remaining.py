"""What of a run is complete already and needs no job: its own files say so, never the queue."""

from collections.abc import Iterator
from typing import NamedTuple

from ragmend.cli.context import Context, Stage
from ragmend.cli.engine import inspect_stage
from ragmend.cli.sharding.parts import SHARDED_STAGES, read_plan
from ragmend.cli.sharding.states import inspect_parts
from ragmend.cli.stages import STAGES
from ragmend.errors import RunStateError
from ragmend.paths import StageName
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.graph import Asked, Done, parted_roles

FOLDS = {stage: f"{stage}-fold" for stage in SHARDED_STAGES}


class Remaining(NamedTuple):
    """What is done, and the cluster file with the numbers of shards that are fixed.

    Attributes:
        done: What needs no job.
        cluster: The cluster file; shards of stages that were begun are as they were.
        notes: What a person must know of it.
    """

    done: Done
    cluster: ClusterConfig
    notes: tuple[str, ...]


def find_remaining(context: Context, cluster: ClusterConfig) -> Remaining:
    """Find out what of a run needs no job.

    Raises:
        RunStateError: A stage or training is stale or damaged.
        DataError: A file that would tell cannot be read.
    """
    cluster, notes = _with_fixed_shards(context, cluster)
    jobs: set[str] = set()
    tasks: dict[str, frozenset[str]] = {}
    if context.config.detector.kind == "trained":
        tasks |= _detectors(context)
    for stage in STAGES:
        if _is_complete(stage, context):
            jobs |= _jobs_of(stage.name, context, cluster)
        elif stage.name in FOLDS:
            tasks |= _shards(stage, context, cluster)
    again: frozenset[StageName] = frozenset()
    if "analyze" in jobs and _lacks_detectors(context, tasks):
        jobs -= {"analyze", "report"}
        again = frozenset({"analyze"})
    return Remaining(Done(frozenset(jobs), tasks, again), cluster, notes)


def _with_fixed_shards(
    context: Context, cluster: ClusterConfig
) -> tuple[ClusterConfig, tuple[str, ...]]:
    """Keep the number of shards of a stage that was begun: its answers are parted so."""
    fixed: dict[str, int] = {}
    for stage in STAGES:
        if stage.name in FOLDS:
            was = read_plan(stage.manifest(context).parent)
            if was is not None and was != getattr(cluster.shards, stage.name):
                fixed[stage.name] = was
    notes = tuple(
        f"{stage} was begun in {n} shards and goes on in as many (shards.{stage} says "
        f"{getattr(cluster.shards, stage)})"
        for stage, n in fixed.items()
    )
    shards = cluster.shards.model_copy(update=fixed)
    return cluster.model_copy(update={"shards": shards}), notes


def _detectors(context: Context) -> dict[str, frozenset[str]]:
    from ragmend.cli.training.plan import name_of
    from ragmend.cli.training.predicting import predict_stage
    from ragmend.cli.training.runner import inspect_training

    trained, predicted = set(), set()
    for run_id in context.config.trainings.run_ids():
        run = name_of(context.config, run_id)
        state = inspect_training(context, run)
        if state.kind in ("stale", "damaged"):
            raise RunStateError(
                f"training {run_id} is {state.kind}: {'; '.join(state.reasons)}. `ragmend detect "
                f"train … --model {run.model} --seed {run.seed} --redo` trains it again"
            )
        if state.kind == "complete":
            trained.add(run_id)
            if _is_complete(predict_stage(run), context):
                predicted.add(run_id)
    return {"train": frozenset(trained), "predict": frozenset(predicted)}


def _is_complete(stage: Stage, context: Context) -> bool:
    if not stage.manifest(context).exists():
        return False
    state = inspect_stage(stage, context)
    if state.kind in ("stale", "damaged"):
        raise RunStateError(
            f"stage {stage.name} is {state.kind}: {'; '.join(state.reasons)}. `{stage.redo}` does "
            "it and all later stages again; another --out makes a new run"
        )
    return state.kind == "complete"


def _jobs_of(stage: StageName, context: Context, cluster: ClusterConfig) -> set[str]:
    if stage == "detect" and context.config.detector.kind == "trained":
        return set()  # told one by one
    if stage not in FOLDS:
        return {stage}
    asked = parted_roles(context.config, cluster)
    return {FOLDS[stage], *(each.job for each in asked if each.stage == stage)}


def _shards(stage: Stage, context: Context, cluster: ClusterConfig) -> dict[str, frozenset[str]]:
    """Return the shards of a stage that are answered without a fault, by the job that asks."""
    done: dict[str, set[str]] = {}
    for state in inspect_parts(context, stage):
        if state.kind == "done":
            done.setdefault(state.part.role, set()).add(str(state.part.shard))
    asked = [each for each in parted_roles(context.config, cluster) if each.stage == stage.name]
    return dict(_in_order(asked, done))


def _in_order(
    asked: list[Asked], done: dict[str, set[str]]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each job's shards; what is asked about rewrites is not done before these are."""
    rewritten = done.get("rewriter", set())
    for each in asked:
        own = done.get(each.role, set())
        yield each.job, frozenset(own & rewritten if each.job == "verify-edits" else own)


def _lacks_detectors(context: Context, tasks: dict[str, frozenset[str]]) -> bool:
    """Tell whether detectors are missing that tables will have once they have predicted."""
    if context.config.detector.kind != "trained":
        return False
    return len(tasks["predict"]) < len(context.config.trainings.run_ids())
