"""`ragmend detect train`: one training from its data to its verdict, resumable at each step."""

import shutil
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from pydantic import JsonValue

from ragmend.cli.context import Context, format_counts, say
from ragmend.cli.engine import check_folder, write_config
from ragmend.cli.protocol import refuse_locked
from ragmend.cli.training.before import show_before
from ragmend.cli.training.cards import write_card
from ragmend.cli.training.evaluating import evaluate_epochs
from ragmend.cli.training.plan import (
    Plan,
    RunName,
    plan_training,
    read_training_data,
    training_inputs,
    training_settings,
)
from ragmend.detector.training.choosing import chosen_epoch
from ragmend.detector.training.job import CHECKPOINTS, Watch
from ragmend.detector.training.splitting import TrainingSplit
from ragmend.errors import ConfigError, OutputError, RunStateError
from ragmend.io import (
    dump_record,
    read_record,
    read_records,
    write_bytes,
)
from ragmend.manifest import Manifest, State, hash_files, inspect, now, write_manifest
from ragmend.run_lock import FileLock
from ragmend.trained import HealthReport, LogRow, TrainingStart

LIBRARIES = ("torch", "transformers", "peft", "bitsandbytes", "trl", "accelerate", "datasets",
             "tokenizers", "safetensors")  # fmt: skip


def inspect_training(context: Context, run: RunName) -> State:
    """Tell whether a training is absent, complete, stale or damaged."""
    return inspect(
        context.paths.training(run.run_id).manifest,
        settings=training_settings(context.config, run),
        inputs=training_inputs(context.config),
        root=context.paths.root,
    )


def prepare_training(context: Context) -> None:
    """Find out whether anything can be trained here; nothing is written.

    Raises:
        ConfigError: The configuration has nothing to train, or the libraries are not there.
        RunStateError: The folder holds something else.
    """
    config = context.config
    if config.detector.kind != "trained":
        raise ConfigError(
            f"detector.kind is {config.detector.kind!r}: only 'trained' detectors are trained"
        )
    require_training_libraries()
    check_folder(context.paths.root)
    read_training_data(config)


def require_training_libraries() -> None:
    """Find out whether the libraries of the extra `[train]` are there.

    Raises:
        ConfigError: One is not.
    """
    missing = [name for name in LIBRARIES if name not in library_versions()]
    if missing:
        raise ConfigError(
            f"training needs {', '.join(missing)}, not installed here: pip install torch==2.13.0 "
            "&& pip install 'ragmend[train]'"
        )


def train_run(context: Context, run: RunName, watch: Watch, *, redo: bool) -> None:
    """Train one detector, choose its epoch, and find out how it is.

    Args:
        context: The run folder and its configuration.
        run: Which training.
        watch: Whether a signal asks for an end.
        redo: Discard what is there first; the ledger of its test evaluations stays.

    Raises:
        RunStateError: It is complete with other settings or data, or begun with others.
        PreemptedError: A signal asked for an end; everything is saved.
        RagmendError: Whatever goes wrong; what is done stays.
    """
    plan = plan_training(context, run)
    try:
        with FileLock(plan.paths.lock, unlock=context.paths.root):
            _train_locked(context, plan, run, watch, redo=redo)
    finally:
        _remove_empty_folders(plan, context.paths.root)


def _train_locked(context: Context, plan: Plan, run: RunName, watch: Watch, *, redo: bool) -> None:
    refuse_locked(context, None)
    if redo:
        plan.kind.memory(plan.job)  # without a base, what is there would be lost for nothing
        _discard(plan)
    state = inspect_training(context, run)
    if state.kind in ("stale", "damaged"):
        raise RunStateError(
            f"training {run.run_id} is {state.kind}: {'; '.join(state.reasons)}. `ragmend "
            f"detect train … --model {run.model} --seed {run.seed} --redo` trains it again; "
            "another --out makes a new run"
        )
    if state.kind == "complete":
        # A kill behind the manifest may have left what only a resumed training needs.
        _tidy(plan, read_record(plan.paths.health, HealthReport))
        say(f"{run.run_id}: trained already, skipped (--redo trains it again)")
        return
    _train(context, plan, run, watch)


