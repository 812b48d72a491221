"""The parts of a stage: which role answers about which sources, and under which number.

A stage that asks models is answered in parts by many processes at once. A part is one role's
answers about one share of the sources; its number names its files.
"""

import errno
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field

from ragmend.config import Config
from ragmend.errors import ConfigError, DataError, OutputError, RunStateError
from ragmend.io import PARTIAL, dump_record, read_record, write_bytes
from ragmend.paths import shard_plan_path
from ragmend.records import Record

ShardedStage = Literal["verify", "propose", "judge"]
SHARDED_STAGES: tuple[ShardedStage, ...] = get_args(ShardedStage)
WITHOUT_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)  # of file systems that know none
MOST_PARTS = 9_999  # numbers have four digits


class Part(NamedTuple):
    """One role's answers about one share of a stage's sources.

    Attributes:
        stage: The stage.
        role: Who answers: `verifier`, `rewriter` or a judge's name.
        shard: Which share of the sources, from 0.
        of: How many shares there are.
        number: Which of all the stage's parts; it names the files.
    """

    stage: ShardedStage
    role: str
    shard: int
    of: int
    number: int

    def __str__(self) -> str:
        """Say which part it is, for messages."""
        return f"{self.role}, shard {self.shard} of {self.of}"


class ShardPlan(Record):
    """In how many shards a stage is answered: fixed as soon as there is one."""

    n_shards: Annotated[int, Field(ge=1, le=MOST_PARTS)]


def roles_of_stage(config: Config, stage: ShardedStage) -> tuple[str, ...]:
    """Return the roles that answer in a stage, in their order."""
    if stage == "verify":
        return ("verifier",)
    if stage == "propose":
        return ("rewriter", "verifier")
    return tuple(judge.name for judge in config.judges.panel)


def parts_of_stage(config: Config, stage: ShardedStage, n_shards: int) -> list[Part]:
    """Return all parts of a stage, by number.

    Raises:
        ConfigError: There are too many.
    """
    roles = roles_of_stage(config, stage)
    if not 1 <= n_shards <= MOST_PARTS // len(roles):
        raise ConfigError(
            f"stage {stage} in {n_shards} shards: expected 1 to {MOST_PARTS // len(roles)} "
            f"({MOST_PARTS} parts at most, {len(roles)} roles)"
        )
    return [
        Part(stage, role, shard, n_shards, index * n_shards + shard)
        for index, role in enumerate(roles)
        for shard in range(n_shards)
    ]


def part_before(part: Part) -> Part | None:
    """Return the part whose answers another one begins with: the rewrites of pass 2."""
    if (part.stage, part.role) != ("propose", "verifier"):
        return None
    return part._replace(role="rewriter", number=part.number - part.of)


def share_sources(n_answers: Mapping[str, int], n_shards: int) -> dict[str, int]:
    """Deal sources to shards in their order, so that each has about as many answers.

    Args:
        n_answers: How many answers each source has.
        n_shards: How many shards there are; where sources are fewer, some shards get none.

    Returns:
        The shard of each source, from 0; it never falls in the order of the sources. A shard
        holds more or fewer answers than its even share by those of one source at most.
    """
    total, before = sum(n_answers.values()), 0
    shards: dict[str, int] = {}
    for source, n in n_answers.items():
        # Where the middle of its answers lies decides.
        shards[source] = (2 * before + n) * n_shards // (2 * total) if n else 0
        before += n
    return shards


def read_plan(folder: Path) -> int | None:
    """Return in how many shards a stage is answered; None where that is not fixed.

    Raises:
        DataError: What says so is damaged.
    """
    path = shard_plan_path(folder)
    if not path.is_file():
        return None
    try:
        return read_record(path, ShardPlan).n_shards
    except DataError as error:
        raise DataError(f"{error}; --redo the stage") from error


def fix_plan(folder: Path, n_shards: int) -> None:
    """Fix in how many shards a stage is answered, whoever else does so now.

    Raises:
        RunStateError: It is another number.
        OutputError: It cannot be written.
    """
    if read_plan(folder) is None:
        _write_once(shard_plan_path(folder), dump_record(ShardPlan(n_shards=n_shards)))
    fixed = read_plan(folder)
    if fixed != n_shards:
        raise RunStateError(
            f"{shard_plan_path(folder)}: this stage is answered in {fixed} shards, not in "
            f"{n_shards}: use --of {fixed}"
        )


def _write_once(path: Path, content: bytes) -> None:
    """Write a file unless it is there: of many who do so at once, the first one has said it."""
    own = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}{PARTIAL}")
    try:
        write_bytes(own, content)
        try:
            os.link(own, path)  # unlike a rename, it replaces nothing
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno not in WITHOUT_LINKS:
                raise
            own.replace(path)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError.of(path, error) from error
    finally:
        with suppress(OSError):
            own.unlink(missing_ok=True)
