"""What is complete of a run, and how far the rest is: for people who wait for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.context import Context, Stage, format_counts
from ragmend.cli.engine import inspect_stage
from ragmend.cli.sharding.parts import SHARDED_STAGES, parts_of_stage, read_plan
from ragmend.errors import RagmendError
from ragmend.manifest import State
from ragmend.paths import shard_done_path


class Progress(NamedTuple):
    """What a stage that is not complete has recorded.

    Attributes:
        n_units: Units of work in its journals.
        n_answers: Answers of language models in its journals.
        n_done: Shards that are answered to their end.
        n_shards: How many shards there are, over all roles; None where it is not answered so.
    """

    n_units: int
    n_answers: int
    n_done: int = 0
    n_shards: int | None = None

    @property
    def is_none(self) -> bool:
        """Tell whether nothing is recorded."""
        return not (self.n_units or self.n_answers or self.n_done)

    def __str__(self) -> str:
        """Say how much is recorded, as in "3 of 4 shards done, 120 units recorded"."""
        shards = f"{self.n_done:,} of {self.n_shards:,} shards done, " if self.n_shards else ""
        answers = f", {self.n_answers:,} answers of language models" if self.n_answers else ""
        return f"{shards}{self.n_units:,} units recorded{answers}"


def look_at_stage(stage: Stage, context: Context) -> State:
    """Tell what a stage's state is; one that cannot be looked at is damaged."""
    try:
        return inspect_stage(stage, context)
    except (RagmendError, OSError) as error:
        return State("damaged", (f"cannot be read: {error}",))


def describe_state(stage: Stage, state: State, context: Context) -> str:
    """Say what a stage's state is, with counts, or with what is wrong and what helps."""
    if state.kind == "complete" and state.manifest is not None:
        faults = f", faults {state.manifest.n_faults}, accepted: {state.manifest.accepted_faults}"
        counts = format_counts(state.manifest.counts)
        return f"complete  {counts}{faults if state.manifest.n_faults else ''}"
    if state.reasons:
        helps = f"ragmend run … --redo {stage.name}"
        return f"{state.kind:9} {'; '.join(state.reasons)} ({helps})"
    progress = measure_progress(stage, context)
    return "missing" if progress.is_none else f"partial   {progress}"


def measure_progress(stage: Stage, context: Context) -> Progress:
    """Count what a stage that is not complete has recorded, without reading what it says."""
    folder = stage.manifest(context).parent
    recorded = Progress(_n_recorded(folder, "shard-????"), _n_recorded(folder, "shard-????-*"))
    numbers = _shard_numbers(stage, context)
    if numbers is None:
        return recorded
    n_done = sum(shard_done_path(folder, number).is_file() for number in numbers)
    return recorded._replace(n_done=n_done, n_shards=len(numbers))


def _shard_numbers(stage: Stage, context: Context) -> list[int] | None:
    """Return the numbers of a stage's shards; None where it is not known to have any."""
    found = next((name for name in SHARDED_STAGES if name == stage.name), None)
    if found is None:
        return None
    try:
        n_shards = read_plan(stage.manifest(context).parent)
        parts = [] if n_shards is None else parts_of_stage(context.config, found, n_shards)
    except RagmendError:  # whoever answers a shard is told; here what is recorded is counted
        return None
    return [part.number for part in parts] or None


def _n_recorded(folder: Path, name: str) -> int:
    """Count whole lines of the journals."""
    return sum(journal.read_bytes().count(b"\n") for journal in _journals(folder, name))


def _journals(folder: Path, name: str) -> Iterator[Path]:
    yield from sorted((folder / "shards").glob(f"{name}.jsonl"))
