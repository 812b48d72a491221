"""Whether memory stays flat in the number of records: peaks in processes of their own.

`python -m bench.memory WORK N` prints the peak, in bytes, that Python allocated for N turns of
the built-in answers.
"""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpus import repeated_demo
from bench.figures import Figure
from ragmend.cli.context import Context
from ragmend.cli.stages.match import MATCH
from ragmend.cli.stages.split import SPLIT
from ragmend.config import load_config
from ragmend.io import read_records, write_records
from ragmend.manifest import current_environment
from ragmend.paths import RunPaths
from ragmend.records import Response
from ragmend.repair.splitting.claims import split_claims

N_TURNS = 10  # with few, the interpreter's own small allocations decide the ratio
GROWTH = 4
FLAT = 1.2


def memory_figures() -> Iterator[Figure]:
    """Measure the peak for n and for 4 n turns of everything in `WORKS`."""
    for work, (name, is_streaming) in DESCRIPTIONS.items():
        small, large = (_peak_in_child(work, n) for n in (N_TURNS, GROWTH * N_TURNS))
        what = f"{name}: peak memory, {GROWTH} times as many answers"
        yield Figure(what, large / small, "x", "at most", FLAT if is_streaming else None)


def read_stream(context: Context) -> None:
    """Read records and let each go."""
    for _ in read_records(context.paths.population, Response):
        pass


def split_stream(context: Context) -> None:
    """Split answers as they are read and write their claims as they come."""
    responses = read_records(context.paths.population, Response)
    write_records(
        context.paths.claims,
        (c for r in responses for c in split_claims(r.text, record_id=r.record_id)),
    )


def split_stage(context: Context) -> None:
    """Run the stage `split`."""
    SPLIT.execute(context)


def match_stage(context: Context) -> None:
    """Run the stage `match`."""
    MATCH.execute(context)


WORKS: dict[str, Callable[[Context], None]] = {
    "read": read_stream,
    "split": split_stream,
    "split-stage": split_stage,
    "match-stage": match_stage,
}
DESCRIPTIONS = {
    "read": ("read records", True),
    "split": ("read, split and write claims", True),
    "split-stage": ("stage split (holds its records)", False),
    "match-stage": ("stage match (holds its records)", False),
}


def measure_peak(work: str, n_turns: int) -> int:
    """Return the peak of Python's allocations in bytes, after what is loaded only once."""
    with TemporaryDirectory() as folder:
        WORKS[work](_prepared(Path(folder) / "warm-up", 1))
        context = _prepared(Path(folder) / "run", n_turns)
        tracemalloc.start()
        WORKS[work](context)
        return tracemalloc.get_traced_memory()[1]


def _prepared(root: Path, n_turns: int) -> Context:
    """Write the inputs of the stages up to match."""
    corpus = repeated_demo(n_turns)
    context = Context(load_config("demo"), RunPaths(root), current_environment())
    write_records(context.paths.population, corpus.responses)
    write_records(context.paths.sources, corpus.sources.values())
    split_stream(context)
    return context


def _peak_in_child(work: str, n_turns: int) -> int:
    command = [sys.executable, "-m", "bench.memory", work, str(n_turns)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603


if __name__ == "__main__":
    print(measure_peak(sys.argv[1], int(sys.argv[2])))  # noqa: T201 - its result
