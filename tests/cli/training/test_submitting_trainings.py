"""Trainings as jobs: what is left to train and to predict, and tables that come again."""

import json
import sys

import pytest
from fake_slurm import FakeSlurm

pytestmark = pytest.mark.slow

CLUSTER = """
name = "here"
signal_lead_s = 20
offline = false
[environments]
base = {{ python = {python} }}
train = {{ python = {python} }}
[resources.default]
partition = "cpu"
time = "00:05:00"
cpus = 1
"""
BIG = ("--model", "big", "--seed", "2")
RUNS = ("small/seed-1", "small/seed-2", "big/seed-1", "big/seed-2")


@pytest.fixture
def fake(tmp_path, monkeypatch):
    found = FakeSlurm(tmp_path / "bin")
    monkeypatch.setenv("PATH", found.env["PATH"])
    return found


@pytest.fixture
def submit(command, experiment, fake, tmp_path):
    cluster = tmp_path / "here.toml"
    cluster.write_text(CLUSTER.format(python=json.dumps(sys.executable)))

    def run_here(*words):
        fake.change(jobs=[])
        done = command("submit", *experiment.where, "--cluster", cluster, *words)
        assert done.returncode == 0, done.stderr
        rows = (experiment.out / "jobs").glob("submission-*/jobs.jsonl")
        lines = sorted(rows)[-1].read_text().splitlines()
        return {row["piece"]: row for row in map(json.loads, lines)}

    return run_here


def finish(fake):
    fake.set_jobs(lambda job: job.update(state="COMPLETED"))


def test_all_detectors_are_trained_and_predict_and_one_of_them_is_followed(scripted, submit, fake):
    jobs = submit()
    assert jobs["train"]["tasks"] == jobs["predict"]["tasks"] == list(RUNS)
    assert jobs["predict"]["dependency"] == f"aftercorr:{jobs['train']['job_id']}"
    assert jobs["select"]["dependency"] == f"afterok:{jobs['predict']['job_id']}_3"


def test_what_was_trained_only_predicts_and_waits_for_nothing(trained, submit):
    jobs = submit()
    assert jobs["train"]["tasks"] == list(RUNS[:3])
    # The followed one is a piece of its own, which waits for no training.
    assert jobs["predict.2"]["tasks"] == [RUNS[3]]
    assert jobs["predict.2"]["dependency"] is None
    assert jobs["select"]["dependency"] == f"afterok:{jobs['predict.2']['job_id']}_0"


def test_what_has_predicted_is_left_out(trained, submit, command, fake):
    assert command("detect", "predict", *trained.where, *BIG).returncode == 0
    jobs = submit()
    assert jobs["predict"]["tasks"] == list(RUNS[:3])
    assert jobs["select"]["dependency"] is None


def test_a_detector_that_comes_late_lets_the_tables_be_made_again(
    trained, submit, command, fake, scripted
):
    assert command("detect", "predict", *trained.where, *BIG).returncode == 0
    assert command("run", *trained.where).returncode == 0
    jobs = submit()
    assert set(jobs) == {"train", "predict", "analyze", "report"}
    assert jobs["analyze"]["dependency"] == f"afterany:{jobs['predict']['job_id']}"
    script = trained.out / "jobs/submission-001/scripts/analyze.sbatch"
    assert "\nredo='--redo'\n" in script.read_text()
    # As the jobs do it.
    finish(fake)
    for words in (("train",), ("predict",)):
        assert command("detect", *words, *trained.where).returncode == 0
    words = ("--only", "analyze", "--redo", "analyze")
    assert command("run", *trained.where, *words).returncode == 0
    assert command("report", trained.out, "--partial").returncode == 0
    assert (trained.out / "report.html").is_file()
    assert "nothing is missing" in command("submit", trained.out, "--resume").stdout


def test_a_training_with_other_settings_is_named_and_nothing_submitted(
    trained, command, fake, tmp_path
):
    cluster = tmp_path / "here.toml"
    cluster.write_text(CLUSTER.format(python=json.dumps(sys.executable)))
    done = command("submit", *trained.where, "--cluster", cluster, "--set", "training.probe=4")
    assert done.returncode == 1
    assert "training big/seed-2 is stale" in done.stderr
    assert "--redo" in done.stderr
    assert fake.jobs == []
