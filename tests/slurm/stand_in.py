#!/usr/bin/env python3
"""Stands in for the interpreter of a task: works, saves and obeys signals as ragmend does.

    stand_in.py -P -m ragmend unlock RUN --slurm-job ID    says so in RUN/calls.jsonl
    stand_in.py work UNITS RUN/NAME [SECONDS]              answers UNITS, one line each, resuming
    stand_in.py fail CODE RUN/NAME
    stand_in.py deaf UNITS RUN/NAME                        as work, but dies of a signal

Every call appends what it was called with and what it sees of its environment to RUN/calls.jsonl.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

NOT_FINISHED = 75
SEEN = (
    "SLURM_", "SRUN_", "OMP_", "OPENBLAS_", "MKL_", "CUDA_", "TRITON_", "VLLM_", "TORCHINDUCTOR_",
)  # fmt: skip


def main(words: list[str]) -> int:
    """Do what the words say."""
    if words[:4] == ["-P", "-m", "ragmend", "unlock"]:
        record(Path(words[4]) / "calls.jsonl", words[3:])
        return 0
    action, amount, journal = words[0], int(words[1]), Path(words[2])
    # Before the call is written down: who reads of it may send a signal.
    asked = [] if action == "deaf" else obey()
    record(journal.parent / "calls.jsonl", words)
    if action == "fail":
        return amount
    return work(amount, journal, float(words[3]) if len(words) > 3 else 0.1, asked)


def obey() -> list[int]:
    """Collect the signals that ask for an end."""
    asked = []
    for each in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(each, lambda number, _: asked.append(number))
    return asked


def work(units: int, journal: Path, seconds: float, asked: list[int]) -> int:
    """Answer what the journal lacks; 75 where a signal came first."""
    done = len(journal.read_text().splitlines()) if journal.exists() else 0
    for unit in range(done, units):
        time.sleep(seconds)
        with journal.open("a") as lines:
            lines.write(f"{unit}\n")
        if asked:
            return NOT_FINISHED
    return 0


def record(calls: Path, words: list[str]) -> None:
    """Append a line about this call; one write, for tasks share the file."""
    seen = {name: value for name, value in os.environ.items() if name.startswith(SEEN)}
    line = json.dumps({"words": words, "pid": os.getpid(), "env": seen}) + "\n"
    with calls.open("a") as lines:
        lines.write(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
