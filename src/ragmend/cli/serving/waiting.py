"""Work that waits now and then, written once: for a plain caller and for an event loop.

Such work is a generator that yields wherever it has to wait. Whoever drives it decides how;
when that is interrupted, the work is closed where it stands, and gives back what it holds.
"""

import asyncio
import time
from collections.abc import Generator
from contextlib import closing
from typing import TypeAlias, TypeVar, cast

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]

POLL_S = 0.25


def wait_for(steps: Steps[T]) -> T:
    """Do work to its end, and sleep where it waits."""
    with closing(steps):
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return cast("T", end.value)
            time.sleep(POLL_S)


async def wait_in_loop(steps: Steps[T]) -> T:
    """Do work to its end, and let the event loop go on where it waits: it can be cancelled."""
    with closing(steps):
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return cast("T", end.value)
            await asyncio.sleep(POLL_S)
