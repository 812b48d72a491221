"""Runs what waits for answers in an event loop that signals end cleanly.

A signal handler that raises would be caught by whichever callback it hits. So while the loop
runs, a signal cancels the work; when all of it is closed, the process's own handler has its turn.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from ragmend.run_lock import ENDING_SIGNALS

T = TypeVar("T")
Signals = list[int]


def run_to_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine; return its result, or let a signal's own handler say how it ends.

    Raises:
        BaseException: What the handler of a signal raises, once everything is cancelled.
    """
    received: Signals = []
    try:
        with asyncio.Runner() as runner:
            return runner.run(_run_cancellable(work, received))
    except asyncio.CancelledError:
        if not received:
            raise
        raise RuntimeError(f"signal {received[0]}: its handler let the work go on") from None
    finally:
        if received:
            signal.raise_signal(received[0])


async def _run_cancellable(work: Callable[[], Coroutine[Any, Any, T]], received: Signals) -> T:
    task, loop = asyncio.ensure_future(work()), asyncio.get_running_loop()

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        loop.call_soon_threadsafe(task.cancel)  # wakes the loop where it waits

    with _handled(note):
        return await task


@contextmanager
def _handled(note: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let signals that have a handler of Python be noted instead; it never raises."""
    is_main = threading.current_thread() is threading.main_thread()
    endings = ENDING_SIGNALS if is_main else ()
    handlers = {number: signal.getsignal(number) for number in endings}
    own = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in own:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in own.items():
            signal.signal(number, handler)
