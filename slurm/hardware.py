"""What a cluster has: its partitions and nodes, read from what `scontrol show` prints of them.

A value that is not understood is an error: taken for "no limit", it would let a job wait forever.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ragmend.errors import ConfigError
from ragmend.slurm.commands import SlurmError
from ragmend.slurm.times import UNLIMITED, parse_limit

NOTHING = frozenset({"", "(null)", "N/A", "NONE", "none"})
_UNITS = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
# States in which a node will not start a job; more may stand beside it, as in "IDLE+DRAIN".
_AWAY = frozenset(
    "DOWN DRAIN DRAINED DRAINING FAIL FAILING FUTURE INVAL INVALID_REG MAINT NOT_RESPONDING UNKNOWN"
    "".split()
)


class Names(NamedTuple):
    """Who may use something, as in `AllowAccounts` and `DenyAccounts`.

    Attributes:
        allowed: Those who may; None: all.
        denied: Those who may not.
    """

    allowed: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()

    def admit(self, name: str) -> bool:
        """Tell whether one may use it."""
        return name not in self.denied and (self.allowed is None or name in self.allowed)


class Partition(NamedTuple):
    """One partition: the nodes of one queue, and what its jobs may ask for.

    Attributes:
        name: As jobs name it.
        state: `UP`; `DOWN`: takes jobs and starts none; `DRAIN` and `INACTIVE`: takes none.
        is_default: Whether jobs that name none come here.
        max_time_s: Seconds; None: no limit.
        min_nodes: Nodes that a job must have, at least.
        max_nodes: Nodes that a job may have; None: no limit.
        max_cpus: CPUs that all jobs of it may have on one node; None: all.
        max_memory_mb: MB that a job may have on one node; None: all.
        accounts: Which accounts may use it.
        qos: Which qualities of service may be used in it.
        own_qos: The quality of service whose limits it has; None: none.
        needs_reservation: Whether jobs must name a reservation.
        cancels: Whether jobs that make place for others are cancelled, not queued again.
        n_nodes: How many nodes it has.
    """

    name: str
    state: str
    is_default: bool
    max_time_s: int | None
    min_nodes: int
    max_nodes: int | None
    max_cpus: int | None
    max_memory_mb: int | None
    accounts: Names
    qos: Names
    own_qos: str | None
    needs_reservation: bool
    cancels: bool
    n_nodes: int


class Node(NamedTuple):
    """One node.

    Attributes:
        name: Its name.
        cpus: CPUs that jobs may have.
        memory_mb: MB that jobs may have.
        gpus: How many GPUs of each type; "" of those without a type.
        features: What `--constraint` may ask for.
        partitions: Of which partitions it is.
        is_away: Whether it will start no job until somebody has looked after it.
    """

    name: str
    cpus: int
    memory_mb: int
    gpus: Mapping[str, int]
    features: frozenset[str]
    partitions: frozenset[str]
    is_away: bool

    def n_gpus(self, kind: str | None) -> int:
        """Return how many GPUs of a type it has; None: of any."""
        return sum(self.gpus.values()) if kind is None else self.gpus.get(kind, 0)


def read_partition(fields: Mapping[str, str]) -> Partition:
    """Return a partition from its fields.

    Raises:
        SlurmError: A field is missing or not understood.
    """
    read = _Fields("partition", fields.get("PartitionName", "?"), fields)
    return Partition(
        name=read.text("PartitionName"),
        state=read.text("State"),
        is_default=read.text("Default") == "YES",
        max_time_s=read.time("MaxTime"),
        min_nodes=read.limit("MinNodes") or 0,
        max_nodes=read.limit("MaxNodes"),
        max_cpus=read.limit("MaxCPUsPerNode"),
        max_memory_mb=read.memory("MaxMemPerNode") if "MaxMemPerNode" in fields else None,
        accounts=read.names("AllowAccounts", "DenyAccounts"),
        qos=read.names("AllowQos", "DenyQos"),
        own_qos=None if read.text("QoS") in NOTHING else read.text("QoS"),
        needs_reservation=read.text("ReqResv") == "YES",
        cancels="CANCEL" in read.text("PreemptMode").split(","),
        n_nodes=read.limit("TotalNodes") or 0,
    )


def read_node(fields: Mapping[str, str]) -> Node:
    """Return a node from its fields.

    Raises:
        SlurmError: A field is missing or not understood.
    """
    read = _Fields("node", fields.get("NodeName", "?"), fields)
    # Those that are left when some are kept for the system; older releases do not tell.
    cpus = read.number("CPUEfctv" if "CPUEfctv" in fields else "CPUTot")
    kept = read.number("MemSpecLimit") if "MemSpecLimit" in fields else 0
    return Node(
        name=read.text("NodeName"),
        cpus=cpus,
        memory_mb=read.number("RealMemory") - kept,
        gpus=parse_gpus(read.text("Gres")),
        features=frozenset(_listed(read.text("AvailableFeatures"))),
        partitions=frozenset(_listed(fields.get("Partitions", ""))),
        # "IDLE*": it does not respond; "IDLE~": it is powered off, and wakes up for a job.
        is_away=not _AWAY.isdisjoint(re.split(r"[+*~#!%$@^-]+", read.text("State")))
        or "*" in read.text("State"),
    )


def parse_gpus(gres: str) -> dict[str, int]:
    """Return how many GPUs of each type stand in a node's `Gres`; "" of those without a type.

    Args:
        gres: As "gpu:a100:4(S:0-1),gpu:a100_3g.20gb:8,nvme:1.5T" or "(null)".

    Raises:
        SlurmError: A GPU's entry is not understood.
    """
    found: dict[str, int] = {}
    for entry in _listed(re.sub(r"\([^)]*\)", "", "" if gres in NOTHING else gres)):
        name, *parts = entry.split(":")
        if name != "gpu":
            continue
        parts = [part for part in parts if part != "no_consume"]
        number = parts.pop() if parts and parts[-1].isdecimal() else "1"
        if len(parts) > 1 or "" in parts:
            raise SlurmError(
                f"scontrol show node: Gres={gres!r}: expected gpu:TYPE:NUMBER, found {entry!r}"
            )
        kind = parts[0] if parts else ""
        found[kind] = found.get(kind, 0) + int(number)
    return found


def parse_memory(text: str) -> int:
    """Return MB of what SLURM prints: "64000", "64000M", "250G", "1.50T".

    Raises:
        SlurmError: It is no amount of memory.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP])?B?", text.strip())
    if found is None:
        raise SlurmError(f"expected an amount of memory like 64000M or 250G, found {text!r}")
    return int(float(found.group(1)) * _UNITS[found.group(2) or "M"])


