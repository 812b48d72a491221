"""Whether a partition takes a job and ever starts it."""

from collections.abc import Iterator

from ragmend.slurm.checking.nodes import check_nodes, warn_of_nodes
from ragmend.slurm.checking.wanted import Wanted, did_you_mean, listed
from ragmend.slurm.hardware import Partition
from ragmend.slurm.times import format_time

_STATES = {
    "DOWN": "takes jobs, but starts none",
    "DRAIN": "takes no more jobs",
    "INACTIVE": "takes no jobs and starts none",
}


def check_partitions(wanted: Wanted) -> Iterator[str]:
    """Yield what is wrong with a job in its partition, or in each of several."""
    if not wanted.partitions:
        yield (
            f"{wanted.key('partition')} is not set, and {wanted.limits.cluster} has no default "
            f"partition; it has: {_all(wanted)}"
        )
    of_each: list[list[str]] = []
    for name in wanted.partitions:
        partition = wanted.limits.partition(name)
        if partition is None:
            yield _unknown(wanted, name)
        else:
            of_each.append(list(_check(wanted, partition)))
    # Of several partitions one is enough, unless the cluster says that all must do.
    if wanted.limits.enforces == "ALL" or all(of_each):
        for problems in of_each:
            yield from problems


def warn_of_partitions(wanted: Wanted) -> Iterator[str]:
    """Yield what may hold a job up in its partitions."""
    for partition in filter(None, map(wanted.limits.partition, wanted.partitions)):
        if partition.cancels:
            yield (
                f"partition {partition.name} cancels jobs that make place for others, and does not "
                "queue them again: go on with `ragmend submit --resume`"
            )
        yield from _unlisted_account(wanted, partition)
        yield from warn_of_nodes(wanted, partition)


def _unknown(wanted: Wanted, name: str) -> str:
    hint = did_you_mean(name, [each.name for each in wanted.limits.partitions])
    return (
        f"{wanted.says('partition')}: there is no partition {name}{hint}; {wanted.limits.cluster} "
        f"has: {_all(wanted)}"
    )


def _all(wanted: Wanted) -> str:
    return listed(sorted(each.name for each in wanted.limits.partitions)) or "none"


def _check(wanted: Wanted, partition: Partition) -> Iterator[str]:
    where, key = f"partition {partition.name}", wanted.key("partition")
    if partition.state != "UP":
        means = _STATES.get(partition.state, "is not up")
        yield f"{key}: {where} is {partition.state}: it {means}"
    if partition.needs_reservation and wanted.resources.reservation is None:
        yield f"{wanted.key('reservation')} is not set: {where} is for reservations only"
    if partition.min_nodes > 1 or partition.max_nodes == 0:
        yield (
            f"{key}: each task is on one node, which {where} does not allow "
            f"(MinNodes={partition.min_nodes})"
        )
    yield from _refused_users(wanted, partition)
    yield from _too_long(wanted, partition)
    yield from check_nodes(wanted, partition)


def _refused_users(wanted: Wanted, partition: Partition) -> Iterator[str]:
    where, account = f"partition {partition.name}", _account(wanted)
    if account in partition.accounts.denied:
        yield f"{wanted.key('account')}: {where} does not admit {account} (DenyAccounts)"
    if wanted.qos is not None and not partition.qos.admit(wanted.qos):
        allowed = partition.qos.allowed
        only = f", only: {listed(sorted(allowed))}" if allowed is not None else ""
        yield f"{wanted.key('qos')}: {where} does not admit {wanted.qos}{only}"


def _unlisted_account(wanted: Wanted, partition: Partition) -> Iterator[str]:
    allowed, account = partition.accounts.allowed, _account(wanted)
    if account is not None and allowed is not None and account not in allowed:
        # No problem yet: newer releases admit accounts below those that are listed, too.
        yield (
            f"{wanted.key('account')}: partition {partition.name} admits {listed(sorted(allowed))} "
            f"only: if {account} is not below one of these, its jobs wait for ever"
        )


def _account(wanted: Wanted) -> str | None:
    association = wanted.association
    return association.account if association is not None else wanted.resources.account


def _too_long(wanted: Wanted, partition: Partition) -> Iterator[str]:
    most = partition.max_time_s
    if most is None or wanted.time_s <= most or _may_exceed(wanted):
        return
    longer = [
        f"{each.name} ({'no limit' if each.max_time_s is None else format_time(each.max_time_s)})"
        for each in wanted.limits.partitions
        if each.max_time_s is None or each.max_time_s >= wanted.time_s
    ]
    others = f"; long enough: {listed(longer)}" if longer else ""
    yield (
        f"{wanted.says('time')}: partition {partition.name} allows {format_time(most)} "
        f"(MaxTime){others}"
    )


def _may_exceed(wanted: Wanted) -> bool:
    accounts = wanted.limits.accounts
    quality = accounts.qualities.get(wanted.qos or "") if accounts is not None else None
    return quality is not None and "PartitionTimeLimit" in quality.flags
