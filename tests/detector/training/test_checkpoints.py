"""From which checkpoint a killed training goes on, and what of its log stays."""

import json

import pytest

from ragmend.detector.training.checkpoints import cut_log, find_checkpoint
from ragmend.errors import DataError
from ragmend.io import read_records
from ragmend.trained import LogRow


def steps_in_log(job):
    return [row.step for row in read_records(job.folder / "log.jsonl", LogRow)]


def test_a_training_that_has_not_begun_has_no_checkpoint(job):
    assert find_checkpoint(job) is None


def test_the_last_is_that_of_most_steps(job, save_checkpoint):
    for step in (9, 10, 8):
        save_checkpoint(step, step / 20)
    found = find_checkpoint(job)
    assert (found.folder.name, found.step) == ("checkpoint-10", 10)
    assert (found.n_epochs, found.is_last) == (0, False)


def test_one_that_was_being_written_is_passed_over_and_taken_away(job, save_checkpoint):
    save_checkpoint(4, 0.4)
    half = save_checkpoint(6, 0.6, complete=False)
    (half.parent / "runs").mkdir()
    assert find_checkpoint(job).step == 4
    assert not half.exists()
    assert (half.parent / "runs").is_dir()


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "trainer_state.json"])
@pytest.mark.parametrize("left", [None, b"{"])
def test_one_that_lacks_a_file_or_part_of_it_is_no_checkpoint(job, save_checkpoint, name, left):
    save_checkpoint(4, 0.4)
    path = save_checkpoint(6, 0.6) / name
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    assert find_checkpoint(job).step == 4


@pytest.mark.parametrize(
    "state",
    [
        "{}",
        "[]",
        '{"global_step": 2',
        '{"global_step": 19, "max_steps": 30, "epoch": 0.5}',
        '{"global_step": 20, "max_steps": 30, "epoch": null}',
    ],
)
def test_one_whose_state_says_something_else_is_no_checkpoint(job, save_checkpoint, state):
    save_checkpoint(10, 0.6)
    save_checkpoint(20, 0.9, state=state)
    assert find_checkpoint(job).step == 10


def test_a_marker_that_was_cut_marks_nothing(job, save_checkpoint):
    marker = save_checkpoint(4, 0.4) / "complete.json"
    marker.write_bytes(marker.read_bytes()[:9])
    assert find_checkpoint(job) is None


def test_a_checkpoint_behind_an_epoch_whose_weights_are_missing_is_passed_over(
    job, save_checkpoint
):
    save_checkpoint(10, 0.9)
    save_checkpoint(20, 1.8)
    assert find_checkpoint(job).step == 10
    save_checkpoint(20, 1.8)
    job.weights(1).mkdir(parents=True)
    assert find_checkpoint(job).step == 20


@pytest.mark.parametrize(("epoch", "n_epochs"), [(3.0, 3), (1.5, 2)])
def test_after_the_last_step_the_weights_of_its_epoch_are_there_too(
    job, save_checkpoint, epoch, n_epochs
):
    save_checkpoint(30, epoch)
    for number in range(1, n_epochs):
        job.weights(number).mkdir(parents=True)
    assert find_checkpoint(job) is None
    job.weights(n_epochs).mkdir(parents=True)
    save_checkpoint(30, epoch)
    found = find_checkpoint(job)
    assert (found.n_epochs, found.is_last) == (n_epochs, True)


def test_rows_of_the_log_behind_the_checkpoint_go_even_a_torn_one(job, write_log):
    write_log(1, 2, 3, '{"step":4,"ep')
    cut_log(job, 2)
    assert steps_in_log(job) == [1, 2]


def test_without_a_checkpoint_the_log_begins_anew(job, write_log):
    write_log(1, 2)
    cut_log(job, 0)
    assert steps_in_log(job) == []


@pytest.mark.parametrize("lines", [(1,), (1, 3), (2, 1), ()])
def test_a_log_that_lacks_rows_before_the_checkpoint_is_refused(job, write_log, lines):
    write_log(*lines)
    with pytest.raises(DataError, match="one row for each step up to 2"):
        cut_log(job, 2)


def test_a_broken_row_before_the_checkpoint_is_named(job, write_log):
    write_log(1, '{"step": 2\n', 3)
    with pytest.raises(DataError, match=r"log\.jsonl:2: not valid JSON"):
        cut_log(job, 3)


def test_the_log_of_no_training_is_written_empty(job):
    cut_log(job, 0)
    assert (job.folder / "log.jsonl").read_bytes() == b""


def test_the_marker_holds_the_size_of_each_file(save_checkpoint):
    sizes = json.loads((save_checkpoint(4, 0.4) / "complete.json").read_text())
    assert sizes["optimizer.pt"] == len(b"numbers")
    assert len(sizes) == 5
