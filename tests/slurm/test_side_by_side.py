"""Two experiments at once, and two people who submit the same one."""

import subprocess
import sys

import pytest
from experiments import call, job_ids, results_of, write_cluster, write_slow_python

pytestmark = pytest.mark.slurm


def test_two_experiments_in_one_folder_tree_do_not_disturb_each_other(slurm, tmp_path, local):
    cluster = write_cluster(tmp_path / "here.toml", shards=2)
    runs = [tmp_path / "runs/one", tmp_path / "runs/two"]
    for run in runs:
        call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    slurm.wait_for([job for run in runs for job in job_ids(run).values()], timeout=300)
    for run in runs:
        assert results_of(run) == local


def test_cancelling_one_leaves_the_other_alone(slurm, tmp_path, local):
    cluster = write_cluster(
        tmp_path / "here.toml", shards=2, python=write_slow_python(tmp_path, 0.2)
    )
    one, two = tmp_path / "runs/one", tmp_path / "runs/two"
    for run in (one, two):
        call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    call(slurm, "cancel", one)
    slurm.wait_for([*job_ids(one).values(), *job_ids(two).values()], timeout=300)
    assert results_of(two) == local
    assert not (one / "report.html").exists()


def test_of_two_submissions_at_once_one_is_refused(slurm, tmp_path, local):
    cluster = write_cluster(tmp_path / "here.toml", shards=1)
    run = tmp_path / "run"
    words = ["submit", "demo", "--cluster", str(cluster), "--out", str(run)]
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "ragmend", *words],
            env=slurm.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate(timeout=120) for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    refusals = [err for (_, err), process in zip(said, both, strict=True) if process.returncode]
    assert "is at work here" in refusals[0] or "are in the queue" in refusals[0]
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert len(list(run.glob("jobs/submission-*"))) == 1
    assert results_of(run) == local


def test_a_local_run_beside_the_jobs_is_refused_and_changes_nothing(slurm, tmp_path, local):
    cluster = write_cluster(tmp_path / "here.toml", shards=2, python=write_slow_python(tmp_path, 1))
    run = tmp_path / "run"
    call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    ids = job_ids(run)
    slurm.wait_for(lambda: len(list(run.glob("05-verdicts/shards/shard-*.lock"))) == 2, timeout=120)
    refused = call(slurm, "run", "demo", "--out", run, check=False)
    assert refused.returncode == 1
    assert "is at work here" in refused.stderr
    (tmp_path / "delay").write_text("0")
    slurm.wait_for(ids.values(), timeout=240)
    assert results_of(run) == local
