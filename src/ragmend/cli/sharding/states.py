"""How far the parts of a stage are, told from what lies on disk."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.cli.context import Context, Stage
from ragmend.cli.sharding.fold import Fold
from ragmend.cli.sharding.markers import ShardDone, read_done
from ragmend.cli.sharding.parts import (
    SHARDED_STAGES,
    Part,
    ShardedStage,
    part_before,
    parts_of_stage,
    read_plan,
)
from ragmend.errors import ConfigError, DataError, MissingInputError, RunStateError
from ragmend.io import name_reading_errors
from ragmend.manifest import hash_files
from ragmend.paths import SHARD_LOCKS, shard_path
from ragmend.run_lock import inspect_lock

MOST_NAMED = 8  # shards that a message names
BLOCK = 1 << 20


class Basis(NamedTuple):
    """What the answers of a stage rest on now: settings, and the digests of its inputs."""

    settings: Mapping[str, JsonValue]
    inputs: Mapping[str, str]


class PartState(NamedTuple):
    """How far one part of a stage is.

    Attributes:
        part: The part.
        kind: Its marker is there, and says that all units are recorded (`done`) or that some are
            faulty (`faulty`); it is of other settings, inputs or rewrites (`stale`), or cannot be
            read (`damaged`). Without one, some units are recorded (`partial`) or none (`absent`).
        n_recorded: Units that are recorded in the part's own journal.
        done: The marker, where it can be read.
        reasons: Why it is stale or damaged.
    """

    part: Part
    kind: Literal["absent", "partial", "damaged", "stale", "faulty", "done"]
    n_recorded: int = 0
    done: ShardDone | None = None
    reasons: tuple[str, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether it is complete, so that it can be folded; its faults are the fold's matter."""
        return self.kind in ("faulty", "done")


def sharded(stage: Stage) -> ShardedStage:
    """Return the name of a stage that can be answered in parts.

    Raises:
        ConfigError: It cannot.
    """
    for name in SHARDED_STAGES:
        if stage.name == name:
            return name
    raise ConfigError(f"stage {stage.name} has no shards; there are: {', '.join(SHARDED_STAGES)}")


def basis_of(context: Context, stage: Stage) -> Basis:
    """Return what a stage's answers rest on now.

    Raises:
        MissingInputError, DataError: An input cannot be read.
    """
    return Basis(stage.settings(context.config), hash_files(stage.inputs(context)))


def inspect_parts(context: Context, stage: Stage) -> list[PartState]:
    """Tell how far all parts of a stage are; none where it is not answered in parts, or folded.

    Raises:
        MissingInputError, DataError: An input cannot be read; what fixes the shards is damaged.
    """
    folder = stage.manifest(context).parent
    n_shards = read_plan(folder)
    if n_shards is None:
        return []
    basis = basis_of(context, stage)
    parts = parts_of_stage(context.config, sharded(stage), n_shards)
    return [inspect_part(folder, part, basis) for part in parts]


def inspect_part(folder: Path, part: Part, basis: Basis) -> PartState:
    """Tell how far one part of a stage is.

    Args:
        folder: The stage's folder.
        part: Which part.
        basis: What its answers must rest on.
    """
    journal = shard_path(folder, part.number)
    try:
        done = read_done(folder, part)
    except (DataError, MissingInputError) as error:
        return PartState(part, "damaged", _count_lines(journal), None, (str(error),))
    if done is None:
        n_recorded = _count_lines(journal)
        return PartState(part, "partial" if n_recorded else "absent", n_recorded)
    reasons = tuple(_differences(done, part, basis)) or _differs_before(folder, done, part, basis)
    if reasons:
        return PartState(part, "stale", _count_lines(journal), done, reasons)
    kind: Literal["faulty", "done"] = "faulty" if done.faults else "done"
    return PartState(part, kind, done.n_units - done.n_faults, done)


