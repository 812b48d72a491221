"""What a cluster allows and has, as its own commands say."""

from collections.abc import Mapping
from typing import NamedTuple

from ragmend.slurm.accounts import Accounts, read_accounts
from ragmend.slurm.commands import Slurm, SlurmError
from ragmend.slurm.hardware import Node, Partition, read_node, read_partition


class Limits(NamedTuple):
    """What a cluster allows and has.

    Attributes:
        cluster: Its own name.
        max_array: Tasks of one array, at most (MaxArraySize).
        max_jobs: Jobs that the controller holds, at most, each task counted (MaxJobCount).
        enforces: Whether what a partition never starts is refused: `NO`, `ANY`, `ALL`.
        requeues: Whether jobs are queued again unless they say otherwise (JobRequeue).
        partitions: All partitions.
        nodes: All nodes; none where they are not shown to everybody.
        has_accounting: Whether there are accounts and qualities of service at all.
        accounts: The user's; None where there are none or they could not be read.
        unread: Why the accounts could not be read; "" where they could, or there are none.
    """

    cluster: str
    max_array: int
    max_jobs: int
    enforces: str
    requeues: bool
    partitions: tuple[Partition, ...]
    nodes: tuple[Node, ...]
    has_accounting: bool = False
    accounts: Accounts | None = None
    unread: str = ""

    def partition(self, name: str) -> Partition | None:
        """Return a partition by its name."""
        return next((each for each in self.partitions if each.name == name), None)

    def nodes_of(self, partition: Partition) -> list[Node]:
        """Return the nodes of a partition."""
        return [node for node in self.nodes if partition.name in node.partitions]


def read_limits(slurm: Slurm) -> Limits:
    """Return what the cluster of this machine allows and has.

    Raises:
        SlurmError: The cluster does not answer, says what is not understood, or has no arrays.
    """
    config = slurm.config()
    name = _setting(config, "ClusterName")
    max_array = _number(config, "MaxArraySize")
    if max_array == 0:
        raise SlurmError(f"{name} allows no job arrays (MaxArraySize = 0), and all work is in them")
    limits = Limits(
        cluster=name,
        max_array=max_array,
        max_jobs=_number(config, "MaxJobCount"),
        enforces=_setting(config, "EnforcePartLimits"),
        requeues=_number(config, "JobRequeue") != 0,
        partitions=tuple(map(read_partition, slurm.partitions())),
        nodes=tuple(map(read_node, slurm.nodes())),
        has_accounting=_setting(config, "AccountingStorageType")
        not in ("accounting_storage/none", "(null)"),
    )
    if not limits.has_accounting:
        return limits
    enforced = _setting(config, "AccountingStorageEnforce")
    try:
        return limits._replace(accounts=read_accounts(slurm, name, enforced))
    except SlurmError as error:
        return limits._replace(unread=str(error))


def _setting(config: Mapping[str, str], name: str) -> str:
    if name not in config:
        raise SlurmError(f"scontrol show config: {name} is not there")
    return config[name]


def _number(config: Mapping[str, str], name: str) -> int:
    text = _setting(config, name)
    if not (text.isascii() and text.isdecimal()):
        raise SlurmError(f"scontrol show config: {name}: expected a number, found {text!r}")
    return int(text)
