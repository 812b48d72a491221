"""What a killed training resumes from."""

import pytest

from ragmend.detector.tokens.checkpoints import (
    append_row,
    cut_log,
    last_checkpoint,
    mark_complete,
)
from ragmend.errors import DataError
from ragmend.io import read_records
from ragmend.trained import LogRow


def make_checkpoint(folder, step, *, complete=True):
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    (path / "model.safetensors").write_bytes(b"weights")
    if complete:
        mark_complete(path)
    return path


def log(path, n_rows):
    for step in range(1, n_rows + 1):
        append_row(path, LogRow(step=step, epoch=step / 4, loss=1 / step))


def steps_in(path):
    return [row.step for row in read_records(path, LogRow)]


def test_where_nothing_lies_there_is_none(tmp_path):
    assert last_checkpoint(tmp_path / "checkpoints") is None


def test_the_last_is_that_of_most_steps(tmp_path):
    for step in (9, 10, 8):
        make_checkpoint(tmp_path, step)
    assert last_checkpoint(tmp_path) == (10, tmp_path / "checkpoint-10")


def test_one_that_was_being_written_is_passed_over_and_taken_away(tmp_path):
    make_checkpoint(tmp_path, 4)
    half = make_checkpoint(tmp_path, 6, complete=False)
    (tmp_path / "runs").mkdir()
    assert last_checkpoint(tmp_path).step == 4
    assert not half.exists()
    assert (tmp_path / "runs").is_dir()


def test_one_with_a_file_cut_off_is_no_checkpoint(tmp_path):
    make_checkpoint(tmp_path, 4)
    cut = make_checkpoint(tmp_path, 6)
    (cut / "model.safetensors").write_bytes(b"wei")
    assert last_checkpoint(tmp_path).step == 4


def test_rows_after_the_checkpoint_are_dropped(tmp_path):
    path = tmp_path / "log.jsonl"
    log(path, 5)
    cut_log(path, 3)
    assert steps_in(path) == [1, 2, 3]


def test_without_a_checkpoint_the_log_begins_anew(tmp_path):
    path = tmp_path / "log.jsonl"
    cut_log(path, 0)
    assert steps_in(path) == []
    log(path, 2)
    cut_log(path, 0)
    assert steps_in(path) == []


def test_a_torn_last_row_is_dropped(tmp_path):
    path = tmp_path / "log.jsonl"
    log(path, 3)
    path.write_bytes(path.read_bytes()[:-9])
    cut_log(path, 2)
    assert steps_in(path) == [1, 2]


def test_a_row_that_the_checkpoint_needs_must_be_there(tmp_path):
    path = tmp_path / "log.jsonl"
    log(path, 3)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="holds 2 of the rows of steps 1 to 3"):
        cut_log(path, 3)


def test_a_broken_row_in_the_middle_is_named(tmp_path):
    path = tmp_path / "log.jsonl"
    log(path, 1)
    with path.open("ab") as file:
        file.write(b'{"step": 2\n')
    log(path, 1)
    with pytest.raises(DataError, match=r"log\.jsonl:2"):
        cut_log(path, 1)
