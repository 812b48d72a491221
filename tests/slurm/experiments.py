"""Experiments on a real SLURM: their cluster file, and the command line as its users call it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from ragmend.manifest import VOLATILE_FIELDS

# Not of a run's results: what was submitted, and what its jobs printed.
BESIDE = ("jobs/",)


def write_cluster(path, *, shards=4, partition="cpu", python=sys.executable, top="", **sections):
    """Write a cluster file; `sections` are more lines of `resources.NAME`."""
    more = "".join(f"[resources.{name}]\n{lines}\n" for name, lines in sections.items())
    path.write_text(
        f'name = "here"\nsignal_lead_s = 20\n{top}\n'
        f"[environments.base]\npython = {json.dumps(str(python))}\n"
        f'[resources.default]\npartition = "{partition}"\ntime = "00:05:00"\ncpus = 1\n{more}'
        f"[shards]\nverify = {shards}\npropose = {shards}\njudge = {shards}\n"
    )
    return path


def call(slurm, *words, env=None, check=True):
    """Run the command line where `slurm` is; fail with what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "ragmend", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **slurm.env, "OMP_NUM_THREADS": "1", **(env or {})},
    )
    if check:
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done


def job_ids(run, number=None):
    """Return the job ids of a run's last (or one) submission by the names of its pieces."""
    folders = sorted(Path(run).glob("jobs/submission-*"))
    folder = folders[-1] if number is None else folders[number - 1]
    rows = [json.loads(line) for line in (folder / "jobs.jsonl").read_text().splitlines()]
    return {row["piece"]: row["job_id"] for row in rows}


def results_of(root):
    """Return every result of a run; of manifests without what may differ between runs."""
    found = {}
    for path in sorted(Path(root).rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or name.startswith(BESIDE):
            continue
        content = path.read_bytes()
        if path.name.endswith("manifest.json"):
            manifest = json.loads(content)
            content = {k: v for k, v in manifest.items() if k not in VOLATILE_FIELDS}
        found[name] = content
    return found


def logs_of(run):
    """Return the text of every log of a run's jobs, by its name."""
    return {path.name: path.read_text() for path in sorted(Path(run).glob("jobs/logs/*.out"))}


def write_slow_python(folder, seconds):
    """Write an interpreter whose verifier takes so many seconds an answer; see `slow_ragmend`."""
    (folder / "delay").write_text(str(seconds))
    path = folder / "slow-python"
    script = Path(__file__).with_name("slow_ragmend.py")
    path.write_text(f'#!/bin/bash\nexec {sys.executable} {script} {folder}/delay "$@"\n')
    path.chmod(0o755)
    return path


def n_recorded(run, shard):
    """Return how many answers a shard of the stage `verify` has recorded."""
    path = Path(run) / f"05-verdicts/shards/shard-{shard:04d}.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0
