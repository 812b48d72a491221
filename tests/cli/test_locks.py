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
