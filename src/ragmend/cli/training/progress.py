"""How far each training of a run is, for `ragmend status`."""

from ragmend.cli.context import Context
from ragmend.cli.training.plan import RunName, name_of
from ragmend.cli.training.runner import inspect_training
from ragmend.errors import RagmendError
from ragmend.io import read_record
from ragmend.manifest import read_manifest
from ragmend.paths import manifest_path
from ragmend.run_lock import inspect_lock
from ragmend.trained import HealthReport


def describe_training(context: Context, run_id: str) -> str:
    """Say in one line how far a training is, how healthy, and whether it predicted."""
    run = name_of(context.config, run_id)
    paths = context.paths.training(run_id)
    helps = f"ragmend detect train … --model {run.model} --seed {run.seed}"
    lock = inspect_lock(paths.lock)
    who = "" if lock is None else f"; {lock.describe(context.paths.root)}"
    if not paths.begun.exists():
        return f"missing ({helps}){who}"
    try:
        return f"{_describe(context, run, helps)}{who}"
    except (RagmendError, OSError) as error:
        return f"damaged: cannot be read: {error} ({helps} --redo){who}"


def _describe(context: Context, run: RunName, helps: str) -> str:
    paths = context.paths.training(run.run_id)
    state = inspect_training(context, run)
    if state.kind == "absent":
        n_steps = paths.log.read_bytes().count(b"\n") if paths.log.exists() else 0
        return f"partial, {n_steps:,} steps ({helps})"
    if state.kind != "complete":
        return f"{state.kind}: {'; '.join(state.reasons)} ({helps} --redo)"
    health = read_record(paths.health, HealthReport)
    done = read_manifest(manifest_path(context.paths.detections(run.run_id))) is not None
    return f"complete, {health.verdict}, {'predicted' if done else 'not predicted'}"
