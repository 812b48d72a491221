"""What a part of a stage came to: its marker, which stands for its journal being complete."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from ragmend import __version__
from ragmend.cli.sharding.parts import Part, ShardedStage
from ragmend.io import dump_record, read_record, sha256_of, write_bytes
from ragmend.paths import shard_done_path
from ragmend.records import Fault, Record

Count = Annotated[int, Field(ge=0)]


class FaultyUnit(Record):
    """A unit without a usable answer: its key in the journal, where it is not, and its fault."""

    key: str
    fault: Fault


class ShardDone(Record):
    """One part of a stage: all of its units are recorded, except those that are faulty.

    `before` is what it was begun with where another part comes first (see `came_to`); `servers`,
    `service` and what follows are as in a manifest.
    """

    schema_version: Literal[1] = 1
    stage: ShardedStage
    role: str
    shard: Count
    of: Count
    n_units: Count
    n_faults: Count
    faults: tuple[FaultyUnit, ...]
    settings: dict[str, JsonValue]
    inputs: dict[str, str]
    before: str | None = None
    models: dict[str, str]
    servers: dict[str, JsonValue]
    service: dict[str, JsonValue]
    ragmend_version: str = __version__
    git_commit: str | None = None
    git_dirty: bool | None = None
    python: str
    packages: dict[str, str]
    host: str
    slurm_job_id: str | None
    started_at: str
    ended_at: str

    @model_validator(mode="after")
    def _counts_its_faults(self) -> Self:
        if not len(self.faults) == self.n_faults <= self.n_units:
            message = f"{len(self.faults)} faults listed, {self.n_faults} of {self.n_units} counted"
            raise ValueError(message)
        return self

    def came_to(self) -> str:
        """Return a digest of what a part that comes later begins with: who is left."""
        keys = sorted(unit.key for unit in self.faults)
        return sha256_of({"n_units": self.n_units, "faulty": keys})


def read_done(folder: Path, part: Part) -> ShardDone | None:
    """Read the marker of a part; None where there is none.

    Raises:
        DataError: It is damaged.
    """
    path = shard_done_path(folder, part.number)
    return read_record(path, ShardDone) if path.is_file() else None


def write_done(folder: Path, part: Part, done: ShardDone) -> None:
    """Write the marker of a part; from here on it is complete."""
    write_bytes(shard_done_path(folder, part.number), dump_record(done))
