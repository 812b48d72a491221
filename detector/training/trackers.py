"""Where losses go besides `log.jsonl`: TensorBoard, Weights & Biases, MLflow, trackio."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ragmend.detector.training.job import Job
from ragmend.errors import ConfigError

if TYPE_CHECKING:
    from transformers import TrainerCallback

TENSORBOARD = "tensorboard"
_FOLDER = "TENSORBOARD_LOGGING_DIR"


@contextmanager
def tracked(job: Job) -> Iterator[None]:
    """Have a job's trackers write into its folder, unless the environment says otherwise.

    Raises:
        ConfigError: The library of one cannot be imported.
    """
    folder = (job.folder / "tracking").absolute()
    own = {
        _FOLDER: str(folder / TENSORBOARD),
        "WANDB_DIR": str(folder),
        "WANDB_PROJECT": "ragmend",
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder / 'mlflow.db'}",  # it gave folders up
        "MLFLOW_EXPERIMENT_NAME": "ragmend",
        "TRACKIO_DIR": str(folder / "trackio"),
    }
    added = {name: value for name, value in own.items() if name not in os.environ}
    os.environ.update(added)
    try:
        _import_trackers(job)
        if job.trackers:
            folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        _forget_trackers(job)
        for name in added:
            os.environ.pop(name, None)


def tracker_callbacks(job: Job, last_step: int) -> "list[TrainerCallback]":
    """Return those of a job's trackers that the Trainer does not make itself.

    Args:
        job: Names its trackers; it is `tracked`.
        last_step: What an earlier process showed of later steps is not shown: they are trained
            again.
    """
    if TENSORBOARD not in job.trackers:
        return []
    from torch.utils.tensorboard import SummaryWriter
    from transformers.integrations import TensorBoardCallback

    return [TensorBoardCallback(SummaryWriter(os.environ[_FOLDER], purge_step=last_step + 1))]


def _import_trackers(job: Job) -> None:
    # In the environment that they are to find: trackio reads it when it is imported.
    for name in job.trackers:
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"training.trackers names {name!r}, which cannot be imported ({error}); install "
                f"it by: pip install {name}, or leave it out"
            ) from error


def _forget_trackers(job: Job) -> None:
    """End what a failed training left, and have the next one's folder found anew."""
    wandb, mlflow = (_imported(job, name) for name in ("wandb", "mlflow"))
    if wandb is not None:
        wandb.finish()
        wandb.teardown()
    if mlflow is not None:
        mlflow.end_run()
    if "trackio" in job.trackers:
        for name in [name for name in sys.modules if name.partition(".")[0] == "trackio"]:
            del sys.modules[name]


def _imported(job: Job, name: str) -> Any:  # noqa: ANN401 - a module
    return sys.modules.get(name) if name in job.trackers else None
