"""What a training leaves on disk while it goes: log, weights of each epoch, checkpoints."""

import math
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ragmend.detector.tokens.checkpoints import append_row, mark_complete
from ragmend.detector.tokens.loading import BASE, Base
from ragmend.detector.training.job import LOG, Job, Watch
from ragmend.io import PARTIAL, dump_record, write_bytes
from ragmend.trained import LogRow

if TYPE_CHECKING:
    from transformers import (
        PreTrainedModel,
        PreTrainedTokenizerBase,
        TrainerCallback,
        TrainerControl,
    )

LINES = 50  # lines of progress in all, beside those of epochs


class Epochs(Protocol):
    """How many steps there are, and which of them end an epoch."""

    @property
    def n_steps(self) -> int:
        """Steps in all."""

    def epoch_of(self, step: int) -> int:
        """Return the epoch that a step belongs to."""

    def ends_epoch(self, step: int) -> bool:
        """Tell whether a step is the last of its epoch."""


class Recorder:
    """Writes down one training while it goes."""

    def __init__(
        self, job: Job, epochs: Epochs, tokenizer: "PreTrainedTokenizerBase", watch: Watch
    ) -> None:
        """Prepare; nothing is written yet."""
        self.is_stopped = False
        """Whether somebody asked for an end before the last step."""
        self._job = job
        self._epochs = epochs
        self._tokenizer = tokenizer
        self._watch = watch

    def end_step(self, step: int, model: "PreTrainedModel", control: "TrainerControl") -> None:
        """Save what is due after a step, and end if somebody asks for it."""
        if self._epochs.ends_epoch(step):
            # Before the checkpoint: whoever resumes after this epoch has its weights.
            epoch = self._epochs.epoch_of(step)
            save_weights(self._job, epoch, model, self._tokenizer)
            self._watch.say(f"{self._job.run_id}: epoch {epoch} ends with step {step}")
            control.should_save = True
        if step < self._epochs.n_steps and self._watch.should_stop():
            self.is_stopped = True
            control.should_save = control.should_training_stop = True

    def log_step(self, step: int, epoch: float, logs: Mapping[str, Any]) -> None:
        """Write the row of a step; what else is logged at the end is of no step."""
        if "loss" not in logs:
            return
        row = LogRow(
            step=step,
            epoch=epoch,
            loss=_finite(logs["loss"]),
            grad_norm=_finite(logs.get("grad_norm")),
            learning_rate=_finite(logs.get("learning_rate")),
        )
        append_row(self._job.folder / LOG, row)
        if step % math.ceil(self._epochs.n_steps / LINES) == 0:
            loss = "no number" if row.loss is None else f"{row.loss:.4f}"
            self._watch.say(
                f"{self._job.run_id}: step {step} of {self._epochs.n_steps}, loss {loss}"
            )


def as_callback(recorder: Recorder) -> "TrainerCallback":
    """Return a recorder as the Trainer calls it."""
    from transformers import TrainerCallback

    class Callback(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:  # noqa: ANN401
            recorder.end_step(state.global_step, rest["model"], control)

        def on_log(self, args: Any, state: Any, control: Any, **rest: Any) -> None:  # noqa: ANN401
            recorder.log_step(state.global_step, state.epoch, rest["logs"])

        def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:  # noqa: ANN401
            mark_complete(Path(args.output_dir) / f"checkpoint-{state.global_step}")

    return Callback()


def save_weights(
    job: Job, epoch: int, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase"
) -> None:
    """Write the weights after an epoch: all of it, or nothing under that name."""
    folder = job.weights(epoch)
    partial = folder.with_name(folder.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    write_bytes(partial / BASE, dump_record(Base.of(job.trained.model)))
    for path in partial.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    # Where a kill came between these weights and their checkpoint, they were computed again.
    if folder.exists():
        shutil.rmtree(folder)
    partial.rename(folder)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
