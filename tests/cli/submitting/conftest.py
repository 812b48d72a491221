"""A SLURM that runs nothing, a cluster file for it, and the command that submits to it."""

import json
import sys

import pytest
from fake_slurm import FakeSlurm
from submissions import CLUSTER


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "here.toml"
    path.write_text(CLUSTER.format(python=json.dumps(sys.executable)))
    return path


@pytest.fixture
def fake(tmp_path, monkeypatch):
    found = FakeSlurm(tmp_path / "bin")
    monkeypatch.setenv("PATH", found.env["PATH"])
    return found


@pytest.fixture
def submit(command, cluster, tmp_path):
    def run_here(*words, run=tmp_path / "run"):
        return command("submit", "demo", "--cluster", cluster, "--out", run, *words)

    return run_here