def read_fold(context: Context, stage: Stage) -> Fold:
    """Return what all parts of a stage came to.

    Raises:
        MissingInputError: Some are not complete.
        RunStateError: A part is answered now, or its marker is of other settings or inputs; or
            two shards were answered by different models.
    """
    refuse_parts_at_work(stage.manifest(context).parent)
    states = inspect_parts(context, stage)
    left = [state for state in states if not state.is_settled]
    if left or not states:
        kind = RunStateError if any(state.kind == "stale" for state in left) else MissingInputError
        raise kind(f"stage {stage.name} cannot be folded: {_describe_left(context, stage, left)}")
    fold = Fold({state.part.number: state.done for state in states if state.done is not None})
    for role in {state.part.role: None for state in states}:
        fold.facts(role)
    return fold


def refuse_parts_at_work(folder: Path, *, but: int | None = None) -> None:
    """Check that nobody answers a part of a stage now.

    Args:
        folder: The stage's folder.
        but: The shard whose lock is taken next, which shows it then.

    Raises:
        RunStateError: Somebody does, or it cannot be seen whether somebody does.
    """
    own = None if but is None else shard_path(folder, but).stem
    for path in sorted(folder.glob(SHARD_LOCKS)):
        state = None if own is not None and path.name.startswith(own) else inspect_lock(path)
        if state is not None and state.kind != "dead":
            raise RunStateError(state.describe(path))


def command_of(context: Context, part: Part) -> str:
    """Return the command that answers a part."""
    words = ["--role", part.role, "--shard", str(part.shard), "--of", str(part.of)]
    out = str(context.paths.root)
    return f"ragmend shard CONFIG {part.stage} {shlex.join([*words, '--out', out])}"


def _describe_left(context: Context, stage: Stage, left: list[PartState]) -> str:
    out = shlex.quote(str(context.paths.root))
    if not left:
        return (
            f"nothing of it was answered in shards in {context.paths.root}: `ragmend shard` does "
            f"that; `ragmend run CONFIG --out {out} --only {stage.name}` needs no shards"
        )
    found: list[str] = []
    for role in {state.part.role: None for state in left}:
        own = [state for state in left if state.part.role == role]
        missing = [state for state in own if state.kind in ("absent", "partial")]
        if missing:
            found.append(f"{role}: {_name_shards(missing)} without a marker")
        found += [
            f"{role}: shard {state.part.shard} is {state.kind}: {'; '.join(state.reasons)}"
            for state in own
            if state not in missing
        ][:MOST_NAMED]
    first = command_of(context, left[0].part)
    return (
        f"{'; '.join(found)}. `ragmend submit --resume {out}` submits what is missing, or here: "
        f"`{first}`"
    )


def _name_shards(states: list[PartState]) -> str:
    named = ", ".join(str(state.part.shard) for state in states[:MOST_NAMED])
    more = f" and {len(states) - MOST_NAMED} more" if len(states) > MOST_NAMED else ""
    return f"{'shard' if len(states) == 1 else 'shards'} {named}{more} of {states[0].part.of}"


def _differences(done: ShardDone, part: Part, basis: Basis) -> Iterator[str]:
    """Yield what a marker was written for that is something else now."""
    if (done.stage, done.role, done.shard, done.of) != part[:4]:
        yield (
            f"its marker is of shard {done.shard} of {done.of} of {done.role} in stage {done.stage}"
        )
    changed = _changed(done.settings, basis.settings)
    if changed:
        yield f"answered with other settings ({', '.join(changed)})"
    changed = _changed(done.inputs, basis.inputs)
    if changed:
        yield f"answered from other inputs ({', '.join(changed)})"


def _differs_before(folder: Path, done: ShardDone, part: Part, basis: Basis) -> tuple[str, ...]:
    before = part_before(part)
    if before is None:
        return ()
    state = inspect_part(folder, before, basis)
    if not state.is_settled or state.done is None:
        return (f"{before}: its marker, with which this begins, is {state.kind}",)
    return (
        () if state.done.came_to() == done.before else (f"{before}: came to something else since",)
    )


def _changed(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> Iterable[str]:
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]


def _count_lines(path: Path) -> int:
    """Count the whole lines of a journal, without reading what they say."""
    if not path.is_file():
        return 0
    with name_reading_errors(path), path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))