def _train(context: Context, plan: Plan, run: RunName, watch: Watch) -> None:
    started_at, started = now(), time.monotonic()
    inputs = hash_files(training_inputs(context.config))
    data, split = read_training_data(context.config)
    for note in data.notes:
        say(f"{'data':9} {note}")
    show_before(plan, split)
    _begin(context, plan, run, split, inputs)
    plan.kind.fit(plan.job, split.train, list(plan.kind.batches(plan.job, split.probe)), watch)
    trained = evaluate_epochs(plan, split, watch)
    write_card(context, plan)
    outputs = _outputs(plan)
    counts: dict[str, JsonValue] = {
        "train": len(split.train),
        "development": len(split.development),
        "steps": len(list(read_records(plan.paths.log, LogRow))),
        "epoch": chosen_epoch(trained.scores).epoch,
        "health": trained.health.verdict,
    }
    manifest = Manifest(
        stage="train",
        settings=training_settings(context.config, run),
        inputs=inputs,
        outputs=hash_files({context.paths.relative(path): path for path in outputs}),
        counts=counts,
        models={plan.job.name: plan.job.trained.model.id},
        seed=run.seed,
        started_at=started_at,
        ended_at=now(),
        **context.environment._replace(
            packages=context.environment.packages | library_versions()
        )._asdict(),
    )
    write_manifest(plan.paths.manifest, manifest)
    _tidy(plan, trained.health)
    say(f"{run.run_id}: {time.monotonic() - started:.1f} s  {format_counts(counts)}")
    for reason in trained.health.reasons:
        say(f"{run.run_id}: {reason}")


def _remove_empty_folders(plan: Plan, root: Path) -> None:
    """Leave nothing behind where a training could not even begin."""
    folder = plan.paths.root
    while folder != root.parent:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:  # something is in it
            return
        folder = folder.parent


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that train, of those that are installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _begin(
    context: Context, plan: Plan, run: RunName, split: TrainingSplit, inputs: Mapping[str, str]
) -> None:
    """Write down what is trained; what was begun must be the same.

    Raises:
        RunStateError: It is not.
    """
    start = TrainingStart(
        settings=training_settings(context.config, run),
        inputs=dict(inputs),
        n_train=len(split.train),
        n_development=len(split.development),
        packages=library_versions(),
        **split.hashes(),
    )
    if not _has_steps(plan):
        write_config(context)
        write_bytes(plan.paths.begun, dump_record(start))
        return
    if not plan.paths.begun.exists():
        raise RunStateError(
            f"{plan.run_id}: {plan.paths.begun} is missing, so that nobody knows what was trained "
            "there; --redo begins again"
        )
    was = read_record(plan.paths.begun, TrainingStart)
    changed = list(_changed(was, start))
    if changed:
        raise RunStateError(
            f"{plan.run_id} was begun with other {', '.join(changed)} (see {plan.paths.begun}): "
            "put them back to go on, or --redo begins again"
        )
    write_config(context)
    say(f"{plan.run_id}: goes on")


def _has_steps(plan: Plan) -> bool:
    """Tell whether anything was trained: a step logged, weights, a checkpoint, answers."""
    root, log = plan.paths.root, plan.paths.log
    is_logged = log.exists() and log.stat().st_size > 0
    return is_logged or any(
        (root / name).exists() for name in ("epochs", CHECKPOINTS, plan.paths.in_memory.name)
    )


def _changed(was: TrainingStart, start: TrainingStart) -> Iterator[str]:
    """Yield what differs, of settings each by its name."""
    for name, value in start:
        if name == "settings":
            yield from (key for key in value if was.settings.get(key) != value[key])
        elif getattr(was, name) != value:
            yield name


def _outputs(plan: Plan) -> list[Path]:
    """Return all that a complete training consists of; the card changes later, so it is not."""
    paths = plan.paths
    weights = [path for path in sorted(paths.adapter.iterdir()) if path != paths.card]
    records = (
        paths.begun, paths.lengths, paths.log, paths.in_memory, paths.probe, paths.development,
        paths.epochs, paths.health,
    )  # fmt: skip
    return [*records, *weights]


def _tidy(plan: Plan, health: HealthReport) -> None:
    """Take away what only a resumed training needs; a failed one keeps its epochs to look at."""
    shutil.rmtree(plan.paths.root / "checkpoints", ignore_errors=True)
    if health.verdict != "failed":
        shutil.rmtree(plan.paths.root / "epochs", ignore_errors=True)
    for folder in (plan.paths.root / "development").iterdir():
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)


def _discard(plan: Plan) -> None:
    """Take a training back, its manifest first; its ledger stays, for what was seen was seen."""
    plan.paths.manifest.unlink(missing_ok=True)
    kept = {plan.paths.ledger, plan.paths.lock, plan.paths.begun}
    for path in sorted(plan.paths.root.iterdir()):
        if path in kept:
            continue
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError as error:
            raise OutputError.of(path, error) from error
    # Last of all: while anything is left, it says of what.
    plan.paths.begun.unlink(missing_ok=True)
