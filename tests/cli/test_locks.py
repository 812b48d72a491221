"""Two commands in one run folder: one of them works, the other says who does."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragmend.run_lock import FileLock

SLEEPER = """
import sys, time
from pathlib import Path
from ragmend.run_lock import FileLock
with FileLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder():
    """Start a process that holds a lock; it is killed at the end."""
    started = []

    def start(path):
        process = subprocess.Popen(
            [sys.executable, "-c", SLEEPER, str(path)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def one_error(done):
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ragmend: ")]
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == line
    return line


@pytest.mark.slow
def test_two_whole_runs_in_one_folder_leave_one_whole_run(tmp_path, finished, files_of):
    command = [sys.executable, "-m", "ragmend", "run", "demo", "--out", str(tmp_path / "run")]
    both = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = [process.communicate()[1] for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 1], errors
    lines = errors[codes.index(1)].splitlines()
    assert len(lines) == 1
    assert f"run.lock: process {both[codes.index(0)].pid} on " in lines[0]
    assert "is at work here; wait until it has ended" in lines[0]
    assert files_of(tmp_path / "run") == files_of(finished)


WRITERS = [
    ("run", "demo", "--out", "run"),
    ("run", "demo", "--out", "run", "--export-all"),
    ("detect", "predict", "demo", "--out", "run"),
    ("repair", "demo", "--out", "run"),
    ("judge", "demo", "--out", "run"),
    ("analyze", "run", "--redo"),
    ("report", "run", "--redo"),
]


@pytest.mark.parametrize("words", WRITERS, ids=[" ".join(words) for words in WRITERS])
def test_every_command_that_writes_waits_for_its_turn(
    run, finished, monkeypatch, command, files_of, words
):
    monkeypatch.chdir(run.parent)
    with FileLock(Path("run/run.lock")):
        line = one_error(command(*words))
        assert f"run/run.lock: process {os.getpid()} on " in line
        assert command("status", "run").returncode == 0
        assert command("detect", "score", "run").returncode == 0
    assert files_of(run) == files_of(finished)


def test_an_export_alone_takes_the_lock_too(run, monkeypatch):
    from ragmend.cli.experiment import open_experiment
    from ragmend.errors import RunStateError

    with FileLock(run / "run.lock"), pytest.raises(RunStateError, match="is at work here"):
        open_experiment("demo", run).export_all()
    assert not (run / "07-arms/all_answers.jsonl").exists()


def test_status_says_who_is_at_work(run, holder, command):
    process = holder(run / "run.lock")
    assert f"process {process.pid} on " in command("status", run).stdout
    process.kill()
    process.wait()
    shown = command("status", run).stdout
    assert "which no longer runs" in shown
    assert f"`ragmend unlock {run}` clears it" in shown


def test_a_lock_that_a_kill_left_stops_until_it_is_cleared(
    run, finished, holder, command, files_of
):
    process = holder(run / "run.lock")
    assert "is at work here" in one_error(command("unlock", run))
    process.kill()
    process.wait()
    line = one_error(command("run", "demo", "--out", run))
    assert f"left by process {process.pid} on " in line
    assert f"`ragmend unlock {run}` clears it, and what is done is kept" in line
    done = command("unlock", run)
    assert (done.returncode, done.stdout.split()[0]) == (0, "cleared")
    assert command("run", "demo", "--out", run).returncode == 0
    assert files_of(run) == files_of(finished)
    assert "nothing to clear" in command("unlock", run).stdout


def test_a_lock_of_another_host_is_cleared_by_force_only(run, command):
    with FileLock(run / "run.lock"):
        holder = json.loads((run / "run.lock").read_text())
    holder |= {"host": "node17", "slurm_job_id": "4711"}
    (run / "run.lock").write_text(json.dumps(holder))
    line = one_error(command("run", "demo", "--out", run))
    assert "on node17 (SLURM job 4711) since" in line
    assert f"`ragmend unlock {run} --force` clears it" in line
    one_error(command("unlock", run))
    assert command("unlock", run, "--force").returncode == 0
    assert not (run / "run.lock").exists()


def test_two_writers_of_one_shard_are_refused_by_the_shard(
    run, finished, command, files_of, holder
):
    (run / "08-judgements/manifest.json").unlink()
    shard = run / "08-judgements/shards/shard-0000.jsonl.lock"
    process = holder(shard)
    line = one_error(command("run", "demo", "--out", run))
    assert f"{shard}: process {process.pid} on " in line
    process.kill()
    process.wait()
    assert f"`ragmend unlock {shard}` clears it" in one_error(command("run", "demo", "--out", run))
    assert command("unlock", run).returncode == 0
    assert command("run", "demo", "--out", run).returncode == 0
    assert files_of(run) == files_of(finished)


def test_a_folder_that_holds_nothing_but_a_lock_becomes_a_run_once_it_is_cleared(
    tmp_path, command, monkeypatch
):
    monkeypatch.setattr("ragmend.run_lock.PATIENCE_S", 0.02)
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.lock").write_bytes(b"")
    assert "does not say who holds it" in one_error(command("run", "demo", "--out", run))
    assert command("unlock", run).returncode == 0
    assert command("run", "demo", "--out", run, "--only", "detect").returncode == 0


def test_what_a_kill_left_half_written_is_swept_away(run, finished, command, files_of):
    (run / "tables/selection.csv.partial").write_bytes(b"quan")
    (run / "07-arms/all_answers.jsonl.partial").write_bytes(b"{")
    assert command("run", "demo", "--out", run).returncode == 0
    assert files_of(run) == files_of(finished)


def leave_lock(path, *, host="other", job=None):
    """Leave a lock as a killed process on another host does, or of a SLURM job."""
    with FileLock(path.with_name("x.lock")):
        holder = json.loads(path.with_name("x.lock").read_text())
        path.write_text(json.dumps(holder | {"host": host, "slurm_job_id": job}))
    return path


FOREIGN = ("uv.lock", "poetry.lock", "shard-0000.jsonl.lock", "run.lock.old", "shards/other.lock")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_no_lock_by_its_name_is_left_alone(tmp_path, command, name):
    (tmp_path / "shards").mkdir()
    lock = leave_lock(tmp_path / name)
    line = one_error(command("unlock", lock, "--force"))
    assert f"{lock}: is neither a run folder nor a lock of ragmend's" in line
    assert lock.exists()


@pytest.mark.parametrize("name", ["run.lock", "shards/shard-0000.jsonl.lock"])
def test_a_file_that_is_no_lock_by_its_content_is_left_alone(tmp_path, command, name):
    lock = tmp_path / name
    lock.parent.mkdir(exist_ok=True)
    lock.write_text("version = 1\n")
    line = one_error(command("unlock", lock, "--force"))
    assert f"{lock}: does not say who holds it and is no lock of ragmend's" in line
    assert lock.read_text() == "version = 1\n"


@pytest.mark.parametrize("name", ["run.lock", "shards/shard-0000.jsonl.lock"])
def test_a_lock_is_cleared_by_its_own_name_too(tmp_path, command, monkeypatch, name):
    (tmp_path / "shards").mkdir()
    lock = leave_lock(tmp_path / name)
    monkeypatch.chdir(lock.parent)
    assert command("unlock", lock.name, "--force").returncode == 0
    assert not lock.exists()


def test_a_folder_that_is_no_run_is_left_alone(tmp_path, command):
    (tmp_path / "stage/shards").mkdir(parents=True)
    lock = leave_lock(tmp_path / "stage/shards/shard-0000.jsonl.lock")
    for folder in (tmp_path, tmp_path / "stage", tmp_path / "stage/shards"):
        line = one_error(command("unlock", folder, "--force"))
        assert f"{folder}: is no run folder (neither config.toml nor run.lock in it)" in line
    assert lock.exists()


def test_only_the_locks_of_a_run_are_cleared_in_it(run, command):
    ours = [run / "run.lock", run / "05-verdicts/shards/shard-0000.jsonl.lock"]
    others = [run / "uv.lock", run / "05-verdicts/shards/other.lock"]
    others += [run / "other/05-verdicts/shards/shard-0000.jsonl.lock"]
    for lock in (*ours, *others):
        lock.parent.mkdir(parents=True, exist_ok=True)
        leave_lock(lock)
    done = command("unlock", run, "--force")
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines()] == [str(p) for p in ours[::-1]]
    assert [lock.exists() for lock in (*ours, *others)] == [False] * 2 + [True] * 3


@pytest.mark.parametrize("present", [[], ["config.toml"], ["config.toml.partial"]])
def test_where_there_is_no_lock_all_is_well(tmp_path, command, present):
    for name in present:
        (tmp_path / name).touch()
    done = command("unlock", tmp_path, "--force")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}: no lock; nothing to clear\n")


