"""What one job asks for, and in which key of the cluster file that stands."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragmend.slurm.accounts import Association
from ragmend.slurm.cluster import ClusterConfig, Resources
from ragmend.slurm.graph import Job
from ragmend.slurm.hardware import Node, Partition
from ragmend.slurm.limits import Limits
from ragmend.slurm.times import parse_time

MB_PER_GB = 1024


class Wanted(NamedTuple):
    """One job beside what its cluster has."""

    job: Job
    limits: Limits
    cluster: ClusterConfig

    @property
    def resources(self) -> Resources:
        """What a task asks for."""
        return self.job.resources

    @property
    def cpus(self) -> int:
        """CPUs a task."""
        return self.resources.cpus or 0

    @property
    def memory_mb(self) -> int:
        """MB a task; 0: whatever the cluster gives."""
        return (self.resources.memory_gb or 0) * MB_PER_GB

    @property
    def gpus(self) -> int:
        """GPUs a task."""
        return self.resources.gpus or 0

    @property
    def gpu_type(self) -> str | None:
        """Their type; None: any, or there are none."""
        return self.resources.gpu_type if self.gpus else None

    @property
    def time_s(self) -> int:
        """Seconds a life."""
        return parse_time(str(self.resources.time))

    @property
    def features(self) -> list[str]:
        """All names in the constraint."""
        text = self.resources.constraint or ""
        return [word for word in re.split(r"[&|(),]|\*\d+", text) if word]

    @property
    def partitions(self) -> list[str]:
        """The partitions that it may run in, by name; none where there is not even a default."""
        if self.resources.partition is not None:
            return self.resources.partition.split(",")
        return [each.name for each in self.limits.partitions if each.is_default][:1]

    @property
    def partition(self) -> Partition | None:
        """The first of its partitions."""
        return self.limits.partition(self.partitions[0]) if self.partitions else None

    @property
    def association(self) -> Association | None:
        """The account that it uses; None: the user has none such, or it is not known."""
        if self.limits.accounts is None:
            return None
        place = self.partitions[0] if self.partitions else None
        return self.limits.accounts.of(self.resources.account, place)

    @property
    def qos(self) -> str | None:
        """The quality of service that it uses; None: it is not known."""
        association = self.association
        return self.resources.qos or (association.default_qos if association else None) or None

    def fits(self, node: Node) -> bool:
        """Tell whether a node could run it."""
        return (
            node.cpus >= self.cpus
            and node.memory_mb >= self.memory_mb
            and node.n_gpus(self.gpu_type) >= self.gpus
            and self.finds_features(node)
        )

    def finds_features(self, node: Node) -> bool:
        """Tell whether a node has the features of the constraint, as far as that is plain."""
        text, has = self.resources.constraint or "", node.features.__contains__
        if not text:
            return True
        if not {"(", ")", "*"}.isdisjoint(text) or (
            "|" in text and not {"&", ","}.isdisjoint(text)
        ):
            return any(map(has, self.features))  # the rest is SLURM's own business
        return (any if "|" in text else all)(map(has, self.features))

    def key(self, field: str) -> str:
        """Return the key of one of its resources."""
        return self.cluster.key_of(field, self.job.kind, self.job.role)

    def says(self, field: str) -> str:
        """Return that key with what it says: "resources.train.cpus = 100"."""
        return f"{self.key(field)} = {getattr(self.resources, field)!r}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest name; "" where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names in a row, the first of them where they are many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
