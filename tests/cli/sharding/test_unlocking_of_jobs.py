"""`ragmend unlock --slurm-job`: the locks of a job that has ended, wherever it ran."""

import os

import pytest

from ragmend.run_lock import FileLock, Holder


def lock(path, job, *, host="node17", pid=4):
    holder = Holder(host=host, pid=pid, process_start=7, slurm_job_id=job, started_at="2026")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(holder.model_dump_json() + "\n")
    return path


@pytest.fixture
def locks(matched, in_parts):
    root = in_parts.root
    return {
        "run": root / "run.lock",
        "shard": root / "05-verdicts/shards/shard-0003.jsonl.lock",
        "answers": root / "05-verdicts/shards/shard-0003-0123abcd.jsonl.lock",
        "training": root / "00-training/llama/seed-42/run.lock",
        "predict": root / "01-detections/llama/seed-42/run.lock",
    }


def test_all_kinds_of_locks_of_the_job_are_cleared_and_no_others(in_parts, locks, command):
    for path in locks.values():
        lock(path, "4711")
    others = [
        lock(in_parts.root / "05-verdicts/shards/shard-0004.jsonl.lock", "47110"),
        lock(in_parts.root / "05-verdicts/shards/shard-0005.jsonl.lock", None),
    ]
    done = command("unlock", in_parts.root, "--slurm-job", "4711")
    assert done.returncode == 0, done.stderr
    assert not any(path.exists() for path in locks.values())
    assert all(path.exists() for path in others)
    assert len(done.stdout.splitlines()) == len(locks)
    assert all(line.startswith("cleared  ") for line in done.stdout.splitlines())


def test_a_job_without_locks_is_fine(in_parts, locks, command):
    lock(locks["run"], "4712")
    done = command("unlock", in_parts.root, "--slurm-job", "4711")
    assert done.returncode == 0
    assert done.stdout == f"{in_parts.root}: no lock of SLURM job 4711 to clear\n"
    assert locks["run"].exists()


def test_a_torn_lock_is_left_alone_and_named(in_parts, locks, command):
    torn = locks["shard"]
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b'{"host":"node')
    lock(locks["run"], "4711")
    done = command("unlock", in_parts.root, "--slurm-job", "4711")
    assert done.returncode == 0
    assert torn.exists()
    assert not locks["run"].exists()
    assert f"left     {torn}: does not say who holds it" in done.stdout


def test_a_process_that_lives_keeps_its_lock_and_is_named(in_parts, locks, command, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    with FileLock(locks["shard"]):
        done = command("unlock", in_parts.root, "--slurm-job", "4711")
        assert locks["shard"].exists()
    assert done.returncode == 0
    assert f"process {os.getpid()}" in done.stdout
    assert "is at work here" in done.stdout


def test_a_folder_with_jobs_that_have_not_begun_is_a_run(tmp_path, command):
    (tmp_path / "run/jobs").mkdir(parents=True)
    assert command("unlock", tmp_path / "run", "--slurm-job", "4711").returncode == 0
    done = command("run", "demo", "--out", tmp_path / "run", "--only", "detect")
    assert done.returncode == 0, done.stderr


def test_a_job_and_force_do_not_go_together(in_parts, command):
    done = command("unlock", in_parts.root, "--slurm-job", "4711", "--force")
    assert done.returncode == 2
