"""The tests' fault server in a process of its own, so that its work is not counted as a client's.

`python -m bench.fault_server LATENCY_S N_SOURCES` prints its URL and serves until its standard
input ends: answers come after so many seconds, and its prefix cache holds so many sources.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

MODEL = "tiny"  # as the server calls what it has
FOLDER = Path(__file__).parents[1] / "tests" / "servers"


@contextmanager
def run_fault_server(latency_s: float, *, n_cached_sources: int = 3) -> Iterator[str]:
    """Run a server without faults; its URL is good until the block ends.

    Raises:
        CalledProcessError: It did not start; why stands on standard error.
    """
    command = [sys.executable, "-m", "bench.fault_server", str(latency_s), str(n_cached_sources)]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process with pipes has none")
        url = process.stdout.readline().strip()
        if not url:
            raise subprocess.CalledProcessError(process.wait(), command, stderr="")
        try:
            yield url
        finally:
            process.stdin.close()


def serve(latency_s: float, n_cached_sources: int) -> None:
    """Print the URL of a server, and serve until standard input ends."""
    sys.path.append(str(FOLDER))
    server = import_module("fault_server")
    plan = server.Plan(latency_s=latency_s)
    traits = server.Traits(model=MODEL, n_cached_sources=n_cached_sources)
    with server.FaultServer(plan, traits) as running:
        print(running.url, flush=True)  # noqa: T201 - its result
        sys.stdin.read()


if __name__ == "__main__":
    serve(float(sys.argv[1]), int(sys.argv[2]))
