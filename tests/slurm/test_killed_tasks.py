"""Tasks that are killed: no record is lost, none is there twice, the results are the same."""

import subprocess

import pytest
from experiments import (
    call,
    job_ids,
    logs_of,
    n_recorded,
    results_of,
    write_cluster,
    write_slow_python,
)

pytestmark = pytest.mark.slurm


@pytest.fixture
def slow(slurm, tmp_path):
    """Submit the demonstration with a verifier that takes `seconds` an answer."""

    def submit(seconds, **settings):
        python = write_slow_python(tmp_path, seconds)
        cluster = write_cluster(tmp_path / "here.toml", python=python, **settings)
        run = tmp_path / "run"
        call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
        return run, cluster

    yield submit
    call(slurm, "cancel", tmp_path / "run", check=False)


def begun(slurm, run, *shards):
    """Wait until shards of `verify` have recorded something and are not at their end."""
    slurm.wait_for(lambda: all(n_recorded(run, shard) >= 1 for shard in shards), timeout=120)


def pids_of(run, shard):
    """Return the processes that answer one shard."""
    found = subprocess.run(
        ["pgrep", "-f", rf"ragmend shard {run}/.* --shard {shard} "],
        capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    return [int(pid) for pid in found]


def test_a_process_that_is_killed_and_a_task_that_is_cancelled_are_done_by_resume(
    slurm, slow, local, tmp_path
):
    run, cluster = slow(1.5)
    ids = job_ids(run)
    begun(slurm, run, 1, 2)
    (pid,) = pids_of(run, 1)
    subprocess.run(["kill", "-KILL", str(pid)], check=True)
    slurm.run("scancel", f"{ids['verify']}_2")
    slurm.wait_for(ids.values(), timeout=120)
    assert slurm.job(f"{ids['verify']}_1").state == "FAILED"
    assert slurm.job(f"{ids['verify']}_2").state == "CANCELLED"
    assert slurm.job(ids["verify-fold"]).state == "CANCELLED"
    kept = {shard: n_recorded(run, shard) for shard in (1, 2)}
    assert all(kept.values())
    (tmp_path / "delay").write_text("0")
    printed = call(slurm, "submit", run, "--cluster", cluster, "--resume").stdout
    rows = {line.split()[0]: line.split() for line in printed.splitlines()[1:]}
    assert rows["verify"][2] == "2", printed
    assert not {"detect", "select", "split", "match"} & {*rows}
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local
    logs = logs_of(run)
    again = [text for text in logs.values() if "resuming" in text]
    assert len(again) == 2, logs
    for shard, n in kept.items():
        assert any(f"resuming: {n} units are recorded" in text for text in again), (shard, n)


def test_a_task_that_gives_way_is_queued_again_by_slurm_and_goes_on(slurm, slow, local, tmp_path):
    run, _ = slow(2, partition="preempt")
    ids = job_ids(run)
    begun(slurm, run, 0, 1, 2, 3)
    (tmp_path / "delay").write_text("0")
    other = slurm.sbatch(
        "--partition=gpu", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 5"
    )
    slurm.wait_for([other], timeout=120)
    slurm.wait_for(ids.values(), timeout=240)
    tasks = slurm.tasks(ids["verify"])
    assert {task.state for task in tasks.values()} == {"COMPLETED"}
    assert any(task.restarts for task in tasks.values())
    assert results_of(run) == local
    assert any("life 2 of 20" in text for text in logs_of(run).values())


def test_a_task_that_meets_its_time_limit_saves_and_comes_back(slurm, slow, local, tmp_path):
    # 90 s, of which SLURM's warning may take 20 + 60; four or five answers of 30 s each.
    run, _ = slow(30, embedded='time = "00:01:30"')
    ids = job_ids(run)
    slurm.wait_for(
        lambda: any("back to the queue for life 2" in text for text in logs_of(run).values()),
        timeout=240,
    )
    (tmp_path / "delay").write_text("0")
    slurm.wait_for(ids.values(), timeout=240)
    assert results_of(run) == local
    tasks = slurm.tasks(ids["verify"])
    assert {task.state for task in tasks.values()} == {"COMPLETED"}
    assert all(task.restarts >= 1 for task in tasks.values()), tasks


@pytest.mark.slow
def test_a_task_may_be_asked_to_end_at_any_moment(slurm, slow, local, tmp_path):
    run, _ = slow(0.4)
    ids = job_ids(run)
    begun(slurm, run, 0)
    slurm.run("scancel", "--signal=USR1", "--batch", f"{ids['verify']}_0")
    slurm.run("scontrol", "requeue", f"{ids['verify']}_1")
    slurm.wait_for(ids.values(), timeout=240)
    assert results_of(run) == local
    assert slurm.job(f"{ids['verify']}_0").restarts == 1


@pytest.mark.slow
def test_a_task_that_is_cancelled_does_not_come_back(slurm, slow):
    run, _ = slow(3)
    ids = job_ids(run)
    begun(slurm, run, 0)
    said = call(slurm, "cancel", run).stdout
    assert "cancelled" in said
    slurm.wait_for(ids.values(), timeout=60)
    assert slurm.queue() == []
    assert not pids_of(run, 0)
    assert "is at work here" not in call(slurm, "status", run).stdout


@pytest.mark.slow
def test_what_was_cancelled_is_finished_by_resume(slurm, slow, local, tmp_path):
    run, cluster = slow(3)
    begun(slurm, run, 0)
    call(slurm, "cancel", run)
    slurm.wait_for(job_ids(run).values(), timeout=60)
    (tmp_path / "delay").write_text("0")
    call(slurm, "submit", run, "--cluster", cluster, "--resume")
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local


@pytest.mark.slow
def test_a_task_whose_partition_cancels_what_gives_way_is_done_by_resume(
    slurm, slow, local, tmp_path
):
    run, cluster = slow(2, partition="precancel")
    ids = job_ids(run)
    begun(slurm, run, 0, 1, 2, 3)
    other = slurm.sbatch(
        "--partition=gpu", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 1"
    )
    slurm.wait_for([other, *ids.values()], timeout=240)
    assert {task.state for task in slurm.tasks(ids["verify"]).values()} <= {
        "PREEMPTED", "CANCELLED", "FAILED",
    }  # fmt: skip
    (tmp_path / "delay").write_text("0")
    call(slurm, "submit", run, "--cluster", cluster, "--resume")
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local
