"""One writer a run folder and one a shard: lock files made with O_CREAT | O_EXCL.

Shared cluster file systems do not honour `flock` reliably, but they create a file once. The
file says who holds it. A killed process leaves its lock behind; it is never taken over
silently, but named together with the command that clears it.
"""

import os
import shlex
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field

from ragmend.errors import DataError, MissingInputError, OutputError, RunStateError
from ragmend.io import read_record
from ragmend.manifest import now
from ragmend.records import Record

PATIENCE_S = 1.0  # how long a lock may be without content: its writer is between two calls
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
    another one, where it cannot be checked, or `unnamed` where the file does not say.
    """

    path: Path
    kind: Literal["alive", "dead", "elsewhere", "unnamed"]
    holder: Holder | None

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
        self._content = b""

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            RunStateError: Another process holds it, or one that was killed left it.
            OutputError: The file cannot be made.
        """
        content = _this_process().model_dump_json().encode() + b"\n"
        try:
            with _signals_wait():
                while not _create(self.path, content):
                    found = inspect_lock(self.path)
                    if found is not None:
                        raise RunStateError(found.describe(self._unlock))
                self._content = content
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock back, and take the folder away if it holds nothing else."""
        with _signals_wait():
            self._release()

    def _release(self) -> None:
        # What somebody else forced away and took since is theirs.
        with suppress(OSError):
            if self._content and self.path.read_bytes() == self._content:
                self.path.unlink()
                self.path.parent.rmdir()
        self._content = b""


def inspect_lock(path: Path) -> LockState | None:
    """Find out who holds a lock; None where nobody does."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            holder = read_record(path, Holder)
            return LockState(path, _holder_state(holder), holder)
        except MissingInputError:
            if not path.exists():
                return None
        except DataError:
            pass
        if time.monotonic() > deadline:
            return LockState(path, "unnamed", None)
        time.sleep(PATIENCE_S / 20)


def clear_locks(paths: Sequence[Path], *, unlock: Path, force: bool) -> list[LockState]:
    """Remove locks that killed processes left.

    Args:
        paths: The lock files, the last to go at the end.
        unlock: What `ragmend unlock` was given, for messages.
        force: Also those whose holder is alive or cannot be checked.

    Returns:
        What was removed.

    Raises:
        RunStateError: A holder is alive, or on another host, and `force` is not given; then
            nothing is removed.
    """
    found = [state for path in paths if (state := inspect_lock(path)) is not None]
    for state in found:
        if state.kind in ("alive", "elsewhere") and not force:
            raise RunStateError(state.describe(unlock))
    for state in found:
        try:
            state.path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError.of(state.path, error) from error
    return found


def _this_process() -> Holder:
    found = _process(os.getpid())
    return Holder(
        host=socket.gethostname(),
        pid=os.getpid(),
        process_start=None if found is None else found.start,
        slurm_job_id=os.environ.get("SLURM_JOB_ID"),
        started_at=now(),
    )


def _create(path: Path, content: bytes) -> bool:
    """Make the file with this content; return whether it was not there before."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.of(path, error) from error
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    except FileNotFoundError:
        return _create(path, content)  # another process has just taken its empty folder away
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


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Let signals that end the process wait: a lock is taken and given back in one piece."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
