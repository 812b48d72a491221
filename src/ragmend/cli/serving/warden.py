"""The process between ragmend and a server: whatever becomes of ragmend, the server ends.

It starts the server, and ends it when it gets SIGTERM or when ragmend is gone, killed without a
word included. A server is several processes (the engine's hold the GPU, and outlive a killed
parent), so all of its session are looked after, and it is only left when none of them lives.

Run by its path with ragmend's own interpreter, so that no setting meant for the server's
interpreter changes it; it needs the standard library only.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple

POLL_S = 0.1
GRACE_S = 3.0
"""What a dead server's processes get to clean up after themselves (shared memory)."""
KILL_S = 10.0
"""How long the kernel may take to bury what was killed."""
LEFT_OVER = 70
"""Exit code where a process of the server could not be killed."""
ZOMBIE_STATES = "ZXx"


class Stop:
    """Whether SIGTERM came."""

    def __init__(self) -> None:
        """Watch for it; what a terminal or a scheduler sends to all is ragmend's to act on."""
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True


def main(arguments: list[str]) -> int:
    """Start a server and stay until it has ended.

    Args:
        arguments: The pid of ragmend, the seconds a server may take to end, and its command.

    Returns:
        The server's exit code, 128 + n where signal n killed it.
    """
    parent, stop_s, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    stop = Stop()
    try:
        server = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
        )
    except OSError as error:
        print(f"ServerError: {command[0]}: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        return 127
    print(server.pid, flush=True)  # noqa: T201
    while server.poll() is None and not stop.asked and os.getppid() == parent:
        time.sleep(POLL_S)
    if not end_server(server, stop_s):
        return LEFT_OVER
    return server.returncode if server.returncode >= 0 else 128 - server.returncode


def end_server(server: "subprocess.Popen[bytes]", stop_s: float) -> bool:
    """End a server and all of its session: first asked to, then killed.

    Returns:
        Whether none of its processes is left.
    """
    grace_s = GRACE_S
    if server.poll() is None:
        server.terminate()
        grace_s = stop_s
    if not _await_end(server, grace_s):
        kill_session(server.pid)
    return _await_end(server, KILL_S)


def kill_session(leader: int) -> None:
    """Kill every process of a session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for pid in session_members(leader):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def session_members(leader: int) -> list[int]:
    """Return the living processes of the session that a process leads or led.

    Where the system does not list processes as files, only the process group can be seen.
    """
    if not Path("/proc/self/stat").exists():
        return _group_members(leader)
    found = []
    for folder in Path("/proc").iterdir():
        stat = _read_stat(folder) if folder.name.isdecimal() else None
        if stat is not None and stat.session == leader and stat.lives:
            found.append(int(folder.name))
    return found


def lives(pid: int) -> bool:
    """Tell whether a process has not ended; a dead one that nobody has reaped yet has."""
    folder = Path("/proc") / str(pid)
    if Path("/proc/self/stat").exists():
        stat = _read_stat(folder)
        return stat is not None and stat.lives
    return bool(_group_members(pid))


class _Stat(NamedTuple):
    lives: bool
    session: int


def _read_stat(folder: Path) -> _Stat | None:
    try:
        text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None  # it has ended meanwhile
    # After the name, which may hold anything: state, parent, group, session.
    state, _, _, session = text.rpartition(")")[2].split()[:4]
    return _Stat(state not in ZOMBIE_STATES, int(session))


def _group_members(leader: int) -> list[int]:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return []
    return [leader]


def _await_end(server: "subprocess.Popen[bytes]", seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while server.poll() is None or session_members(server.pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
