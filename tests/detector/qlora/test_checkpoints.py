"""From which checkpoint a killed training goes on, and what of its log stays."""

import json

import pytest

from ragmend.detector.qlora.checkpoints import find_checkpoint, keep_log_until
from ragmend.errors import DataError

PARTS = ("adapter_model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth")


@pytest.fixture
def job(make_job):
    return make_job()


def save(job, step, epoch, *, without=(), state=None):
    """Write a checkpoint as the Trainer leaves it."""
    folder = job.folder / "checkpoints" / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    for part in PARTS:
        if part not in without:
            (folder / part).write_bytes(b"x")
    if "trainer_state.json" not in without:
        text = json.dumps({"global_step": step, "epoch": epoch}) if state is None else state
        (folder / "trainer_state.json").write_text(text)
    return folder


def log(job, *lines):
    job.folder.mkdir(parents=True, exist_ok=True)
    (job.folder / "log.jsonl").write_text("".join(lines))


def row(step):
    return json.dumps({"step": step, "epoch": step / 4, "loss": 1.0}) + "\n"


def test_a_training_that_has_not_begun_has_no_checkpoint(job):
    assert find_checkpoint(job) is None


def test_the_last_complete_checkpoint_is_taken_by_its_number(job):
    save(job, 9, 0.5)
    save(job, 10, 0.6)
    found = find_checkpoint(job)
    assert (found.folder.name, found.step, found.n_epochs) == ("checkpoint-10", 10, 0)


@pytest.mark.parametrize(
    "broken",
    [
        {"without": ("trainer_state.json",)},
        {"without": ("optimizer.pt", "trainer_state.json")},
        {"without": ("adapter_model.safetensors",)},
        {"state": '{"global_step": 2'},
        {"state": "{}"},
        {"state": '{"global_step": 19, "epoch": 1.5}'},
    ],
)
def test_half_a_checkpoint_is_passed_over_for_the_one_before(job, broken):
    save(job, 10, 0.6)
    half = save(job, 20, 0.9, **broken)
    assert find_checkpoint(job).step == 10
    assert not half.exists()


def test_a_checkpoint_behind_an_epoch_whose_weights_are_missing_is_passed_over(job):
    save(job, 10, 0.9)
    save(job, 20, 1.8)
    assert find_checkpoint(job).step == 10
    save(job, 20, 1.8)
    job.weights(1).mkdir(parents=True)
    assert find_checkpoint(job).step == 20


def test_rows_of_the_log_behind_the_checkpoint_go_even_a_torn_one(job):
    log(job, row(1), row(2), row(3), row(4)[:9])
    keep_log_until(job, 2)
    lines = (job.folder / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2]


def test_without_a_checkpoint_the_log_begins_anew(job):
    log(job, row(1), row(2))
    keep_log_until(job, 0)
    assert (job.folder / "log.jsonl").read_text() == ""


@pytest.mark.parametrize("lines", [(row(1),), (row(1), row(3)), (row(2), row(1))])
def test_a_log_that_lacks_rows_before_the_checkpoint_is_refused(job, lines):
    log(job, *lines)
    with pytest.raises(DataError, match="one row for each step up to 2"):
        keep_log_until(job, 2)
