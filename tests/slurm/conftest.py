"""Clusters of a session: each is brought up by the first test that asks for it."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster import Cluster
from experiments import results_of

# Blocks of a hundred ports, one a cluster; sessions side by side take different ones.
PORTS = range(17000, 22000, 100)


@pytest.fixture(scope="session")
def slurm() -> Iterator[Cluster]:
    """A cluster without accounting: no sacct, no accounts, no QOS."""
    with started() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def slurm_small() -> Iterator[Cluster]:
    """One whose arrays have ten tasks at most."""
    with started(MAXARRAY=10, NODES=1) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def slurm_accounting() -> Iterator[Cluster]:
    """One with accounting: sacct, the account `lab`, the QOS `normal`."""
    with started(ACCT=1) as cluster:
        yield cluster


@contextmanager
def started(**settings: str | int) -> Iterator[Cluster]:
    """A cluster of one's own, up within this block; `settings` are variables of `start.sh`."""
    with claimed_ports() as (root, port):
        cluster = Cluster(root, port, **settings)
        cluster.stop()  # what a session that was killed has left there
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


@contextmanager
def claimed_ports() -> Iterator[tuple[Path, int]]:
    """A folder and a block of ports that no other running session has."""
    for port in PORTS:
        root = Path(tempfile.gettempdir(), f"ragmend-slurm-{port}")
        with root.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield root, port
            return
    raise AssertionError(f"every block of ports from {PORTS.start} is taken")


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    """What the demonstration comes to without any cluster; tests must not change it."""
    root = tmp_path_factory.mktemp("local") / "run"
    command = [sys.executable, "-m", "ragmend", "run", "demo", "--out", str(root)]
    subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return results_of(root)
