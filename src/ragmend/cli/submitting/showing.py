"""What `ragmend submit` prints: one row a job."""

from collections.abc import Iterator, Mapping, Sequence

from ragmend.slurm.estimate import JobEstimate, format_hours
from ragmend.slurm.graph import Job
from ragmend.slurm.rendering import Piece, dependency

HEAD = ("job", "stage", "tasks", "resources", "waits for", "id", "GPU-hours")


def describe_graph(
    pieces: Sequence[Piece], ids: Mapping[str, str], estimates: Sequence[JobEstimate]
) -> Iterator[str]:
    """Yield the graph as lines of aligned columns, and what it comes to.

    Args:
        pieces: What is submitted.
        ids: What SLURM calls them, by name; empty where nothing was.
        estimates: How long each takes.
    """
    names = {piece.name: piece.name for piece in pieces}
    rows: list[tuple[str, ...]] = [HEAD]
    for piece, found in zip(pieces, estimates, strict=True):
        rows.append(
            (
                piece.name,
                piece.job.stage,
                str(len(piece.tasks)),
                describe_resources(piece.job),
                _waits(piece, names),
                ids.get(piece.name, "-"),
                format_hours(found.gpu_hours),
            )
        )
    yield from _aligned(rows)
    yield from _total(estimates)


def _total(estimates: Sequence[JobEstimate]) -> Iterator[str]:
    at_most = sum(found.gpu_hours_at_most for found in estimates)
    known = [found.gpu_hours for found in estimates if found.gpu_hours is not None]
    n_unknown = len(estimates) - len(known)
    others = f", without {n_unknown} jobs that cannot be estimated" if n_unknown else ""
    yield (
        f"about {format_hours(sum(known))} GPU-hours{others}: an estimate from arithmetic, not a "
        f"measurement; the time limits of one life each allow {format_hours(at_most)}"
    )


def describe_resources(job: Job) -> str:
    """Return what a task gets, in a few words."""
    own = job.resources
    gpus = "" if not own.gpus else f"{own.gpus} {own.gpu_type or 'GPU'}, "
    memory = "" if own.memory_gb is None else f"{own.memory_gb} GB, "
    partition = "" if own.partition is None else f" in {own.partition}"
    return f"{gpus}{own.cpus} CPU, {memory}{own.time}{partition}"


def _waits(piece: Piece, names: Mapping[str, str]) -> str:
    kinds = {wait.kind for wait in piece.after}
    if len(piece.after) > 4 and kinds == {"afterany"}:
        return f"the end of all {len(piece.after)}"
    return (dependency(piece, names) or "-").replace(",", " ")


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    numbers = {2, 6}
    for row in rows:
        cells = [
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
