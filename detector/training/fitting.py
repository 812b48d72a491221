"""One training from its checkpoint to its last step, whatever is trained: resumable, quiet."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmend.detector.training.checkpoints import (
    Checkpoint,
    cut_log,
    find_checkpoint,
    missing_weights,
)
from ragmend.detector.training.job import IN_MEMORY, LOG, Job, Pair, Predictor, Watch
from ragmend.detector.training.recording import Recorder, Schedule, as_callback
from ragmend.detector.training.resources import explain_memory, release_memory
from ragmend.detector.training.trackers import tracked, tracker_callbacks
from ragmend.detector.training.writing import explain_writing
from ragmend.errors import DataError, PreemptedError
from ragmend.io import read_records, write_records
from ragmend.trained import DetectorAnswer, LogRow

if TYPE_CHECKING:
    from transformers import Trainer


class Trainee(NamedTuple):
    """What is trained, and what is of its kind in that.

    Attributes:
        trainer: Has model and rows; how many steps it takes is not set yet.
        save: Writes the model's weights into a folder.
        begin: What is done to the model when all is loaded, before the first step.
        finish: Turns what was trained into what answers, exactly as it will once reloaded.
    """

    trainer: "Trainer"
    save: Callable[[Any, Path], None]
    begin: Callable[[Any], None]
    finish: Callable[[], Predictor]


def fit_detector(
    job: Job,
    prepare: Callable[[], Trainee],
    probe: Sequence[Sequence[Pair]],
    watch: Watch,
) -> None:
    """Train to the end; see `ragmend.detector.training.job.Kind.fit`.

    Args:
        job: The training.
        prepare: Loads what is trained; it is called where there is something left to train.
        probe: What the weights in memory are asked at the end.
        watch: Who may ask for an end.

    Raises:
        ConfigError: A tracker's library is not there.
        DataError: Something that earlier steps left is gone.
        OutputError: A file cannot be written.
        PreemptedError, ResourceError: As `Kind.fit`.
        RagmendError: As `prepare`.
    """
    if _is_complete(job):
        return
    with explain_writing(job.folder), explain_memory(job, "micro_batch_size"), tracked(job):
        checkpoint = find_checkpoint(job)
        if checkpoint is not None and checkpoint.is_last:
            # It was killed before its probe. What was in memory nobody can tell any more.
            cut_log(job, checkpoint.step)
            write_records(job.folder / IN_MEMORY, ())
            return
        try:
            answers = _train(job, prepare, checkpoint, probe, watch)
        finally:
            release_memory()
    write_records(job.folder / IN_MEMORY, answers)


def _is_complete(job: Job) -> bool:
    """Tell whether all was trained; it is an error if something of it vanished since."""
    if not (job.folder / IN_MEMORY).is_file():  # it is written last of all
        return False
    rows = list(read_records(job.folder / LOG, LogRow))
    n_epochs = math.ceil(rows[-1].epoch) if rows else job.recipe.epochs
    missing = missing_weights(job, n_epochs)
    if missing:
        raise DataError(
            f"{job.folder}: the training has ended, but the weights of {len(missing)} of its "
            f"{n_epochs} epochs are missing; train again with --redo"
        )
    return True


def _train(
    job: Job,
    prepare: Callable[[], Trainee],
    checkpoint: Checkpoint | None,
    probe: Sequence[Sequence[Pair]],
    watch: Watch,
) -> list[DetectorAnswer]:
    """Train, and return what the weights in memory answer to the probe."""
    trainee = prepare()
    trainer = trainee.trainer
    schedule = Schedule.of(job.recipe, len(trainer.train_dataset))
    trainer.args.max_steps = schedule.n_steps
    recorder = Recorder(job, schedule, watch, trainee.save)
    step = 0 if checkpoint is None else checkpoint.step
    for callback in (as_callback(recorder, trainee.begin), *tracker_callbacks(job, step)):
        trainer.add_callback(callback)
    job.folder.mkdir(parents=True, exist_ok=True)
    cut_log(job, step)
    if checkpoint is not None:
        watch.say(f"{job.run_id}: goes on after step {step:,} of {schedule.n_steps:,}")
    trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint.folder))
    if recorder.is_stopped:
        raise PreemptedError(
            f"{job.run_id}: stopped after step {trainer.state.global_step:,} of "
            f"{schedule.n_steps:,}; a checkpoint is saved: run the same command again to go on"
        )
    predictor = trainee.finish()
    _let_go_of_training(trainer)
    return [answer for batch in probe for answer in predictor.answer(batch)]


def _let_go_of_training(trainer: "Trainer") -> None:
    """Drop gradients and the optimizer's state: answers need the room."""
    trainer.model.zero_grad(set_to_none=True)
    trainer.optimizer = trainer.lr_scheduler = None
    trainer.accelerator.free_memory()  # it holds them too
    release_memory()
