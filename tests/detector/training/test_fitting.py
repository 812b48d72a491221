"""When there is nothing left to train, and what must be there before anything begins."""

import sys

import pytest

from ragmend.detector.training.fitting import fit_detector
from ragmend.errors import ConfigError, DataError
from ragmend.io import read_records, write_records
from ragmend.trained import DetectorAnswer, LogRow


@pytest.fixture
def fit():
    """Go on with a training that must not load anything."""
    return lambda job: fit_detector(job, lambda: pytest.fail("loaded"), [], watch=None)


@pytest.fixture
def complete(job, write_log):
    """A training that has ended: three epochs of ten steps."""
    write_log(*range(1, 31))
    write_records(job.folder / "in-memory.jsonl", [DetectorAnswer(record_id="1")])
    for epoch in (1, 2, 3):
        job.weights(epoch).mkdir(parents=True)
    return job


def everything(job):
    return {path: path.stat().st_mtime_ns for path in job.folder.rglob("*")}


def test_what_is_all_there_is_not_trained_again(complete, fit):
    before = everything(complete)
    fit(complete)
    assert everything(complete) == before


def test_one_that_ended_early_needs_no_later_epochs(complete, fit, write_log):
    write_log(*range(1, 16))
    complete.weights(3).rmdir()
    fit(complete)
    complete.weights(2).rmdir()
    with pytest.raises(DataError, match="weights of 1 of its 2 epochs are missing"):
        fit(complete)


@pytest.mark.parametrize("epoch", [1, 3])
def test_weights_that_vanished_after_the_end_are_missed(complete, fit, epoch):
    complete.weights(epoch).rmdir()
    with pytest.raises(DataError, match="weights of 1 of its 3 epochs are missing"):
        fit(complete)


def test_killed_between_the_last_step_and_the_probe_it_pretends_nothing(
    complete, fit, save_checkpoint
):
    (complete.folder / "in-memory.jsonl").unlink()
    with (complete.folder / "log.jsonl").open("a") as file:
        file.write('{"step":31')
    save_checkpoint(30, 3.0)
    fit(complete)
    assert list(read_records(complete.folder / "in-memory.jsonl", DetectorAnswer)) == []
    assert len(list(read_records(complete.folder / "log.jsonl", LogRow))) == 30
    fit(complete)


def test_a_tracker_that_is_not_there_stops_it_before_anything_is_loaded(make_job, fit, monkeypatch):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(ConfigError, match="trackio"):
        fit(make_job(trackers=("trackio",)))
