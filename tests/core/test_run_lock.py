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
from ragmend.run_lock import FileLock, inspect_lock
from ragmend.unlocking import clear_locks

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
        ({"pid": 0}, "foreign", "does not say who holds it and is no lock of ragmend's"),
        ({"pid": -1}, "foreign", "it is left alone: move it out of the way"),
        ({"pid": 2**40}, "foreign", "does not say who holds it"),
        ({"more": 1}, "foreign", "does not say who holds it"),
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


def content_of_a_lock(path):
    with FileLock(path):
        return path.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.97])
def test_a_torn_lock_is_named_and_can_be_cleared(tmp_path, impatient, share):
    path = tmp_path / "run.lock"
    whole = content_of_a_lock(tmp_path / "folder" / "run.lock")
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(RunStateError, match="does not say who holds it"), FileLock(path):
        pass
    assert [s.kind for s in clear_locks([path], unlock=tmp_path, force=False)] == ["unnamed"]
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [b'{"host": "x"}', b'{"host":"x"}', b"\xff", b"[1]", b"version = 1\n", b"\n", b"\0\0", b'{"h2'],
)
@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_lock_of_ours_is_named_and_left_alone(tmp_path, content, force):
    stale = write_lock(tmp_path / "a.lock", pid=ended_process())
    path = tmp_path / "run.lock"
    path.write_bytes(content)
    words = r"run\.lock: does not say who holds it and is no lock of ragmend's"
    with pytest.raises(RunStateError, match=words), FileLock(path):
        pass
    with pytest.raises(RunStateError, match=words):
        clear_locks([stale, path], unlock=tmp_path, force=force)
    assert stale.exists()
    assert path.read_bytes() == content


def make_directory(path):
    path.mkdir()


def make_dangling_link(path):
    path.symlink_to(path.with_name("nowhere"))


def make_link(path):
    path.symlink_to(write_lock(path.with_name("other"), pid=ended_process()))


@pytest.mark.parametrize("make", [make_directory, make_dangling_link, make_link, os.mkfifo])
def test_what_is_no_file_of_its_own_is_named_and_left_alone(tmp_path, make):
    path = tmp_path / "run.lock"
    make(path)
    with pytest.raises(RunStateError, match="no lock of ragmend's"), FileLock(path):
        pass
    with pytest.raises(RunStateError, match="no lock of ragmend's"):
        clear_locks([path], unlock=tmp_path, force=True)
    assert os.path.lexists(path)


def test_a_lock_that_is_always_gone_when_looked_at_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(run_lock, "inspect_lock", lambda path: None)
    path = write_lock(tmp_path / "run.lock")
    with pytest.raises(RunStateError, match="others take it and give it back"), FileLock(path):
        pass
    assert path.exists()


def test_signals_wait_only_while_the_file_is_made(tmp_path, monkeypatch):
    blocked = []

    def look(path):
        blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    monkeypatch.setattr(run_lock, "inspect_lock", look)
    with pytest.raises(RunStateError), FileLock(write_lock(tmp_path / "run.lock")):
        pass
    assert blocked == [set()] * run_lock.ATTEMPTS


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


def replaced_when_moved(path, content, monkeypatch):
    """Let another process clear and take a lock just before it is moved aside."""
    rename = Path.rename

    def replace_and_rename(self, target):
        if self == path:
            self.write_bytes(content)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", replace_and_rename)


@pytest.mark.parametrize("has_hard_links", [True, False])
def test_a_lock_that_changes_hands_while_it_is_cleared_is_put_back(
    tmp_path, monkeypatch, has_hard_links
):
    path = write_lock(tmp_path / "run.lock", pid=ended_process())
    theirs = json.dumps(HOLDER).encode()
    replaced_when_moved(path, theirs, monkeypatch)
    if not has_hard_links:
        monkeypatch.setattr(os, "link", lambda source, target: (source / "x").stat())
    with pytest.raises(RunStateError, match=r"run\.lock: changed hands just now"):
        clear_locks([path], unlock=tmp_path, force=False)
    assert path.read_bytes() == theirs
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_is_never_put_back_over_a_third_one(tmp_path, monkeypatch):
    path = write_lock(tmp_path / "run.lock", pid=ended_process())
    third = json.dumps(HOLDER | {"pid": 1}).encode()
    replaced_when_moved(path, json.dumps(HOLDER).encode(), monkeypatch)
    link = os.link

    def too_late(source, target):
        target.write_bytes(third)
        return link(source, target)

    monkeypatch.setattr(os, "link", too_late)
    with pytest.raises(RunStateError, match="changed hands just now"):
        clear_locks([path], unlock=tmp_path, force=False)
    assert path.read_bytes() == third
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_that_is_gone_by_then_was_not_cleared_here(tmp_path, monkeypatch):
    path = write_lock(tmp_path / "run.lock", pid=ended_process())
    rename = Path.rename
    monkeypatch.setattr(Path, "rename", lambda self, to: (self.unlink(), rename(self, to)))
    assert clear_locks([path], unlock=tmp_path, force=False) == []
    assert list(tmp_path.iterdir()) == []


INTERRUPT_EVERYWHERE = """
    import atexit, contextlib, os, signal, sys
    from pathlib import Path
    from ragmend import run_lock

    path = Path(sys.argv[1])
    files = {run_lock.__file__, contextlib.__file__, signal.__file__, __file__}

    def interrupt_at(number):
        n_seen = 0
        def trace(frame, event, argument):
            nonlocal n_seen
            n_seen += 1
            if n_seen == number:
                sys.settrace(None)
                os.kill(os.getpid(), signal.SIGINT)
            return trace if frame.f_code.co_filename in files else None
        return trace

    def work():
        with run_lock.FileLock(path):
            pass

    number, end = 0, 0
    while end == 0:
        number += 1
        child = os.fork()
        if child == 0:
            try:
                sys.settrace(interrupt_at(number))
                work()
                sys.settrace(None)
                code = 1  # no signal came: `work` has no more places
            except KeyboardInterrupt:
                code = 0
            atexit._run_exitfuncs()  # as `sys.exit`, without the long way down
            os._exit(code)
        end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if os.path.lexists(path):
            sys.exit(f"left by a signal at place {number}")
    print(number)
"""


def test_a_signal_at_any_place_leaves_no_lock(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(INTERRUPT_EVERYWHERE))
    command = [sys.executable, script, tmp_path / "folder" / "run.lock"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


def test_a_forked_child_that_ends_does_not_give_the_lock_back(tmp_path):
    code = f"""
        import os, sys
        from pathlib import Path
        from ragmend.run_lock import FileLock
        path = Path({str(tmp_path / "run.lock")!r})
        with FileLock(path):
            child = os.fork()
            if child == 0:
                sys.exit()
            os.waitpid(child, 0)
            print(path.exists())
        print(path.exists())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


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


def test_a_folder_that_goes_while_it_is_made_is_tried_again(tmp_path, monkeypatch):
    # As pathlib does it: mkdir finds the folder there, and then another process removes it.
    made, calls = Path.mkdir, []

    def mkdir(self, *args, **kwargs):
        calls.append(self)
        if len(calls) == 1:
            raise FileExistsError(17, "File exists", str(self))
        return made(self, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with FileLock(tmp_path / "locks" / "x.lock"):
        assert (tmp_path / "locks" / "x.lock").exists()
    assert len(calls) > 1
