"""A training that is killed or asked to end goes on, and comes to the same."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION
from ragmend.detector.training.job import CHECKPOINTS, IN_MEMORY, LOG
from ragmend.errors import PreemptedError
from ragmend.io import read_records
from ragmend.trained import DetectorAnswer, LogRow

pytestmark = pytest.mark.train

EPOCHS = {"epochs": 4, "save_steps": 3}  # 2 steps an epoch: 8 in all


def fit(job, pairs, watch):
    TOKEN_CLASSIFICATION.fit(job, pairs, [pairs], watch)


def rows_of(job):
    return list(read_records(job.folder / LOG, LogRow))


def answers_of(job):
    return list(read_records(job.folder / IN_MEMORY, DetectorAnswer))


def checkpoints_of(job):
    return sorted(path.name for path in (job.folder / CHECKPOINTS).iterdir())


@pytest.fixture
def uninterrupted(tmp_path_factory, make_job, bert, pairs, watch):
    """The same training of BERT, with dropout, that nothing interrupted; it is done once."""
    job = make_job(tmp_path_factory.getbasetemp() / "uninterrupted", base=bert, **EPOCHS)
    fit(job, pairs, watch)
    return job


def same(job, other):
    """Check that two trainings came to the same, to float tolerance."""
    mine, others = rows_of(job), rows_of(other)
    assert [row.step for row in mine] == [row.step for row in others]
    for name in ("loss", "grad_norm", "learning_rate", "epoch"):
        expected = [getattr(row, name) for row in others]
        assert [getattr(row, name) for row in mine] == pytest.approx(expected, rel=1e-5, abs=1e-9)
    for found, wanted in zip(answers_of(job), answers_of(other), strict=True):
        expected = [score.p for score in wanted.scores]
        assert [score.p for score in found.scores] == pytest.approx(expected, rel=1e-4)


def kill_after(job, pairs, n_steps):
    order = {
        "trained": job.trained.model_dump(mode="json"),
        "recipe": job.recipe.model_dump(mode="json"),
        "seed": job.seed,
        "folder": str(job.folder),
        "responses": [pair.response.model_dump(mode="json") for pair in pairs],
        "sources": [pair.source.model_dump(mode="json") for pair in pairs],
        "die_after": n_steps,
    }
    script = Path(__file__).with_name("train_and_die.py")
    done = subprocess.run(
        [sys.executable, str(script)], input=json.dumps(order), text=True, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, "", "")


def test_a_killed_training_goes_on_from_its_last_checkpoint(
    make_job, bert, pairs, watch, uninterrupted
):
    job = make_job(base=bert, **EPOCHS)
    kill_after(job, pairs, 5)
    assert [row.step for row in rows_of(job)] == [1, 2, 3, 4]
    assert checkpoints_of(job) == ["checkpoint-3", "checkpoint-4"]
    # The kill came while the last one was being written, and a row of the log was.
    (job.folder / CHECKPOINTS / "checkpoint-4" / "complete.json").unlink()
    with (job.folder / LOG).open("ab") as file:
        file.write(b'{"step":5,"epo')
    fit(job, pairs, watch)
    assert any("goes on after step 3 of 8" in line for line in watch.lines)
    assert checkpoints_of(job) == ["checkpoint-6", "checkpoint-8"]
    assert all(job.weights(epoch).is_dir() for epoch in (1, 2, 3, 4))
    same(job, uninterrupted)


def test_a_training_killed_before_its_first_checkpoint_begins_anew(
    make_job, bert, pairs, watch, stop_after, uninterrupted
):
    job = make_job(base=bert, **EPOCHS)
    with pytest.raises(PreemptedError):
        fit(job, pairs, stop_after(1))
    shutil.rmtree(job.folder / CHECKPOINTS)
    fit(job, pairs, watch)
    assert [row.step for row in rows_of(job)] == list(range(1, 9))
    same(job, uninterrupted)


@pytest.mark.parametrize("n_steps", [2, 5])
def test_a_training_that_is_asked_to_end_saves_its_last_step_and_goes_on(
    make_job, bert, pairs, watch, stop_after, uninterrupted, n_steps
):
    job = make_job(base=bert, **EPOCHS)
    with pytest.raises(PreemptedError, match=f"after step {n_steps} of 8; a checkpoint is saved"):
        fit(job, pairs, stop_after(n_steps))
    assert checkpoints_of(job)[-1] == f"checkpoint-{n_steps}"
    assert not (job.folder / IN_MEMORY).exists()
    fit(job, pairs, watch)
    same(job, uninterrupted)


@pytest.mark.parametrize("recipe", [{"epochs": 2}, {"epochs": 2, "max_steps": 3}])
def test_killed_after_the_last_step_it_takes_no_step_more(make_job, pairs, watch, recipe):
    job = make_job(**recipe)
    fit(job, pairs, watch)
    rows = rows_of(job)
    (job.folder / IN_MEMORY).unlink()
    fit(job, pairs, watch)
    assert (rows_of(job), answers_of(job)) == (rows, [])  # nobody knows what was in memory


def test_steps_that_are_trained_again_are_shown_once(make_job, pairs, watch, stop_after):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    job = make_job(epochs=3, save_steps=2, trackers=("tensorboard",))
    with pytest.raises(PreemptedError):
        fit(job, pairs, stop_after(3))
    shutil.rmtree(job.folder / CHECKPOINTS / "checkpoint-3")  # the kill came before it was there
    fit(job, pairs, watch)
    events = EventAccumulator(str(job.folder / "tracking" / "tensorboard"))
    events.Reload()
    shown = [(event.step, event.value) for event in events.Scalars("train/loss")]
    assert shown == [(row.step, pytest.approx(row.loss)) for row in rows_of(job)]


def test_weights_of_an_epoch_whose_checkpoint_a_kill_prevented_are_written_again(
    make_job, bert, pairs, watch, stop_after, uninterrupted
):
    job = make_job(base=bert, **EPOCHS)
    with pytest.raises(PreemptedError):
        fit(job, pairs, stop_after(3))
    left = job.weights(2)
    left.mkdir()
    (left / "old").write_bytes(b"x")
    (left.parent / "epoch-2.partial").mkdir()
    fit(job, pairs, watch)
    assert not (left / "old").exists()
    assert not (left.parent / "epoch-2.partial").exists()
    same(job, uninterrupted)
