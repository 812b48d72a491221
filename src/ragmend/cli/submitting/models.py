"""Whether the models are where compute nodes without internet will look for them."""

import os
from collections.abc import Sequence

from ragmend.cli.prefetching.models import missing_models
from ragmend.config import Config
from ragmend.errors import MissingInputError
from ragmend.slurm.cluster import ClusterConfig
from ragmend.slurm.rendering import Piece


def refuse_missing_models(config: Config, cluster: ClusterConfig, pieces: Sequence[Piece]) -> None:
    """Refuse to submit what would look for a model that is not there.

    Raises:
        MissingInputError: A model is neither in a folder nor in the hub's cache.
    """
    if not cluster.offline or all(piece.job.resources.gpus in (0, None) for piece in pieces):
        return
    # Jobs look where the cluster file says, which may be elsewhere than here.
    missing = missing_models(config, {**os.environ, **cluster.variables})
    if missing:
        raise MissingInputError(
            f"{len(missing)} models are not in the hub's cache, and jobs have no internet "
            f"(`offline` in {cluster.name}): {', '.join(map(str, missing))}. `ragmend prefetch "
            "CONFIG` fetches them"
        )
