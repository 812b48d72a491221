"""`ragmend`: the start of every command, and its end when a signal asks for one.

Nothing heavy is imported before signals are handled: Ctrl-C is one line at any moment, and
what a command holds (locks, half-written files) is given back.
"""

import os
import signal
import sys
import time
from types import FrameType

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ENDINGS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "terminal closed",
    signal.SIGUSR1: "asked to stop (SIGUSR1)",  # by a scheduler whose time limit is near
}
TRY_AGAIN = 75  # sysexits' EX_TEMPFAIL: a scheduler may start the same command again
REPEAT_S = 5.0  # a second Ctrl-C within so many seconds would only break the clean-up
AGAIN_S = 0.01  # where `Stopped` cannot get through (a callback of the importer), try again


class Stopped(BaseException):
    """A signal asked this process to end; never caught on the way out."""


class Stopper:
    """Turns the first signal into `Stopped`, wherever the program is."""

    def __init__(self) -> None:
        """Handle the signals that end a process, except those that the parent wants ignored."""
        self.signal: signal.Signals | None = None
        self._last = 0.0
        for number in ENDINGS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        signal.signal(signal.SIGALRM, self._stop_again)
        sys.unraisablehook = self._see_unraisable

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.signal is None or time.monotonic() - self._last > REPEAT_S:
            self.signal, self._last = signal.Signals(number), time.monotonic()
            raise Stopped

    def _stop_again(self, number: int, frame: FrameType | None) -> None:
        raise Stopped

    def _see_unraisable(self, unraisable: "sys.UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, Stopped):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
        else:
            sys.__unraisablehook__(unraisable)

    def retire(self) -> None:
        """Ignore signals from here on: all is done, and the exit code is known."""
        for number in (*ENDINGS, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)


def main() -> None:
    """Run the command line; an error of ours is one line on stderr and exit code 1."""
    stopper = Stopper()
    for variable in THREAD_VARIABLES:
        # Parallelism is by process: two OpenMP threads made a fit many times slower.
        os.environ.setdefault(variable, "1")
    try:
        from ragmend.cli.group import run_command_line

        code = run_command_line()
    except BaseException:
        # While it is imported, a library may have turned `Stopped` into an error of its own.
        if stopper.signal is None:
            raise
        code = _exit_code(stopper.signal)
    stopper.retire()
    if stopper.signal is not None:
        code = _exit_code(stopper.signal)
        _say_stopped(stopper.signal)
    sys.exit(code)


def _exit_code(number: signal.Signals) -> int:
    return TRY_AGAIN if number == signal.SIGUSR1 else 128 + number


def _say_stopped(number: signal.Signals) -> None:
    print(  # noqa: T201 - click may not be imported yet
        f"ragmend: {ENDINGS[number]}; what is done is kept, run the same command again to go on",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
