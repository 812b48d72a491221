"""What is written and said while a training goes, and when it ends."""

from math import ceil
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmend.detector.training.recording import Recorder, Schedule
from ragmend.io import read_records
from ragmend.sections.training import Recipe
from ragmend.trained import LogRow


class Run:
    """A training of two epochs of three steps, driven by hand; each step takes so many seconds."""

    def __init__(self, job, *, seconds=1.0, stop_in=()):
        self.lines, self.saved, self.now = [], [], 0.0
        self._seconds, self._stop_in, self._step = seconds, stop_in, 0
        job.folder.mkdir(parents=True)
        self.recorder = Recorder(job, Schedule(3, 6), self, self._save, clock=lambda: self.now)

    def step(self, loss=1.0, **logs):
        """Take a step as the Trainer does; return what it is told to do then."""
        self._step += 1
        self.now += self._seconds
        control = SimpleNamespace(should_save=False, should_training_stop=False)
        self.recorder.end_step(self._step, "model", control)
        self.recorder.log_step(self._step, self._step / 3, {"loss": loss, **logs})
        return control

    def should_stop(self):
        return self._step in self._stop_in

    def say(self, text):
        self.lines.append(text)

    def _save(self, model, folder):
        self.saved.append(folder.name)
        (folder / "weights").write_text(model)


def rows_of(job):
    return list(read_records(job.folder / "log.jsonl", LogRow))


def test_every_step_is_a_row_and_what_is_no_number_is_none(job):
    run = Run(job)
    run.step(0.5, grad_norm=2.0, learning_rate=1e-3)
    run.step(float("nan"), grad_norm=float("inf"))
    run.recorder.log_step(2, 2 / 3, {"train_runtime": 9.0})
    assert rows_of(job) == [
        LogRow(step=1, epoch=1 / 3, loss=0.5, grad_norm=2.0, learning_rate=1e-3),
        LogRow(step=2, epoch=2 / 3, loss=None, grad_norm=None, learning_rate=None),
    ]


def test_the_weights_of_an_epoch_are_saved_whole_before_its_checkpoint(job):
    run = Run(job)
    assert [run.step().should_save for _ in range(6)] == [False, False, True] * 2
    assert run.saved == ["epoch-1.partial", "epoch-2.partial"]
    assert [(job.weights(n) / "weights").read_text() for n in (1, 2)] == ["model"] * 2
    assert not list(job.folder.rglob("*.partial"))


def test_it_ends_where_it_is_asked_to_and_saves(job):
    run = Run(job, stop_in={2})
    controls = [run.step(), run.step()]
    assert [control.should_training_stop for control in controls] == [False, True]
    assert controls[1].should_save
    assert run.recorder.is_stopped


def test_asked_to_end_at_the_last_step_it_is_done(job):
    run = Run(job, stop_in={6})
    assert not any(run.step().should_training_stop for _ in range(6))
    assert not run.recorder.is_stopped


def test_progress_is_said_at_the_first_step_at_ends_of_epochs_and_now_and_then(job):
    run = Run(job, seconds=1.0)
    for _ in range(6):
        run.step()
    assert [line.split(",")[0] for line in run.lines] == [
        f"tiny/seed-3: step {step} of 6" for step in (1, 3, 6)
    ]
    assert run.lines[1] == "tiny/seed-3: step 3 of 6, epoch 1.00, loss 1.0000, 1.0 s a step"


@pytest.mark.parametrize(("seconds", "n_lines"), [(10.0, 4), (19.0, 4), (20.0, 6)])
def test_where_steps_take_long_more_of_them_are_said(job, seconds, n_lines):
    run = Run(job, seconds=seconds)
    for _ in range(6):
        run.step(float("nan"))
    assert len(run.lines) == n_lines
    assert all(f"loss no number, {seconds:.1f} s a step" in line for line in run.lines)


def test_time_a_step_is_counted_from_when_all_is_loaded(job):
    run = Run(job)
    run.now = 500.0
    run.recorder.begin()
    run.step()
    assert run.lines[0].endswith("1.0 s a step")


@given(
    st.integers(1, 99), st.integers(1, 4), st.sampled_from([1, 2, 4]), st.integers(1, 4),
    st.none() | st.integers(1, 400),
)  # fmt: skip
def test_every_epoch_ends_once_and_the_last_step_ends_one(n, epochs, micro, times, max_steps):
    recipe = Recipe(
        epochs=epochs, micro_batch_size=micro, batch_size=micro * times, max_steps=max_steps
    )
    schedule = Schedule.of(recipe, n)
    # As the Trainer counts: micro-batches first, then steps of them.
    assert schedule.steps_per_epoch == ceil(ceil(n / micro) / times)
    ends = [step for step in range(1, schedule.n_steps + 1) if schedule.ends_epoch(step)]
    assert ends[-1] == schedule.n_steps == min(max_steps or 999, epochs * schedule.steps_per_epoch)
    assert [schedule.epoch_of(step) for step in ends] == list(range(1, len(ends) + 1))
