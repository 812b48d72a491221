"""All jobs that are about to be submitted, against what the cluster allows and has."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ragmend.slurm.accounts import Cap
from ragmend.slurm.checking.accounts import caps_of, check_accounts, warn_of_accounts
from ragmend.slurm.checking.partitions import check_partitions, warn_of_partitions
from ragmend.slurm.checking.wanted import Wanted, listed
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.limits import Limits
from ragmend.slurm.rendering import Piece

_NAMED = 4
"""Jobs that one sentence names."""
_FEWER = "set `tasks_at_most`, which packs several shards into a task, or lower `shards`"


def check_pieces(pieces: Sequence[Piece], limits: Limits, cluster: ClusterConfig) -> list[str]:
    """Return everything for which a job would be refused or never start.

    Args:
        pieces: What is about to be submitted.
        limits: What the cluster allows and has.
        cluster: The cluster file, whose keys are named.

    Returns:
        A sentence a problem: which jobs, which key, what it says, what is allowed or there is.
    """
    return [
        *_gather(_wanted(pieces, limits, cluster), _check),
        *_too_many(pieces, limits, cluster),
    ]


def find_warnings(pieces: Sequence[Piece], limits: Limits, cluster: ClusterConfig) -> list[str]:
    """Return what could not be checked, and what may hold jobs up though SLURM takes them.

    Args:
        pieces: What is about to be submitted.
        limits: What the cluster allows and has.
        cluster: The cluster file, whose keys are named.
    """
    warnings = _gather(_wanted(pieces, limits, cluster), _warn)
    if cluster.lives > 1 and not limits.requeues:
        warnings.append(
            f"{limits.cluster} queues no job again unless it asks (JobRequeue = 0); these ask "
            "(--requeue). Should a task end at its time limit all the same, go on with "
            "`ragmend submit --resume`"
        )
    return warnings


def _wanted(pieces: Sequence[Piece], limits: Limits, cluster: ClusterConfig) -> list[Wanted]:
    jobs = {piece.job.name: piece.job for piece in pieces}
    return [Wanted(job, limits, cluster) for job in jobs.values()]


def _gather(all_wanted: Iterable[Wanted], find: Callable[[Wanted], Iterable[str]]) -> list[str]:
    """Return each sentence once, after the names of the jobs that it is about."""
    jobs: dict[str, dict[str, None]] = {}
    for wanted in all_wanted:
        for sentence in find(wanted):
            jobs.setdefault(sentence, {})[wanted.job.name] = None
    return [f"{listed(list(names), most=_NAMED)}: {text}" for text, names in jobs.items()]


def _check(wanted: Wanted) -> Iterator[str]:
    yield from check_partitions(wanted)
    yield from check_accounts(wanted)


def _warn(wanted: Wanted) -> Iterator[str]:
    yield from warn_of_partitions(wanted)
    yield from warn_of_accounts(wanted)
    if wanted.job.settings.get("serve") and not wanted.gpus:
        yield f"{wanted.key('gpus')} = {wanted.gpus}: its model is served by the CPU"


def _too_many(pieces: Sequence[Piece], limits: Limits, cluster: ClusterConfig) -> Iterator[str]:
    total = sum(len(piece.tasks) for piece in pieces)
    if total >= limits.max_jobs:
        yield (
            f"{total} tasks altogether, and {limits.cluster} holds fewer than {limits.max_jobs} "
            f"of everybody (MaxJobCount): {_FEWER}"
        )
    tasks: Counter[Cap] = Counter()
    for piece in pieces:
        caps = caps_of(Wanted(piece.job, limits, cluster))
        if ("MaxSubmit", "") in caps:
            tasks[caps["MaxSubmit", ""]] += len(piece.tasks)
    for cap, number in tasks.items():
        queued = limits.accounts.queued.get(cap.whose, 0) if limits.accounts is not None else 0
        if number + queued > cap.value:
            now = f", with {queued} in the queue already" if queued else ""
            yield (
                f"{number} tasks altogether{now}, and {cap.whose} allows a user {cap.value} at "
                f"once (MaxSubmitJobs): {_FEWER}"
            )
