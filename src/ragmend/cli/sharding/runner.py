"""Answers parts of a stage, each under its own lock, beside others of the same stage."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.asking import Asking, asking
from ragmend.cli.context import Context, PartOutcome, Stage, say
from ragmend.cli.engine import prepare_part
from ragmend.cli.protocol import mark_judging
from ragmend.cli.sharding.fold import Fold, add_usage
from ragmend.cli.sharding.journals import journals_of
from ragmend.cli.sharding.markers import ShardDone, write_done
from ragmend.cli.sharding.parts import Part, fix_plan, part_before, parts_of_stage, roles_of_stage
from ragmend.cli.sharding.states import (
    Basis,
    PartState,
    basis_of,
    command_of,
    inspect_part,
    sharded,
)
from ragmend.errors import ConfigError, MissingInputError, RunStateError
from ragmend.manifest import hash_files, now
from ragmend.paths import RunPaths, shard_done_path
from ragmend.run_lock import inspect_lock


class Wanted(NamedTuple):
    """Which parts of a stage are to be answered: some shards of a role."""

    role: str
    shards: Sequence[int]
    of: int


def run_parts(context: Context, stages: Sequence[Stage], stage: Stage, wanted: Wanted) -> None:
    """Answer parts of a stage that are not complete, one after the other.

    Faulty answers end nothing: the marker lists them, and the fold decides.

    Raises:
        ConfigError: There is no such part.
        MissingInputError: What a part begins with is not there.
        RunStateError: An earlier stage is not complete, or stale; the stage is answered in
            another number of shards; the part, or the whole run, is at work elsewhere.
        RagmendError: Whatever the stage raises; what is answered stays.
    """
    folder = stage.manifest(context).parent
    parts = _parts(context, stage, wanted)
    if prepare_part(context, stages, stage).kind == "complete":
        say(f"{stage.name:9} complete; its shards need no answers")
        return
    fix_plan(folder, wanted.of)
    basis = basis_of(context, stage)
    if stage.name == "judge":
        mark_judging(context)
    for part in parts:
        _run_part(context, stage, part, basis)


@contextmanager
def serving_parts(context: Context, stage: Stage, wanted: Wanted) -> Iterator[Context]:
    """Start the server of parts when it is first asked, and end it with the block.

    Its log is its own: many servers run at once.
    """
    from ragmend.cli.serving.keeper import ServerKeeper

    first = _parts(context, stage, wanted)[0]
    logs = context.paths.server_logs / f"{first.stage}-{first.number:04d}"
    with ServerKeeper(context.config.serve, logs) as keeper:
        yield context._replace(keeper=keeper)


def _parts(context: Context, stage: Stage, wanted: Wanted) -> list[Part]:
    roles = roles_of_stage(context.config, sharded(stage))
    if wanted.role not in roles:
        raise ConfigError(
            f"stage {stage.name}: no role {wanted.role!r} answers in it; there are: "
            f"{', '.join(roles)}"
        )
    parts = {
        part.shard: part
        for part in parts_of_stage(context.config, sharded(stage), wanted.of)
        if part.role == wanted.role
    }
    for shard in wanted.shards:
        if shard not in parts:
            raise ConfigError(f"--shard {shard}: expected 0 to {wanted.of - 1}, of {wanted.of}")
    return [parts[shard] for shard in dict.fromkeys(wanted.shards)]


def _run_part(context: Context, stage: Stage, part: Part, basis: Basis) -> None:
    folder = stage.manifest(context).parent
    before = _read_before(context, folder, part, basis)
    if _is_done(inspect_part(folder, part, basis)):
        return
    own = context._replace(part=part, fold=before)
    journals, started_at = journals_of(own, folder), now()
    with asking(part.stage, folder, context.config.client, journals=journals) as opened:
        # The part's lock is taken: whoever runs all of the stage from here on sees it.
        _refuse_whole_run(context.paths, stage.manifest(context))
        state = inspect_part(folder, part, basis)
        if _is_done(state):
            return
        outcome = _answer(stage, own, opened)
        if hash_files(stage.inputs(context)) != basis.inputs:
            raise RunStateError(f"stage {stage.name}: an input changed while it ran; run it again")
        opened.journal.sync()
        done = _done(own, basis, _with_earlier(outcome, state), started_at)
        write_done(folder, part, done)
    _say_done(folder, part, done)


def _answer(stage: Stage, context: Context, opened: Asking) -> PartOutcome:
    if stage.answer_part is None:
        raise ConfigError(f"stage {stage.name} has no shards")
    return stage.answer_part(context, opened)


def _read_before(context: Context, folder: Path, part: Part, basis: Basis) -> Fold | None:
    """Return what the part came to that this one begins with, if one does.

    Raises:
        MissingInputError: It is not complete.
    """
    before = part_before(part)
    if before is None:
        return None
    state = inspect_part(folder, before, basis)
    if not state.is_settled or state.done is None:
        why = f" ({'; '.join(state.reasons)})" if state.reasons else ""
        raise MissingInputError(
            f"stage {part.stage}, {part}: it begins with {before}, which is {state.kind}{why}; "
            f"`{command_of(context, before)}` comes first"
        )
    return Fold({before.number: state.done})


def _is_done(state: PartState) -> bool:
    part = state.part
    if state.kind == "done":
        say(f"{part.stage:9} {part}: complete, skipped")
    elif state.kind == "faulty":
        say(f"{part.stage:9} {part}: trying again what was faulty")
    elif state.reasons:
        say(f"{part.stage:9} {part}: its marker is {state.kind}: {'; '.join(state.reasons)}")
    return state.kind == "done"


def _refuse_whole_run(paths: RunPaths, manifest: Path) -> None:
    """Check that nobody runs, or has just run, all of the stage.

    Raises:
        RunStateError: Somebody does.
    """
    state = inspect_lock(paths.run_lock)
    if state is not None and state.kind != "dead":
        raise RunStateError(state.describe(paths.root))
    if manifest.is_file():
        raise RunStateError(f"{manifest}: the stage was completed just now; its shards are done")


def _with_earlier(outcome: PartOutcome, state: PartState) -> PartOutcome:
    """Count also how the model was used before, where what was faulty is tried again."""
    if not state.is_settled or state.done is None:
        return outcome
    role, earlier = state.part.role, Fold({state.part.number: state.done}).usage(state.part.role)
    usage = outcome.service.get(role)
    if not isinstance(usage, dict):
        return outcome
    return outcome._replace(service={role: add_usage([earlier, usage])})


def _done(context: Context, basis: Basis, outcome: PartOutcome, started_at: str) -> ShardDone:
    part, before = context.part, context.fold
    if part is None:
        raise RuntimeError("a marker is of a part")
    begun_with = [] if before is None else [done.came_to() for done in before.done.values()]
    return ShardDone(
        stage=part.stage,
        role=part.role,
        shard=part.shard,
        of=part.of,
        n_units=outcome.n_units,
        n_faults=len(outcome.faulty),
        faults=outcome.faulty,
        settings=dict(basis.settings),
        inputs=dict(basis.inputs),
        before=begun_with[0] if begun_with else None,
        models=dict(outcome.models),
        servers=dict(outcome.servers),
        service=dict(outcome.service),
        started_at=started_at,
        ended_at=now(),
        **context.environment._asdict(),
    )


def _say_done(folder: Path, part: Part, done: ShardDone) -> None:
    counts = f"{part.stage:9} {part}: units {done.n_units:,}"
    if not done.faults:
        say(counts)
        return
    say(
        f"{counts}, {done.n_faults:,} of them faulty, listed in "
        f"{shard_done_path(folder, part.number)}: the same command tries them again, the fold "
        "says what becomes of them"
    )
