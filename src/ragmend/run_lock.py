"""One writer a run folder and one a shard: lock files made with O_CREAT | O_EXCL.

Shared cluster file systems do not honour `flock` reliably, but they create a file once. The
file says who holds it. A killed process leaves its lock behind; it is never taken over
silently, but named together with the command that clears it (see `ragmend.unlocking`).
"""

import atexit
import os
import shlex
import signal
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field

from ragmend.errors import OutputError, RunStateError
from ragmend.io import Line, name_reading_errors, parse_record
from ragmend.manifest import now
from ragmend.records import Record

PATIENCE_S = 1.0  # how long a lock may be without content: its writer is between two calls
ATTEMPTS = 100  # how often a lock may be seen and be gone again before it is given up
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


class Holder(Record):
    """The process that holds a lock.

    `process_start` (clock ticks after boot, from /proc) tells it from a later process that
    got the same id; None where the system does not say.
    """

    host: str
    pid: Annotated[int, Field(ge=1, lt=2**31)]
    process_start: int | None
    slurm_job_id: str | None
    started_at: str

    def __str__(self) -> str:
        """Say who and since when, for messages."""
        job = f" (SLURM job {self.slurm_job_id})" if self.slurm_job_id else ""
        return f"process {self.pid} on {self.host}{job} since {self.started_at}"


class LockState(NamedTuple):
    """A lock as it was found.

    `kind` is what is known of its holder: `alive` or `dead` on this host, `elsewhere` on
    another one, where it cannot be checked, `unnamed` where a kill came before the file said
    it all, or `foreign` where the file is none of ours.
    """

    path: Path
    kind: Literal["alive", "dead", "elsewhere", "unnamed", "foreign"]
    holder: Holder | None = None
    content: bytes = b""

    def describe(self, unlock: Path) -> str:
        """Say who holds it, and what to do; `unlock` is what `ragmend unlock` is given."""
        command = f"ragmend unlock {shlex.quote(str(unlock))}"
        if self.kind == "alive":
            return f"{self.path}: {self.holder} is at work here; wait until it has ended"
        if self.kind == "dead":
            return (
                f"{self.path}: left by {self.holder}, which no longer runs; `{command}` clears "
                "it, and what is done is kept"
            )
        if self.kind == "elsewhere":
            return (
                f"{self.path}: held by {self.holder}; whether that still runs cannot be seen "
                f"from {socket.gethostname()}: if it does not, `{command} --force` clears it"
            )
        if self.kind == "foreign":
            return (
                f"{self.path}: does not say who holds it and is no lock of ragmend's; it is "
                "left alone: move it out of the way"
            )
        return (
            f"{self.path}: does not say who holds it (killed while it was written?); if no "
            f"other command is at work here, `{command}` clears it"
        )


class FileLock:
    """Holds a lock file while its `with` block runs; it makes the folder if it must."""

    def __init__(self, path: Path, *, unlock: Path | None = None) -> None:
        """Prepare a lock.

        Args:
            path: The lock file.
            unlock: What `ragmend unlock` is given to clear it; the file itself when None.
        """
        self.path = path
        self._unlock = path if unlock is None else unlock
        self._held: Holder | None = None

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            RunStateError: Another process holds it, or one that was killed left it, or what
                lies there is no lock.
            OutputError: The file cannot be made.
        """
        try:
            for _ in range(ATTEMPTS):
                if self._take():
                    return self
                found = inspect_lock(self.path)
                if found is not None:
                    raise RunStateError(found.describe(self._unlock))
        except BaseException:
            self._release()
            raise
        raise RunStateError(f"{self.path}: others take it and give it back all the time; try again")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock back, and take the folder away if it holds nothing else."""
        with signals_wait():
            self._release()

    def _take(self) -> bool:
        holder = _this_process()
        with signals_wait():
            if not _create(self.path, _content(holder)):
                return False
            self._held = holder
            # A signal may come where `__exit__` begins: what it leaves goes at the very end.
            atexit.register(self._release)
        return True

    def _release(self) -> None:
        # What somebody else forced away and took since is theirs; a forked child holds nothing.
        held = self._held
        if held is not None and held.pid == os.getpid():
            with suppress(OSError):
                self._remove(_content(held))
        self._held = None
        atexit.unregister(self._release)

    def _remove(self, content: bytes) -> None:
        if self.path.read_bytes() == content:
            self.path.unlink()
            self.path.parent.rmdir()


def inspect_lock(path: Path) -> LockState | None:
    """Find out who holds a lock; None where nobody does.

    Raises:
        MissingInputError, DataError: It cannot be read.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = _look_at(path)
        if found is None or found.kind != "unnamed" or time.monotonic() > deadline:
            return found
        time.sleep(PATIENCE_S / 20)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let signals that end the process wait: a lock is taken and given back in one piece."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        # One that came just before this call is still raised by it.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _look_at(path: Path) -> LockState | None:
    with name_reading_errors(path):
        try:
            # A link, a directory, a pipe: a lock is always a file of its own.
            if not stat.S_ISREG(path.lstat().st_mode):
                return LockState(path, "foreign")
            content = path.read_bytes()
        except FileNotFoundError:
            return None
    try:
        holder = parse_record(Line(str(path), content.decode()), Holder)
    except ValueError:
        return LockState(path, "unnamed" if _is_torn(content) else "foreign", content=content)
    return LockState(path, _holder_state(holder), holder, content)


def _is_torn(content: bytes) -> bool:
    """Tell whether a lock ends before it has said all, or said anything."""
    opening = f'{{"{next(iter(Holder.model_fields))}":'.encode()
    is_ours = content.startswith(opening) or opening.startswith(content)
    return is_ours and not content.rstrip().endswith(b"}")


def _this_process() -> Holder:
    found = _process(os.getpid())
    return Holder(
        host=socket.gethostname(),
        pid=os.getpid(),
        process_start=None if found is None else found.start,
        slurm_job_id=os.environ.get("SLURM_JOB_ID"),
        started_at=now(),
    )


def _content(holder: Holder) -> bytes:
    return holder.model_dump_json().encode() + b"\n"


def _create(path: Path, content: bytes) -> bool:
    """Make the file with this content; return whether that could be done now."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        if path.parent.exists() and not path.parent.is_dir():
            raise OutputError.of(path, error) from error
        return False  # it was there, and another process took it away while mkdir looked
    except OSError as error:
        raise OutputError.of(path, error) from error
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except (FileExistsError, FileNotFoundError):
        return False  # another process has it, or has just taken its empty folder away
    except OSError as error:
        raise OutputError.of(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        path.unlink()
        raise OutputError.of(path, error) from error
    return True


def _holder_state(holder: Holder) -> Literal["alive", "dead", "elsewhere"]:
    if holder.host != socket.gethostname():
        return "elsewhere"
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return "dead"
    except PermissionError:
        pass  # another user's: it may be hidden, but there is a process
    found = _process(holder.pid)
    if found is None or holder.process_start is None:
        return "alive"
    is_it = found.start == holder.process_start and found.state != "Z"
    return "alive" if is_it else "dead"


class _Process(NamedTuple):
    """What /proc says of a process; state "Z" is one that has ended but was not waited for."""

    state: str
    start: int


def _process(pid: int) -> _Process | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is the program's name in parentheses and may itself hold any character.
    fields = stat.rpartition(")")[2].split()
    return _Process(state=fields[0], start=int(fields[19]))
