"""Where losses go besides the log: TensorBoard, Weights & Biases, MLflow, trackio."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ragmend.detector.training.job import Job
from ragmend.errors import ConfigError

if TYPE_CHECKING:
    from transformers import TrainerCallback

TENSORBOARD = "tensorboard"


def require_trackers(names: Sequence[str]) -> None:
    """Find out whether the libraries of trackers can be imported.

    Raises:
        ConfigError: One cannot be.
    """
    for name in names:
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"training.trackers names {name!r}, which cannot be imported ({error}); install "
                f"it by: pip install {name}, or leave it out"
            ) from error


def tracker_callbacks(job: Job, last_step: int) -> "list[TrainerCallback]":
    """Return the trackers that write into the job's own folder; the Trainer makes the others.

    Args:
        job: Names its trackers.
        last_step: What an earlier process wrote after it is not shown.
    """
    if TENSORBOARD not in job.trackers:
        return []
    from torch.utils.tensorboard import SummaryWriter
    from transformers.integrations import TensorBoardCallback

    folder = job.folder / "tracking" / TENSORBOARD
    writer = SummaryWriter(str(folder), purge_step=last_step + 1)
    return [TensorBoardCallback(writer)]
