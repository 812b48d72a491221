"""Whether the models are where compute nodes without internet will look for them."""

import os
from collections.abc import Iterator, Mapping, Sequence

from ragmend.cli.prefetching.models import missing_models
from ragmend.config import Config
from ragmend.errors import MissingInputError
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.rendering import Piece


def refuse_missing_models(config: Config, cluster: ClusterConfig, pieces: Sequence[Piece]) -> None:
    """Refuse to submit what would look for a model that is not there.

    Raises:
        MissingInputError: A model of what is submitted is neither in a folder nor in the cache.
    """
    if not cluster.offline:
        return
    used = set(_places_of(pieces))
    missing = [
        f"{each.model.label} ({each.problem})"
        for each in missing_models(config, _environment_of_jobs(cluster))
        if used.intersection(each.model.used_by)
    ]
    if missing:
        raise MissingInputError(
            f"{len(missing)} models are not in the hub's cache, and jobs have no internet "
            f"(`offline` in {cluster.name}): {'; '.join(missing)}. `ragmend prefetch CONFIG` "
            "fetches them"
        )


def _places_of(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield where the configuration names the models that jobs load."""
    for piece in pieces:
        if piece.job.role is not None:
            yield piece.job.role
        elif piece.job.template in ("train", "predict"):
            for pack in piece.tasks:
                yield from (f"training.models.{task.partition('/')[0]}" for task in pack)


def _environment_of_jobs(cluster: ClusterConfig) -> Mapping[str, str]:
    """Return the variables by which jobs find the cache, which may be others than here."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HF_", "XDG_")) or cluster.export == "ALL" or name in cluster.export
    }
    return {**passed, **cluster.variables}
