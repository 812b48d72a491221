"""What a training leaves on disk while it goes: log, weights of each epoch, checkpoints."""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.detector.training.checkpoints import mark_complete
from ragmend.detector.training.job import LOG, Job, Watch
from ragmend.detector.training.writing import new_folder
from ragmend.sections.training import Recipe
from ragmend.trained import LogRow

if TYPE_CHECKING:
    from transformers import TrainerCallback, TrainerControl

SAY_EVERY_S = 20.0
"""Lines of progress come no sooner after one another, but for those of epochs."""


class Schedule(NamedTuple):
    """How many steps there are, and which of them end an epoch."""

    steps_per_epoch: int
    n_steps: int

    @classmethod
    def of(cls, recipe: Recipe, n_rows: int) -> "Schedule":
        """Return the schedule of so many rows; a packed row holds several answers."""
        per_epoch = math.ceil(n_rows / recipe.batch_size)
        n_steps = recipe.epochs * per_epoch
        return cls(per_epoch, min(recipe.max_steps or n_steps, n_steps))

    def epoch_of(self, step: int) -> int:
        """Return the epoch that a step belongs to; both count from 1."""
        return math.ceil(step / self.steps_per_epoch)

    def ends_epoch(self, step: int) -> bool:
        """Tell whether a step is its epoch's last, or the last of all."""
        return step % self.steps_per_epoch == 0 or step == self.n_steps


class Recorder:
    """Writes down one training, step by step."""

    def __init__(
        self,
        job: Job,
        schedule: Schedule,
        watch: Watch,
        save: Callable[[Any, Path], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is written yet.

        Args:
            job: The training.
            schedule: Its steps.
            watch: Who may ask for an end, and where progress goes.
            save: Writes a model's weights into a folder.
            clock: Seconds.
        """
        self.is_stopped = False
        """Whether somebody asked for an end before the last step."""
        self._job = job
        self._schedule = schedule
        self._watch = watch
        self._save = save
        self._clock = clock
        self._said_at = self._began_at = clock()
        self._n_steps = 0

    def begin(self) -> None:
        """Begin to measure the time a step: everything is loaded."""
        self._said_at = self._began_at = self._clock()

    def log_step(self, step: int, epoch: float, logs: Mapping[str, Any]) -> None:
        """Append the row of a step to the log, and show one now and then."""
        if "loss" not in logs:  # the summary at the end of a training
            return
        row = LogRow(
            step=step,
            epoch=epoch,
            loss=_finite(logs["loss"]),
            grad_norm=_finite(logs.get("grad_norm")),
            learning_rate=_finite(logs.get("learning_rate")),
        )
        with (self._job.folder / LOG).open("ab") as file:
            file.write(row.model_dump_json().encode() + b"\n")
        self._n_steps += 1
        self._say(row)

    def end_step(self, step: int, model: Any, control: "TrainerControl") -> None:  # noqa: ANN401
        """Keep an epoch's weights at its end, and end the training where that is asked for.

        The weights come before the checkpoint of the same step, so that none is behind an epoch
        whose weights are missing. After the last step nothing is left to be stopped.
        """
        if self._schedule.ends_epoch(step):
            with new_folder(self._job.weights(self._schedule.epoch_of(step))) as folder:
                self._save(model, folder)
            control.should_save = True
        if step < self._schedule.n_steps and self._watch.should_stop():
            self.is_stopped = True
            control.should_save = control.should_training_stop = True

    def _say(self, row: LogRow) -> None:
        seconds = self._clock()
        is_due = self._n_steps == 1 or seconds - self._said_at >= SAY_EVERY_S
        if not is_due and not self._schedule.ends_epoch(row.step):
            return
        self._said_at = seconds
        loss = "no number" if row.loss is None else f"{row.loss:.4f}"
        pace = (seconds - self._began_at) / self._n_steps
        self._watch.say(
            f"{self._job.run_id}: step {row.step:,} of {self._schedule.n_steps:,}, epoch "
            f"{row.epoch:.2f}, loss {loss}, {pace:.1f} s a step"
        )


def as_callback(recorder: Recorder, begin: Callable[[Any], None]) -> "TrainerCallback":
    """Return a recorder as transformers' Trainer calls it.

    Args:
        recorder: It.
        begin: What is done to the model when all is loaded, before the first step.
    """
    from transformers import TrainerCallback

    class Callback(TrainerCallback):  # type: ignore[misc] # transformers is not checked
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
            begin(more["model"])
            recorder.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
            recorder.end_step(state.global_step, more["model"], control)

        def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
            recorder.log_step(state.global_step, float(state.epoch), more["logs"])

        def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
            mark_complete(Path(args.output_dir) / f"checkpoint-{state.global_step}")

    return Callback()


def _finite(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None
