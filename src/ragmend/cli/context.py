"""What a stage runner gets, and what it gives back."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import JsonValue

from ragmend.cli.sharding.fold import Fold
from ragmend.cli.sharding.markers import FaultyUnit
from ragmend.cli.sharding.parts import Part
from ragmend.config import Config
from ragmend.manifest import Environment
from ragmend.paths import RunPaths, StageName
from ragmend.records import Fault
from ragmend.sections.models import ModelConfig

if TYPE_CHECKING:
    from ragmend.cli.asking import Asking


class Keeper(Protocol):
    """Keeps a server of the model that is needed, where a run starts its own."""

    async def url_in_loop(self, model: ModelConfig, *, role: str) -> str:
        """Return where a model is served, starting its server first if it must."""


class Context(NamedTuple):
    """One run as its stages see it; with a keeper it starts the servers that it needs.

    `part` is the part of a stage that is answered, where not all of it is. `fold` is what was
    answered in parts: by all of them where they are folded; where a part is answered, by the one
    that it begins with.
    """

    config: Config
    paths: RunPaths
    environment: Environment
    accept_faults: str | None = None
    keeper: Keeper | None = None
    part: Part | None = None
    fold: Fold | None = None


class Outcome(NamedTuple):
    """What a stage wrote, and the counts a person wants to see.

    `n_units` is how many answers were asked for, where a stage asks for answers; `servers` and
    `service` as in a manifest.
    """

    outputs: tuple[Path, ...]
    counts: dict[str, JsonValue]
    models: Mapping[str, str] = {}
    seed: int | None = None
    n_units: int | None = None
    faults: tuple[Fault, ...] = ()
    servers: Mapping[str, JsonValue] = {}
    service: Mapping[str, JsonValue] = {}


class PartOutcome(NamedTuple):
    """What a part of a stage came to: how many units, which are faulty, and who answered."""

    n_units: int
    faulty: tuple[FaultyUnit, ...]
    models: Mapping[str, str]
    servers: Mapping[str, JsonValue]
    service: Mapping[str, JsonValue]


def check_nothing(context: "Context") -> None:
    """Do nothing: what most stages need is there where their inputs are, and nothing is due."""


class Stage(NamedTuple):
    """One stage: where its manifest lies, what it reads, what changes its output, its work.

    `check` finds out before it begins whether it can, in words that say what to do; `finish` does
    what is due once it is complete, as often as that is found. `again` and `accept` are the
    commands that do it again, and go on without faulty records. `answer_part` answers the
    context's part, where a stage can be answered in parts.
    """

    name: StageName
    manifest: Callable[[Context], Path]
    inputs: Callable[[Context], dict[str, Path]]
    settings: Callable[[Config], dict[str, JsonValue]]
    execute: Callable[[Context], Outcome]
    check: Callable[[Context], None] = check_nothing
    finish: Callable[[Context], None] = check_nothing
    again: str | None = None
    accept: str = 'ragmend run … --accept-faults "reason"'
    answer_part: Callable[[Context, "Asking"], PartOutcome] | None = None

    @property
    def redo(self) -> str:
        """The command that does it again."""
        return self.again or f"ragmend run … --redo {self.name}"


def run_inputs(context: Context, *files: Path) -> dict[str, Path]:
    """Name files of the run as manifests do: relative to the run folder."""
    return {context.paths.relative(file): file for file in files}


def format_counts(counts: Mapping[str, JsonValue]) -> str:
    """Return counts as one readable line."""
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}"
        for name, value in counts.items()
    )


def say(text: str) -> None:
    """Print one line of progress to standard error, so that output can be piped."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - the one place that prints progress