def test_a_dangling_link_in_place_of_the_lock_is_named_and_left_alone(tmp_path, command):
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.lock").symlink_to("nowhere")
    line = one_error(command("run", "demo", "--out", run))
    assert "run.lock: does not say who holds it and is no lock of ragmend's" in line
    assert "no lock of ragmend's" in one_error(command("unlock", run, "--force"))
    assert "no lock of ragmend's" in one_error(command("unlock", run / "run.lock"))
    assert (run / "run.lock").is_symlink()


JOB = Path(__file__).parents[2] / "slurm/run.sbatch"


def submit(run, *, python=sys.executable, restarts=None):
    """Run the job script as SLURM does at the first or a later start."""
    environment = os.environ | {
        "RAGMEND_PYTHON": str(python),
        "SLURM_JOB_ID": "77",
        "SLURM_SUBMIT_DIR": str(JOB.parents[1]),
    }
    environment.pop("SLURM_RESTART_COUNT", None)
    if restarts is not None:
        environment["SLURM_RESTART_COUNT"] = restarts
    command = ["bash", str(JOB), str(run), "demo"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_requeued_job_clears_its_own_locks_and_goes_on(run, finished, files_of):
    (run / "08-judgements/manifest.json").unlink()
    (run / "08-judgements/shards").mkdir()
    leave_lock(run / "08-judgements/shards/shard-0000.jsonl.lock", job="77")
    leave_lock(run / "run.lock", job="77")
    done = submit(run, restarts="1")
    assert done.returncode == 0, done.stderr
    assert files_of(run) == files_of(finished)


@pytest.mark.parametrize("present", [None, [], ["config.toml"], ["config.toml.partial"]])
def test_a_requeued_job_goes_on_where_there_is_no_lock(tmp_path, present):
    python = tmp_path / "python"  # unlocks, but only says what it would run
    python.write_text(f'#!/bin/sh\n[ "$4" = run ] && echo "$@" || exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    run = tmp_path / "run"
    if present is not None:
        run.mkdir()
        for name in present:
            (run / name).touch()
    done = submit(run, python=python, restarts="2")
    assert done.returncode == 0, done.stderr
    assert f"-P -m ragmend run demo --out {run}" in done.stdout.splitlines()


@pytest.mark.parametrize("restarts", [None, "0"])
def test_a_job_that_was_not_requeued_clears_nothing(run, restarts):
    lock = leave_lock(run / "run.lock")
    done = submit(run, restarts=restarts)
    assert done.returncode == 1
    assert "on other since" in done.stderr
    assert lock.exists()


def test_unlocking_nothing_is_named(tmp_path, command):
    assert "no such run folder or lock" in one_error(command("unlock", tmp_path / "none"))


def wait_until_signals_are_handled(process):
    while True:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "terminated"),
        (signal.SIGHUP, "terminal closed"),
    ],
)
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.15, 0.3, 2.0])
def test_a_signal_at_any_moment_is_one_line_and_gives_the_lock_back(
    tmp_path, number, word, after_s
):
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmend", "run", "demo", "--out", str(tmp_path / "run")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until_signals_are_handled(process)
    time.sleep(after_s)
    process.send_signal(number)
    process.send_signal(number)  # an impatient second one does not break the clean-up
    stderr = process.communicate()[1]
    assert process.returncode == 128 + number, stderr
    lines = [line for line in stderr.splitlines() if line.startswith("ragmend: ")]
    assert lines == [f"ragmend: {word}; what is done is kept, run the same command again to go on"]
    assert "Traceback" not in stderr
    left = [p.name for p in tmp_path.rglob("*") if p.suffix in (".lock", ".partial")]
    assert left == []
