"""Ends a training in order when a scheduler asks for it: save, say so, exit 75."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self, TypeAlias

from ragmend.cli.context import say
from ragmend.errors import PreemptedError

Handler: TypeAlias = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None
ASKING = (signal.SIGTERM, signal.SIGUSR1)


class SignalWatch:
    """Takes note of SIGTERM and SIGUSR1 while its `with` block runs; a `Watch`.

    Ctrl-C still ends at once: whoever is there wants that, and the last checkpoint is kept.
    """

    def __init__(self) -> None:
        """Prepare; signals are handled inside the `with` block."""
        self._found: signal.Signals | None = None
        self._before: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> Self:
        """Handle the signals."""
        for number in ASKING:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def should_stop(self) -> bool:
        """Tell whether a signal asked for an end."""
        return self._found is not None

    def raise_if_asked(self, where: str) -> None:
        """End between two pieces of work, if a signal asked for it.

        Raises:
            PreemptedError: It did.
        """
        if self._found is not None:
            raise PreemptedError(
                f"{self._found.name}: stopped {where}; run the same command again to go on"
            )

    def say(self, text: str) -> None:
        """Show one line of progress."""
        say(text)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._found = signal.Signals(number)
