"""Runs stages in order: skips what is complete, refuses what is stale, resumes what is not."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from ragmend.cli.context import Context, Outcome, Stage, say
from ragmend.cli.protocol import amend_lock, check_lock
from ragmend.config import dump_config
from ragmend.errors import DataError, FaultError, MissingInputError, RunStateError
from ragmend.io import write_bytes, write_records
from ragmend.manifest import Manifest, State, hash_files, inspect, now, write_manifest
from ragmend.paths import STAGE_NAMES, StageName, faults_path
from ragmend.records import record_order


def run_stages(
    context: Context,
    stages: Sequence[Stage],
    *,
    only: StageName | None = None,
    redo: StageName | None = None,
) -> None:
    """Run the stages that are not complete.

    Args:
        context: The run.
        stages: All stages in order.
        only: Run no other stage than this one; those before it must be complete.
        redo: Discard this stage and all after it first.

    Raises:
        RunStateError: A complete stage's inputs or settings changed, or files were damaged;
            nothing was written.
        FaultError: Answers are faulty and were not accepted.
        RagmendError: Whatever the stages raise; what is done stays.
    """
    first_redone = len(stages) if redo is None else STAGE_NAMES.index(redo)
    for stage in stages[:first_redone]:
        _refuse_stale(stage, inspect_stage(stage, context))
    prepare_folder(context)
    if redo is not None:
        amend_lock(context, redo)
        for stage in stages[first_redone:]:
            _discard(stage, context)
    for stage in stages:
        _run_stage(stage, context, only)
        if stage.name == only:
            return


def prepare_folder(context: Context) -> None:
    """Create the run folder with its configuration.

    Raises:
        DataError: The path is a file.
        RunStateError: The folder holds something else than a run.
    """
    root = context.paths.root
    if root.exists() and not root.is_dir():
        raise DataError(f"--out {root}: is a file, a folder was expected")
    if root.is_dir() and any(root.iterdir()) and not context.paths.config.is_file():
        raise RunStateError(f"--out {root}: the folder is not empty and is not a run")
    content = dump_config(context.config)
    if not context.paths.config.is_file() or context.paths.config.read_bytes() != content:
        write_bytes(context.paths.config, content)


def inspect_stage(stage: Stage, context: Context) -> State:
    """Tell whether a stage is absent, complete, stale or damaged."""
    return inspect(
        stage.manifest(context),
        settings=stage.settings(context.config),
        inputs=stage.inputs(context),
        root=context.paths.root,
    )


def _run_stage(stage: Stage, context: Context, only: StageName | None) -> None:
    _refuse_missing_inputs(stage, context)
    state = inspect_stage(stage, context)
    _refuse_stale(stage, state)
    if state.kind == "complete":
        say(f"{stage.name:9} complete, skipped")
    elif only is not None and stage.name != only:
        raise RunStateError(f"stage {stage.name} is not complete; {only} needs it")
    else:
        _execute(stage, context)


def _refuse_stale(stage: Stage, state: State) -> None:
    if state.kind in ("stale", "damaged"):
        raise RunStateError(
            f"stage {stage.name} is {state.kind}: {'; '.join(state.reasons)}. Use --redo "
            f"{stage.name} to do it and all later stages again, or another --out for a new run"
        )


def _refuse_missing_inputs(stage: Stage, context: Context) -> None:
    for name, path in stage.inputs(context).items():
        if not path.is_file():
            raise MissingInputError(f"stage {stage.name} needs {name}, which is not there: {path}")


def _execute(stage: Stage, context: Context) -> None:
    if stage.name not in ("detect", "select"):
        check_lock(context)
    started_at, started = now(), time.monotonic()
    outcome = stage.execute(context)
    folder = stage.manifest(context).parent
    outputs = list(outcome.outputs)
    if outcome.faults:
        write_records(faults_path(folder), outcome.faults)
        _refuse_faults(stage, context, outcome, folder)
        outputs.append(faults_path(folder))
    else:
        faults_path(folder).unlink(missing_ok=True)
    _write_manifest(stage, context, outcome, outputs, started_at)
    shutil.rmtree(folder / "shards", ignore_errors=True)
    counts = ", ".join(f"{name} {_plain(value)}" for name, value in outcome.counts.items())
    say(f"{stage.name:9} {time.monotonic() - started:6.1f} s  {counts}")


def _refuse_faults(stage: Stage, context: Context, outcome: Outcome, folder: Path) -> None:
    faults = outcome.faults
    records = sorted({fault.record_id for fault in faults}, key=record_order)
    names = ", ".join(records[:5]) + (", …" if len(records) > 5 else "")
    message = (
        f"stage {stage.name}: {len(faults)} faulty answers (records {names}), listed in "
        f"{faults_path(folder)}"
    )
    if context.accept_faults is None:
        for output in outcome.outputs:
            output.unlink()  # incomplete; the journal keeps what was answered
        raise FaultError(
            f"{message}. What is done is kept: run again to try only these again, or go on "
            'without these records by --accept-faults "reason"'
        )
    say(f"{message}; accepted: {context.accept_faults}")


def _write_manifest(
    stage: Stage, context: Context, outcome: Outcome, outputs: Sequence[Path], started_at: str
) -> None:
    named = {context.paths.relative(path): path for path in outputs}
    write_manifest(
        stage.manifest(context),
        Manifest(
            stage=stage.name,
            settings=stage.settings(context.config),
            inputs=hash_files(stage.inputs(context)),
            outputs=hash_files(named),
            counts=outcome.counts,
            models=dict(outcome.models),
            seed=outcome.seed,
            n_faults=len(outcome.faults),
            accepted_faults=context.accept_faults if outcome.faults else None,
            started_at=started_at,
            ended_at=now(),
            **context.environment._asdict(),
        ),
    )


def _discard(stage: Stage, context: Context) -> None:
    """Take a stage back: its manifest first, so that a kill in between leaves it incomplete."""
    state_file = stage.manifest(context)
    try:
        outputs = list(Manifest.model_validate_json(state_file.read_bytes()).outputs)
    except (FileNotFoundError, ValueError):
        outputs = []  # never complete: the stage overwrites what it left
    state_file.unlink(missing_ok=True)
    for name in outputs:
        (context.paths.root / name).unlink(missing_ok=True)
    shutil.rmtree(state_file.parent / "shards", ignore_errors=True)


def _plain(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
