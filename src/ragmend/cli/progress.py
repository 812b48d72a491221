"""Progress on a terminal after two seconds; plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from ragmend.cli.context import say
from ragmend.paths import StageName

QUIET_S = 2.0
PLAIN_EVERY_S = 30.0


class Advance(Protocol):
    """Counts one unit as done."""

    def __call__(self) -> None:
        """Count one more."""


def _nothing() -> str:
    return ""


@contextmanager
def stage_progress(
    stage: StageName | Literal["validate", "prefetch"],
    n_units: int,
    *,
    describe: Callable[[], str] = _nothing,
) -> Iterator[Advance]:
    """Show how far a stage is; what it shows never changes what it computes.

    Args:
        stage: Its name.
        n_units: How many units there are.
        describe: What else to say: how a server's cache does.
    """
    if sys.stderr.isatty():
        with _bar(stage, n_units, describe) as advance:
            yield advance
    else:
        yield _PlainLines(stage, n_units, describe)


class _PlainLines:
    """Says how far it is now and then, for logs."""

    def __init__(self, stage: str, n_units: int, describe: Callable[[], str]) -> None:
        self.stage, self.n_units, self.describe = stage, n_units, describe
        self.n_done = self.n_said = 0
        self.last_line = time.monotonic()

    def __call__(self) -> None:
        self.n_done += 1
        now = time.monotonic()
        if now >= self.last_line + PLAIN_EVERY_S:
            rate = (self.n_done - self.n_said) / (now - self.last_line)
            left = f"{(self.n_units - self.n_done) / rate / 60:,.0f} min left"
            done = f"{self.n_done:,} of {self.n_units:,}"
            facts = [done, f"{rate:,.2g}/s", left, self.describe()]
            say(f"{self.stage:9} {', '.join(filter(None, facts))}")
            self.n_said, self.last_line = self.n_done, now


@contextmanager
def _bar(stage: str, n_units: int, describe: Callable[[], str]) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[facts]}"),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=True) as progress:
        task = progress.add_task(stage, total=n_units, facts="")
        started = time.monotonic()

        def advance() -> None:
            if progress.disable and time.monotonic() - started > QUIET_S:
                progress.disable = False
                progress.start()
            progress.advance(task)
            speed = progress.tasks[task].speed
            facts = ["" if speed is None else f"{speed:,.2g}/s", describe()]
            progress.update(task, facts=", ".join(filter(None, facts)))

        yield advance
