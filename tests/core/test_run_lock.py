"""A lock file: one winner, a holder that is named, and nothing taken over in silence."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ragmend import run_lock
from ragmend.errors import OutputError, RunStateError
from ragmend.run_lock import FileLock, clear_locks, inspect_lock

HOLDER = {
    "host": socket.gethostname(),
    "pid": os.getpid(),
    "process_start": None,
    "slurm_job_id": None,
    "started_at": "2026-01-02T03:04:05+00:00",
}


@pytest.fixture
def impatient(monkeypatch):
    """Do not wait for the writer of a lock without content."""
    monkeypatch.setattr(run_lock, "PATIENCE_S", 0.02)


def write_lock(path, **changes):
    path.write_text(json.dumps(HOLDER | changes))
    return path


def ended_process():
    """Return the id of a process that no longer runs."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def start_holder(path, *, then):
    """Start a process that holds a lock; return it once it does."""
    code = f"""
        import os, signal, sys, time
        from pathlib import Path
        from ragmend.run_lock import FileLock
        with FileLock(Path({str(path)!r})):
            print("held", flush=True)
            {then}
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    process.stdout.close()
    return process


def test_a_lock_says_who_holds_it_and_is_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    path = tmp_path / "folder" / "run.lock"
    with FileLock(path):
        holder = json.loads(path.read_text())
        assert (holder["host"], holder["pid"]) == (socket.gethostname(), os.getpid())
        assert holder["slurm_job_id"] == "4711"
        assert inspect_lock(path).kind == "alive"
        assert "(SLURM job 4711) since 2" in inspect_lock(path).describe(path.parent)
    assert list(tmp_path.iterdir()) == []  # nor the folder that was made for it


def test_a_lock_goes_when_the_work_fails_and_leaves_other_files_alone(tmp_path):
    (tmp_path / "x").write_text("x")
    with pytest.raises(ZeroDivisionError), FileLock(tmp_path / "run.lock"):
        _ = 1 / 0
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_a_second_holder_is_refused_and_the_first_keeps_the_lock(tmp_path):
    path = tmp_path / "run.lock"
    with FileLock(path):
        before = path.read_bytes()
        with pytest.raises(RunStateError, match="is at work here; wait"), FileLock(path):
            pass
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({}, "alive", "is at work here; wait until it has ended"),
        ({"process_start": 1}, "dead", "which no longer runs; `ragmend unlock /r` clears it"),
        ({"host": "other"}, "elsewhere", "if it does not, `ragmend unlock /r --force` clears it"),
        ({"pid": 0}, "unnamed", "does not say who holds it"),
        ({"pid": -1}, "unnamed", "does not say who holds it"),
        ({"pid": 2**40}, "unnamed", "does not say who holds it"),
        ({"more": 1}, "unnamed", "`ragmend unlock /r` clears it"),
    ],
)
def test_what_is_known_of_a_holder(tmp_path, impatient, changes, kind, words):
    state = inspect_lock(write_lock(tmp_path / "run.lock", **changes))
    assert state.kind == kind
    assert words in state.describe(Path("/r"))


def test_a_holder_that_has_ended_is_dead_and_never_taken_over(tmp_path):
    path = write_lock(tmp_path / "run.lock", pid=ended_process())
    assert inspect_lock(path).kind == "dead"
    with pytest.raises(RunStateError, match="which no longer runs"), FileLock(path):
        pass
    assert path.exists()


def test_a_process_that_ended_and_was_not_waited_for_is_dead(tmp_path):
    process = start_holder(tmp_path / "run.lock", then="time.sleep(60)")
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert inspect_lock(tmp_path / "run.lock").kind == "dead"
    process.wait()


@pytest.mark.parametrize("content", ["", "{", '{"host": "x"}', "\udcff", "[1]"])
def test_a_torn_lock_is_named_and_can_be_cleared(tmp_path, impatient, content):
    path = tmp_path / "run.lock"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(RunStateError, match="does not say who holds it"), FileLock(path):
        pass
    assert [s.kind for s in clear_locks([path], unlock=tmp_path, force=False)] == ["unnamed"]
    assert not path.exists()


@pytest.mark.parametrize("changes", [{}, {"host": "other"}])
def test_a_lock_that_may_be_held_is_cleared_by_force_only(tmp_path, changes):
    stale = write_lock(tmp_path / "a.lock", pid=ended_process())
    held = write_lock(tmp_path / "run.lock", **changes)
    with pytest.raises(RunStateError, match=r"run\.lock"):
        clear_locks([stale, held], unlock=tmp_path, force=False)
    assert stale.exists()
    assert held.exists()
    assert len(clear_locks([stale, held], unlock=tmp_path, force=True)) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_lock_forced_away_and_taken_by_another_is_left_to_it(tmp_path):
    path = tmp_path / "run.lock"
    with FileLock(path):
        path.unlink()
        write_lock(path, pid=1)
        theirs = path.read_bytes()
    assert path.read_bytes() == theirs


def test_where_no_file_can_be_made_the_place_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match=r"file/run\.lock: cannot be written"):
        FileLock(tmp_path / "file" / "run.lock").__enter__()


def test_of_many_processes_at_once_exactly_one_gets_the_lock(tmp_path):
    code = """
        import sys, time
        from pathlib import Path
        from ragmend.errors import RunStateError
        from ragmend.run_lock import FileLock
        folder = Path(sys.argv[1])
        print("ready", flush=True)
        while not (folder / "go").exists():
            pass
        for number in range(20):
            try:
                with FileLock(folder / "locks" / f"{number}.lock"):
                    print("won", number, flush=True)
                    while not (folder / f"next{number}").exists():
                        time.sleep(0.001)
            except RunStateError:
                print("lost", number, flush=True)
                while not (folder / f"next{number}").exists():
                    time.sleep(0.001)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) for _ in range(4)
    ]
    assert [p.stdout.readline() for p in processes] == ["ready\n"] * 4
    (tmp_path / "go").touch()
    for number in range(20):
        words = sorted(process.stdout.readline() for process in processes)
        assert words == [f"lost {number}\n"] * 3 + [f"won {number}\n"]
        (tmp_path / f"next{number}").touch()
    for process in processes:
        process.stdout.close()
        assert process.wait() == 0
    assert not (tmp_path / "locks").exists()
