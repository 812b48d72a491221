"""Runs stages in order: skips what is complete, refuses what is stale, resumes what is not."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import Context, Outcome, Stage, format_counts, say
from ragmend.cli.protocol import amend_lock, is_lock_readable, mark_judging, refuse_locked
from ragmend.cli.sharding.states import read_fold, refuse_parts_at_work
from ragmend.config import dump_config
from ragmend.errors import (
    ConfigError,
    DataError,
    FaultError,
    MissingInputError,
    RagmendError,
    RunStateError,
)
from ragmend.io import PARTIAL, write_bytes_of_many, write_records
from ragmend.manifest import Manifest, State, hash_files, inspect, now, write_manifest
from ragmend.paths import JOBS, SHARD_LOCKS, STAGE_NAMES, TRAINING, RunPaths, StageName, faults_path
from ragmend.records import record_order
from ragmend.run_lock import FileLock


def run_stages(
    context: Context,
    stages: Sequence[Stage],
    *,
    only: StageName | None = None,
    redo: StageName | None = None,
    fold: bool = False,
) -> None:
    """Run the stages that are not complete.

    Args:
        context: The run.
        stages: All stages in order.
        only: Run no other stage than this one; those before it must be complete.
        redo: Discard this stage and all after it first.
        fold: Make the one stage of what was answered in parts, and ask nobody.

    Raises:
        ConfigError: `only` and `redo` name different stages, or nothing is named to fold.
        MissingInputError: A part of what is folded is not complete.
        RunStateError: A complete stage's inputs or settings changed, files were damaged, the
            protocol is locked otherwise, or another command writes into this folder; nothing
            was written or discarded.
        FaultError: Answers are faulty and were not accepted.
        RagmendError: Whatever the stages raise; what is done stays.
    """
    if only is not None and redo is not None and only != redo:
        raise ConfigError(f"--only {only} and --redo {redo} name different stages")
    if fold and (only is None or redo is not None):
        raise ConfigError("--fold goes with --only STAGE, and not with --redo")
    check_folder(context.paths.root)
    with run_lock(context.paths):
        _sweep(context.paths.root)
        _run_locked(context, stages, Chosen(only, redo, fold))


def run_alone(context: Context, stage: Stage, *, redo: bool) -> None:
    """Run one stage beside others of the same run, as one of many detectors; it has its own lock.

    Raises:
        RunStateError, FaultError, RagmendError: As `run_stages`.
    """
    check_folder(context.paths.root)
    stage.check(context)
    _refuse_missing_inputs(stage, context)
    state = inspect_stage(stage, context)
    if not redo:
        _refuse_stale(stage, state)
    refuse_locked(context, None)
    if state.kind == "complete" and not redo:
        _skip(stage, context)
        return
    write_config(context)
    _execute(stage, context)


def prepare_part(context: Context, stages: Sequence[Stage], stage: Stage) -> State:
    """Check that parts of a stage can be answered; return the state of the whole stage.

    Raises:
        RunStateError, MissingInputError, RagmendError: As `run_stages` with `only`.
    """
    check_folder(context.paths.root)
    first = stages[: STAGE_NAMES.index(stage.name) + 1]
    states = [inspect_stage(each, context) for each in first]
    for each, state in zip(first, states, strict=True):
        _refuse_stale(each, state)
    refuse_locked(context, None)
    for each, state in zip(first, states, strict=True):
        each.check(context)
        _refuse_missing_inputs(each, context)
        if each is not stage and state.kind != "complete":
            raise _incomplete(each, stage.name)
    return states[-1]


def run_lock(paths: RunPaths) -> FileLock:
    """Return the lock under which everything in a run folder is written."""
    return FileLock(paths.run_lock, unlock=paths.root)


class Chosen(NamedTuple):
    """What is to be done of all stages; as `run_stages`."""

    only: StageName | None
    redo: StageName | None
    fold: bool


def _run_locked(context: Context, stages: Sequence[Stage], chosen: Chosen) -> None:
    redo = chosen.redo
    for stage in stages[: None if redo is None else STAGE_NAMES.index(redo)]:
        _refuse_stale(stage, inspect_stage(stage, context))
    refuse_locked(context, redo)
    is_fresh = not context.paths.config.is_file()
    write_config(context)
    try:
        _run_in_order(context, stages, chosen)
    except RagmendError:
        if is_fresh:
            _remove_if_only_config(context)
        raise


def _run_in_order(context: Context, stages: Sequence[Stage], chosen: Chosen) -> None:
    for number, stage in enumerate(stages):
        stage.check(context)
        _refuse_missing_inputs(stage, context)
        if stage.name == chosen.redo:
            for later in stages[number:]:
                refuse_parts_at_work(later.manifest(context).parent)
            amend_lock(context, chosen.redo)
            # The last stage first: a kill in between leaves no stage before one that is gone.
            for later in reversed(stages[number:]):
                _discard(later, context)
        _run_stage(stage, context, chosen)
        if stage.name == chosen.only:
            return


def _remove_if_only_config(context: Context) -> None:
    """Leave nothing behind where a first run did nothing; an empty folder goes with the lock."""
    paths = context.paths
    if {path.name for path in paths.root.iterdir()} == {paths.config.name, paths.run_lock.name}:
        paths.config.unlink()


def _sweep(root: Path) -> None:
    """Take away what a killed command had begun to write; the lock says that none is at it."""
    for partial in sorted(root.rglob(f"*{PARTIAL}")):
        # Trainings and detectors that predict have locks of their own.
        is_at_work = any(
            (folder / RunPaths(root).run_lock.name).exists()
            for folder in list(partial.parents)[: -len(root.parents) - 1]
        ) or any(partial.parent.parent.glob(SHARD_LOCKS))  # nor do those who answer parts
        if partial.is_file() and partial.relative_to(root).parts[0] != TRAINING and not is_at_work:
            partial.unlink()


def check_folder(root: Path) -> None:
    """Check that a folder is a run, or may become one.

    Raises:
        DataError: It is a file.
        RunStateError: It holds something else.
    """
    if root.exists() and not root.is_dir():
        raise DataError(f"--out {root}: is a file, a folder was expected")
    present = [] if not root.is_dir() else [p.name for p in root.iterdir()]
    config, lock = RunPaths(root).config.name, RunPaths(root).run_lock.name
    # A kill leaves these, and so does who trains here and is about to write the configuration,
    # or who submitted jobs that will.
    mine = {lock, TRAINING, JOBS}
    others = [name for name in present if name not in mine and not _is_partial(name, config)]
    if config not in present and others:
        raise RunStateError(f"--out {root}: the folder is not empty and is not a run")


def _is_partial(name: str, config: str) -> bool:
    return name.startswith(config) and name.endswith(PARTIAL)


def inspect_stage(stage: Stage, context: Context) -> State:
    """Tell whether a stage is absent, complete, stale or damaged."""
    state = inspect(
        stage.manifest(context),
        settings=stage.settings(context.config),
        inputs=stage.inputs(context),
        root=context.paths.root,
    )
    if stage.name == "select" and state.kind == "complete" and not is_lock_readable(context):
        reason = f"{context.paths.lock.name} is missing or cannot be read (put it back if you can)"
        return State("damaged", (reason,), state.manifest)
    return state


def write_config(context: Context) -> None:
    """Write the resolved configuration into the run folder, unless it is there as it is."""
    content, path = dump_config(context.config), context.paths.config
    if path.is_file() and path.read_bytes() == content:
        return
    # Many trainings may begin at once in a new folder.
    write_bytes_of_many(path, content)


def _run_stage(stage: Stage, context: Context, chosen: Chosen) -> None:
    state, only = inspect_stage(stage, context), chosen.only
    _refuse_stale(stage, state)
    if state.kind == "complete":
        _skip(stage, context)
    elif only is not None and stage.name != only:
        raise _incomplete(stage, only)
    elif chosen.fold:
        _execute(stage, context._replace(fold=read_fold(context, stage)))
    else:
        refuse_parts_at_work(stage.manifest(context).parent, but=0)
        _execute(stage, context)


def _incomplete(stage: Stage, needed_by: StageName) -> RunStateError:
    return RunStateError(f"stage {stage.name} is not complete; {needed_by} needs it")


def _skip(stage: Stage, context: Context) -> None:
    """Say that a stage is complete, and do what a kill behind its manifest may have left undone."""
    shutil.rmtree(stage.manifest(context).parent / "shards", ignore_errors=True)
    stage.finish(context)
    say(f"{stage.name:9} complete, skipped")


def _refuse_stale(stage: Stage, state: State) -> None:
    if state.kind in ("stale", "damaged"):
        raise RunStateError(
            f"stage {stage.name} is {state.kind}: {'; '.join(state.reasons)}. "
            f"`{stage.redo}` does it and all later stages again; another --out makes a new run"
        )


def _refuse_missing_inputs(stage: Stage, context: Context) -> None:
    for name, path in stage.inputs(context).items():
        if path.is_dir():
            raise MissingInputError(f"{path}: is a directory, a file was expected")
        if not path.is_file():
            raise MissingInputError(f"stage {stage.name} needs {name}, which is not there: {path}")


def _execute(stage: Stage, context: Context) -> None:
    if stage.name == "judge":
        mark_judging(context)
    started_at, started = now(), time.monotonic()
    inputs = hash_files(stage.inputs(context))
    outcome = stage.execute(context)
    if hash_files(stage.inputs(context)) != inputs:
        raise RunStateError(f"stage {stage.name}: an input changed while it ran; run it again")
    outputs = _settle_faults(stage, context, outcome)
    write_manifest(
        stage.manifest(context),
        Manifest(
            stage=stage.name,
            settings=stage.settings(context.config),
            inputs=inputs,
            outputs=hash_files({context.paths.relative(path): path for path in outputs}),
            counts=outcome.counts,
            models=dict(outcome.models),
            servers=dict(outcome.servers),
            service=dict(outcome.service),
            seed=outcome.seed,
            n_units=outcome.n_units,
            n_faults=len(outcome.faults),
            accepted_faults=context.accept_faults if outcome.faults else None,
            started_at=started_at,
            ended_at=now(),
            **context.environment._asdict(),
        ),
    )
    shutil.rmtree(stage.manifest(context).parent / "shards", ignore_errors=True)
    stage.finish(context)
    say(f"{stage.name:9} {time.monotonic() - started:6.1f} s  {format_counts(outcome.counts)}")


def _settle_faults(stage: Stage, context: Context, outcome: Outcome) -> list[Path]:
    """Write the faults beside the decisions; return all outputs if they are accepted.

    Raises:
        FaultError: They are not; what was answered stays in the journal.
    """
    path = faults_path(stage.manifest(context).parent)
    if not outcome.faults:
        path.unlink(missing_ok=True)
        return list(outcome.outputs)
    write_records(path, outcome.faults)
    records = sorted({fault.record_id for fault in outcome.faults}, key=record_order)
    names = ", ".join(records[:5]) + (", …" if len(records) > 5 else "")
    message = (
        f"stage {stage.name}: {len(outcome.faults)} faulty answers (records {names}), listed in "
        f"{path}"
    )
    if context.accept_faults is None:
        for output in outcome.outputs:
            output.unlink()  # incomplete
        raise FaultError(
            f"{message}. What is done is kept: run again to try only these again, or go on "
            f"without these records by `{stage.accept}`"
        )
    say(f"{message}; accepted: {context.accept_faults}")
    return [*outcome.outputs, path]


def _discard(stage: Stage, context: Context) -> None:
    """Take a stage back: its manifest first, so that a kill in between leaves it incomplete."""
    if stage.name == "assemble":
        context.paths.exported.unlink(missing_ok=True)
    state_file = stage.manifest(context)
    try:
        outputs = list(Manifest.model_validate_json(state_file.read_bytes()).outputs)
    except (FileNotFoundError, ValueError):
        outputs = []  # never complete: the stage overwrites what it left
    state_file.unlink(missing_ok=True)
    for name in outputs:
        (context.paths.root / name).unlink(missing_ok=True)
    shutil.rmtree(state_file.parent / "shards", ignore_errors=True)
