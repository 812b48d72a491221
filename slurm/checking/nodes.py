"""Whether any node of a partition could run a job."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ragmend.slurm.checking.wanted import MB_PER_GB, Wanted, did_you_mean, listed
from ragmend.slurm.hardware import Node, Partition


def check_nodes(wanted: Wanted, partition: Partition) -> Iterator[str]:
    """Yield what no node of a partition has."""
    nodes, where = wanted.limits.nodes_of(partition), f"partition {partition.name}"
    if not nodes:
        if not partition.n_nodes:
            yield f"{wanted.says('partition')}: {where} has no nodes"
        return  # they are not shown, of which there is a warning
    alone = [
        *_too_many_cpus(wanted, nodes, partition),
        *_too_much_memory(wanted, nodes, partition),
        *_missing_gpus(wanted, nodes, where),
        *_missing_features(wanted, nodes, where),
    ]
    yield from alone
    if not alone and not any(map(wanted.fits, nodes)):
        yield (
            f"no node of {where} has all of it together: {_describe_wanted(wanted)}; there are: "
            f"{_describe(nodes)}"
        )


def warn_of_nodes(wanted: Wanted, partition: Partition) -> Iterator[str]:
    """Yield why nodes could not be looked at, or will not start a job for now."""
    nodes, where = wanted.limits.nodes_of(partition), f"partition {partition.name}"
    if not nodes and partition.n_nodes:
        yield (
            f"the {partition.n_nodes} nodes of {where} are not shown to you: CPUs, memory, GPUs "
            "and features could not be checked"
        )
    fitting = [node for node in nodes if wanted.fits(node)]
    if fitting and all(node.is_away for node in fitting):
        names = listed([node.name for node in fitting], most=4)
        yield f"no node of {where} that could run it is up now: it waits for {names}"


def _too_many_cpus(wanted: Wanted, nodes: list[Node], partition: Partition) -> Iterator[str]:
    most = max(node.cpus for node in nodes)
    if partition.max_cpus is not None:
        most = min(most, partition.max_cpus)
    if wanted.cpus > most:
        yield f"{wanted.says('cpus')}: a node of partition {partition.name} gives {most} at most"


def _too_much_memory(wanted: Wanted, nodes: list[Node], partition: Partition) -> Iterator[str]:
    most = max(node.memory_mb for node in nodes)
    if partition.max_memory_mb is not None:
        most = min(most, partition.max_memory_mb)
    if wanted.memory_mb > most:
        yield (
            f"{wanted.says('memory_gb')}: a node of partition {partition.name} gives "
            f"{most // MB_PER_GB} at most"
        )


def _missing_gpus(wanted: Wanted, nodes: list[Node], where: str) -> Iterator[str]:
    if not wanted.gpus:
        return
    types = sorted({kind or "GPUs without a type" for node in nodes for kind in node.gpus})
    kind, most = wanted.gpu_type, max(node.n_gpus(wanted.gpu_type) for node in nodes)
    if not types:
        yield f"{wanted.says('gpus')}: {where} has no GPUs; {_with_gpus(wanted)}"
    elif kind is not None and not most:
        hint = did_you_mean(kind, types)
        yield f"{wanted.says('gpu_type')}: {where} has none{hint}; it has: {listed(types)}"
    elif wanted.gpus > most:
        what = "GPUs" if kind is None else f"{kind} GPUs"
        yield f"{wanted.says('gpus')}: a node of {where} has {most} {what} at most"


def _with_gpus(wanted: Wanted) -> str:
    names = [
        each.name
        for each in wanted.limits.partitions
        if any(node.gpus for node in wanted.limits.nodes_of(each))
    ]
    return f"partitions with GPUs: {listed(names)}" if names else "no partition has any"


def _missing_features(wanted: Wanted, nodes: list[Node], where: str) -> Iterator[str]:
    if any(map(wanted.finds_features, nodes)):
        return
    known = sorted({feature for node in nodes for feature in node.features})
    has = f"there are: {listed(known)}" if known else "its nodes have no features"
    for name in wanted.features:
        if name not in known:
            hint = did_you_mean(name, known)
            yield f"{wanted.says('constraint')}: no node of {where} has {name!r}{hint}; {has}"


def _describe_wanted(wanted: Wanted) -> str:
    parts = [f"{wanted.cpus} CPUs"]
    parts += [f"{wanted.memory_mb // MB_PER_GB} GB"] if wanted.memory_mb else []
    parts += [f"{wanted.gpus} {wanted.gpu_type or 'GPUs'}"] if wanted.gpus else []
    parts += [wanted.resources.constraint] if wanted.resources.constraint else []
    return ", ".join(parts)


def _describe(nodes: Iterable[Node]) -> str:
    kinds = Counter(_describe_node(node) for node in nodes)
    return "; ".join(f"{number} × ({text})" for text, number in kinds.items())


def _describe_node(node: Node) -> str:
    gpus = [f"{number} {kind or 'GPUs'}" for kind, number in node.gpus.items()]
    memory = f"{node.memory_mb // MB_PER_GB} GB"
    return ", ".join([f"{node.cpus} CPUs", memory, *gpus, *sorted(node.features)])