class _Fields(NamedTuple):
    """The fields of one partition or node; whatever is wrong with one names both."""

    what: str
    name: str
    fields: Mapping[str, str]

    def text(self, field: str) -> str:
        if field not in self.fields:
            raise self.error(field, "is not there")
        return self.fields[field]

    def number(self, field: str) -> int:
        text = self.text(field)
        if not (text.isascii() and text.isdecimal()):
            raise self.error(field, f"expected a number, found {text!r}")
        return int(text)

    def limit(self, field: str) -> int | None:
        return None if self.text(field).upper() in UNLIMITED else self.number(field)

    def memory(self, field: str) -> int | None:
        text = self.text(field)
        if text.upper() in UNLIMITED:
            return None
        try:
            return parse_memory(text)
        except SlurmError as error:
            raise self.error(field, str(error)) from error

    def time(self, field: str) -> int | None:
        text = self.text(field)
        if re.fullmatch(r"0[0:-]*", text):
            return 0
        try:
            # "NONE" is what SLURM says where there is no default; a limit says UNLIMITED.
            return parse_limit("" if text in NOTHING else text)
        except ConfigError as error:
            raise self.error(field, str(error)) from error

    def names(self, allowed: str, denied: str) -> Names:
        # SLURM prints one of the two.
        if allowed not in self.fields and denied in self.fields:
            return Names(denied=frozenset(_listed(self.fields[denied])))
        text = self.text(allowed)
        if text in NOTHING:
            raise self.error(allowed, f"expected ALL or names, found {text!r}")
        return Names(allowed=None if text == "ALL" else frozenset(_listed(text)))

    def error(self, field: str, what: str) -> SlurmError:
        return SlurmError(
            f"scontrol show {self.what}: {self.name}: {field}: {what}; what a job may have cannot "
            "be checked"
        )


def _listed(text: str) -> list[str]:
    return [] if text in NOTHING else [part for part in text.split(",") if part]
