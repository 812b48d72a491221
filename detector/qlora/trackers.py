"""Where losses go besides `log.jsonl`: TensorBoard, Weights & Biases, MLflow, trackio."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from ragmend.detector.training.job import Job
from ragmend.errors import ConfigError


def check_trackers(job: Job) -> None:
    """Find out whether the libraries of a job's trackers are installed.

    Raises:
        ConfigError: One is not.
    """
    missing = [name for name in job.trackers if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"training.trackers: {', '.join(missing)} not installed; install it by: pip install "
            f"{' '.join(missing)}, or leave it out of training.trackers"
        )


@contextmanager
def tracked(job: Job) -> Iterator[None]:
    """Have trackers write into the job's folder, unless the environment says otherwise."""
    folder = job.folder / "tracking"
    own = {
        "TENSORBOARD_LOGGING_DIR": str(folder / "tensorboard"),
        "WANDB_DIR": str(folder),
        "WANDB_PROJECT": "ragmend",
        "MLFLOW_TRACKING_URI": (folder / "mlflow").absolute().as_uri(),
        "MLFLOW_EXPERIMENT_NAME": "ragmend",
        "TRACKIO_DIR": str(folder / "trackio"),
    }
    added = {name: value for name, value in own.items() if name not in os.environ}
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        if "wandb" in job.trackers and "wandb" in sys.modules:
            sys.modules["wandb"].finish()  # else the next training would go on in this one's run
