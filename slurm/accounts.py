"""Accounts and qualities of service: what a user may use, and how much, as the accounting has it.

Only clusters with accounting have them; there sacctmgr tells.
"""

import os
import pwd
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ragmend.errors import ConfigError
from ragmend.slurm.commands import Slurm, SlurmError
from ragmend.slurm.hardware import parse_memory
from ragmend.slurm.times import parse_limit

# Per job, per user with all jobs, and of everybody's jobs: what is more than one never runs.
_OF_ACCOUNT = {"MaxWall": "MaxWall", "MaxSubmitJobs": "MaxSubmit", "MaxTRES": "MaxTRES"}
_OF_QOS = {
    "MaxWall": "MaxWall",
    "MaxSubmitPU": "MaxSubmit",
    "MaxTRES": "MaxTRES",
    "MaxTRESPU": "MaxTRESPerUser",
    "GrpTRES": "GrpTRES",
}

Caps = Mapping[tuple[str, str], int]
"""Limits by what they are and what of: ("MaxTRES", "cpu"), ("MaxWall", "") in seconds,
("MaxSubmit", "") in tasks. Memory is in MB."""


class Association(NamedTuple):
    """An account as one user has it, perhaps in one partition only.

    Attributes:
        account: Its name.
        partition: Where it holds; "" everywhere.
        qos: The qualities of service that it may use.
        default_qos: That which it uses when none is asked for; "" unknown.
        caps: Its limits.
    """

    account: str
    partition: str
    qos: frozenset[str]
    default_qos: str
    caps: Caps


class Quality(NamedTuple):
    """A quality of service (QOS).

    Attributes:
        name: Its name.
        flags: What it may do besides, as `PartitionTimeLimit`: exceed a partition's time limit.
        caps: Its limits.
    """

    name: str
    flags: frozenset[str]
    caps: Caps


class Cap(NamedTuple):
    """A limit, and whose it is: "account lab" or "QOS long"."""

    value: int
    whose: str


class Accounts(NamedTuple):
    """What one user has.

    Attributes:
        user: The user.
        default: The account of jobs that name none; "" where there is none.
        associations: The user's accounts.
        qualities: All qualities of service by name.
        queued: How many tasks of the user are in the queue, by "account lab" and "QOS long".
        is_enforced: Whether SLURM refuses what is not of these.
    """

    user: str
    default: str
    associations: tuple[Association, ...]
    qualities: Mapping[str, Quality]
    queued: Mapping[str, int]
    is_enforced: bool

    @property
    def names(self) -> list[str]:
        """The user's accounts."""
        return sorted({each.account for each in self.associations})

    def of(self, account: str | None, partition: str | None) -> Association | None:
        """Return the association that a job uses; None: the user has none such.

        Args:
            account: The job's; None: the user's default.
            partition: The job's.
        """
        wanted = (account or self.default).lower()  # as SLURM takes it
        own = [each for each in self.associations if each.account.lower() == wanted]
        fitting = [each for each in own if each.partition in ("", partition)]
        # One for this partition goes before one for all.
        return max(fitting, key=lambda each: each.partition, default=None)

    def caps_of(
        self, association: Association, qos: str | None, partition_qos: str | None
    ) -> dict[tuple[str, str], Cap]:
        """Return the limits that hold for a job: of two on the same, the nearer to the partition.

        Args:
            association: The job's.
            qos: What the job asks for; None: the association's default.
            partition_qos: The one whose limits its partition has.
        """
        own = self.qualities.get(qos or association.default_qos)
        general = self.qualities.get(partition_qos or "")
        order = [quality for quality in (own, general) if quality is not None]
        if own is not None and "OverPartQOS" in own.flags:
            order.reverse()
        account = f"account {association.account}"
        caps = {name: Cap(value, account) for name, value in association.caps.items()}
        for quality in order:
            caps |= {n: Cap(value, f"QOS {quality.name}") for n, value in quality.caps.items()}
        return caps


def read_accounts(slurm: Slurm, cluster: str, enforced: str) -> Accounts:
    """Return what the user of this process has on a cluster with accounting.

    Args:
        slurm: The commands.
        cluster: The cluster's own name.
        enforced: Its `AccountingStorageEnforce`.

    Raises:
        SlurmError: The accounting does not answer, or says what is not understood.
    """
    user = _own_name()
    columns = ["Account", "Partition", "QOS", "DefaultQOS", *_OF_ACCOUNT]
    rows = slurm.table(["assoc", f"user={user}", f"cluster={cluster}"], columns)
    default = [row["DefaultAccount"] for row in slurm.table(["user", user], ["DefaultAccount"])]
    qualities = slurm.table(["qos"], ["Name", "Flags", *_OF_QOS])
    queued = Counter(
        name
        for account, qos in slurm.queued_under(user)
        for name in (f"account {account}", f"QOS {qos}")
    )
    return Accounts(
        user=user,
        default=default[0] if default else "",
        associations=tuple(map(_association, rows)),
        qualities={row["Name"]: _quality(row) for row in qualities},
        queued=queued,
        is_enforced="associations" in enforced.split(","),
    )


def _association(row: Mapping[str, str]) -> Association:
    qos = frozenset(filter(None, row["QOS"].split(",")))
    # Without a default it is the only one, or SLURM's own default where that may be used.
    only = next(iter(qos)) if len(qos) == 1 else "normal" if "normal" in qos else ""
    return Association(
        account=row["Account"],
        partition=row["Partition"],
        qos=qos,
        default_qos=row["DefaultQOS"] or only,
        caps=dict(_caps(row, _OF_ACCOUNT, f"account {row['Account']}")),
    )


def _quality(row: Mapping[str, str]) -> Quality:
    return Quality(
        name=row["Name"],
        flags=frozenset(row["Flags"].split(",")),
        caps=dict(_caps(row, _OF_QOS, f"QOS {row['Name']}")),
    )


def _caps(
    row: Mapping[str, str], columns: Mapping[str, str], whose: str
) -> Iterator[tuple[tuple[str, str], int]]:
    for column, name in columns.items():
        text = row[column]
        if not text:
            continue  # no limit
        try:
            if "TRES" in column:
                yield from (((name, of), value) for of, value in _tres(text))
            elif column == "MaxWall":
                seconds = parse_limit(text)
                if seconds is not None:
                    yield (name, ""), seconds
            else:
                yield (name, ""), _number(text)
        except (ConfigError, SlurmError) as error:
            raise SlurmError(f"sacctmgr: {whose}: {column}={text}: {error}") from error


def _tres(text: str) -> Iterator[tuple[str, int]]:
    for entry in text.split(","):
        name, mark, value = entry.partition("=")
        if not mark:
            raise SlurmError(f"expected NAME=NUMBER, found {entry!r}")
        # Of the others, like billing or energy, a job script says nothing.
        if name == "mem":
            yield name, parse_memory(value)
        elif name in ("cpu", "node") or name.startswith("gres/gpu"):
            yield name, _number(value)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise SlurmError(f"expected a number, found {text!r}")
    return int(text)


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError as error:
        raise SlurmError(f"user {os.getuid()} has no name on this machine") from error
