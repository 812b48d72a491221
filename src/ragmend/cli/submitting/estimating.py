"""How long what is submitted takes, by arithmetic."""

from collections.abc import Sequence

from ragmend.config import Config
from ragmend.slurm.estimate import JobEstimate, default_sizes, estimate_job
from ragmend.slurm.rendering import Piece


def estimate_pieces(config: Config, pieces: Sequence[Piece]) -> list[JobEstimate]:
    """Return the estimate of each piece, in their order."""
    sizes = default_sizes(config)
    return [
        estimate_job(
            piece.job._replace(tasks=tuple(task for pack in piece.tasks for task in pack)),
            config,
            sizes,
        )
        for piece in pieces
    ]
