"""Progress on a terminal after two seconds; plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
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


@contextmanager
def stage_progress(stage: StageName | Literal["validate"], n_units: int) -> Iterator[Advance]:
    """Show how far a stage is; what it shows never changes what it computes."""
    if sys.stderr.isatty():
        with _bar(stage, n_units) as advance:
            yield advance
    else:
        yield _PlainLines(stage, n_units)


class _PlainLines:
    """Says how far it is now and then, for logs."""

    def __init__(self, stage: StageName | Literal["validate"], n_units: int) -> None:
        self.stage, self.n_units, self.n_done = stage, n_units, 0
        self.next_line = time.monotonic() + PLAIN_EVERY_S

    def __call__(self) -> None:
        self.n_done += 1
        if time.monotonic() >= self.next_line:
            say(f"{self.stage:9} {self.n_done:,} of {self.n_units:,}")
            self.next_line = time.monotonic() + PLAIN_EVERY_S


@contextmanager
def _bar(stage: StageName | Literal["validate"], n_units: int) -> Iterator[Advance]:
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
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=True) as progress:
        task = progress.add_task(stage, total=n_units)
        started = time.monotonic()

        def advance() -> None:
            if progress.disable and time.monotonic() - started > QUIET_S:
                progress.disable = False
                progress.start()
            progress.advance(task)

        yield advance
