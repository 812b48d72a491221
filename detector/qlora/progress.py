"""What happens after each step of a training: the log, the weights of an epoch, the way out."""

import math
import time
from typing import TYPE_CHECKING, Any

from ragmend.detector.qlora.adapters import make_float32, save_adapter
from ragmend.detector.training.job import LOG, Job, Watch
from ragmend.trained import LogRow

if TYPE_CHECKING:
    from transformers import TrainerCallback, TrainerControl, TrainerState

_SAY_EVERY_S = 20.0


class Progress:
    """Follows one training, step by step."""

    def __init__(self, job: Job, watch: Watch) -> None:
        """Follow a training that is about to begin or to go on."""
        self.is_stopped = False
        self._job = job
        self._watch = watch
        self._said_at = self._began_at = time.monotonic()
        self._n_steps = 0

    def callback(self) -> "TrainerCallback":
        """Return the view of it that transformers' Trainer calls."""
        from transformers import TrainerCallback

        progress = self

        class _Callback(TrainerCallback):  # type: ignore[misc] # transformers is not checked
            def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
                # TRL makes a quantised base's adapter bfloat16; resuming brings its own type.
                make_float32(more["model"])
                progress.begin()

            def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
                progress.log_step(state, more["logs"])

            def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
                progress.end_step(state, control, more["model"])

        return _Callback()

    def begin(self) -> None:
        """Begin to measure the time a step: everything is loaded."""
        self._said_at = self._began_at = time.monotonic()

    def log_step(self, state: "TrainerState", logs: dict[str, float]) -> None:
        """Append the row of a step to the log, and show one now and then."""
        if "loss" not in logs:  # the summary at the end of a training
            return
        row = LogRow(
            step=state.global_step,
            epoch=float(state.epoch),
            loss=_finite(logs["loss"]),
            grad_norm=_finite(logs.get("grad_norm")),
            learning_rate=_finite(logs.get("learning_rate")),
        )
        with (self._job.folder / LOG).open("a", encoding="utf-8") as file:
            file.write(row.model_dump_json() + "\n")
        self._n_steps += 1
        self._say(row, int(state.max_steps))

    def end_step(self, state: "TrainerState", control: "TrainerControl", model: Any) -> None:  # noqa: ANN401
        """Keep an epoch's weights at its end, and end the training where that is asked for.

        The weights come before the checkpoint of the same step, so that none is behind an epoch
        whose weights are missing.
        """
        is_last = state.global_step >= state.max_steps
        if is_last or float(state.epoch).is_integer():
            epoch = math.ceil(float(state.epoch))
            save_adapter(model, self._job.weights(epoch), self._job.trained.model)
            control.should_save = True
        if self._watch.should_stop():
            self.is_stopped = True
            control.should_save = control.should_training_stop = True

    def _say(self, row: LogRow, n_steps: int) -> None:
        now = time.monotonic()
        if self._n_steps > 1 and row.step < n_steps and now - self._said_at < _SAY_EVERY_S:
            return
        self._said_at = now
        loss = "no number" if row.loss is None else f"{row.loss:.4f}"
        pace = (now - self._began_at) / self._n_steps
        self._watch.say(
            f"{self._job.run_id}: step {row.step:,} of {n_steps:,}, epoch {row.epoch:.2f}, loss "
            f"{loss}, {pace:.1f} s a step"
        )


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
