"""What it costs to run a complete run again: seconds, and nothing heavy loaded."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from bench.figures import Figure

HEAVY = ("sklearn", "scipy", "pandas", "matplotlib", "statsmodels", "torch")
_RUN = f"""
import atexit, sys
from ragmend.cli.main import main
atexit.register(lambda: print(*(name for name in {HEAVY!r} if name in sys.modules)))
main()
"""


class Run(NamedTuple):
    """Wall-clock seconds of a process, and the heavy libraries that it loaded."""

    seconds: float
    loaded: list[str]


def resume_figures() -> Iterator[Figure]:
    """Run the demonstration twice: the first run works, the second finds all complete."""
    with TemporaryDirectory() as folder:
        first, again = (_run(Path(folder) / "run") for _ in range(2))
    yield Figure("first run of the demonstration", first.seconds, "s")
    yield Figure("the same run again, complete", again.seconds, "s", "at most", 5)
    yield Figure("run again to first run", again.seconds / first.seconds, "x", "at most", 0.25)
    what = f"heavy libraries loaded on running again ({', '.join(HEAVY)})"
    yield Figure(what, len(again.loaded), "", "at most", 0)


def _run(root: Path) -> Run:
    start = perf_counter()
    command = [sys.executable, "-c", _RUN, "run", "demo", "--out", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return Run(perf_counter() - start, done.stdout.splitlines()[-1].split())
