"""Runs that stand before a stage that is answered in parts, and the commands that answer them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fault_server import FaultServer
from served_run import Served

from ragmend.cli.experiment import open_experiment
from ragmend.cli.sharding.parts import roles_of_stage
from ragmend.cli.sharding.runner import Wanted, run_parts
from ragmend.cli.sharding.states import inspect_parts
from ragmend.cli.stages import STAGES

BEFORE = ("detect", "select", "split", "match")
STAGE = {stage.name: stage for stage in STAGES}
FOLDERS = {"verify": "05-verdicts", "propose": "06-candidates", "judge": "08-judgements"}


class InParts:
    """A run whose stages are answered in parts; `config` and `overrides` open it."""

    def __init__(self, root, config="demo", overrides=()):
        self.root, self.config, self.overrides = Path(root), str(config), tuple(overrides)

    def open(self, *overrides, **more):
        return open_experiment(self.config, self.root, (*self.overrides, *overrides), **more)

    def run(self, *overrides, only=None, fold=False, **more):
        self.open(*overrides, **more).run(only=only, fold=fold)

    def before(self, stage):
        """Run what comes before a stage, in one piece."""
        for earlier in STAGES[: STAGES.index(STAGE[stage])]:
            self.run(only=earlier.name)

    def part(self, stage, role, shard, of, *overrides):
        wanted = Wanted(role, shard if isinstance(shard, tuple) else (shard,), of)
        run_parts(self.open(*overrides).context, STAGES, STAGE[stage], wanted)

    def roles(self, stage):
        return roles_of_stage(self.open().context.config, stage)

    def parts(self, stage, of, *, shuffle=None, at_once=1):
        """Answer all parts of a stage, some by one command; each role has an order of its own."""
        for role in self.roles(stage):
            shards = list(range(of))
            if shuffle is not None:
                shuffle.shuffle(shards)
            for first in range(0, of, at_once):
                self.part(stage, role, tuple(shards[first : first + at_once]), of)

    def kinds(self, stage):
        """How far the parts of a stage are, by number."""
        return [state.kind for state in self.states(stage)]

    def states(self, stage):
        return inspect_parts(self.open().context, STAGE[stage])

    def copy(self, root):
        """Copy the run."""
        return InParts(shutil.copytree(self.root, root), self.config, self.overrides)

    def folder(self, stage):
        return self.root / FOLDERS[stage]

    def marker(self, stage, number):
        return self.folder(stage) / f"shards/shard-{number:04d}.done.json"

    def marker_of(self, stage, role, shard, of):
        return self.marker(stage, self.roles(stage).index(role) * of + shard)

    def words(self, stage, role, shard, of):
        """The words of the command that answers a part."""
        words = ["shard", self.config, stage, "--role", role, "--shard", shard, "--of", of]
        settings = [word for setting in self.overrides for word in ("--set", setting)]
        return [*words, "--out", self.root, *settings]

    def start(self, *words, **environment):
        """Start a command in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "ragmend", *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )


@pytest.fixture(scope="session")
def matched(tmp_path_factory):
    """A demonstration run up to the stage match; tests must not change it."""
    run = InParts(tmp_path_factory.mktemp("matched") / "run")
    run.before("verify")
    return run


@pytest.fixture
def in_parts(matched, tmp_path):
    """A copy of that run."""
    return matched.copy(tmp_path / "run")


@pytest.fixture(scope="module")
def server():
    """One server; each test sets its faults, and the next one begins without."""
    with FaultServer() as served:
        yield served


@pytest.fixture
def calm(server):
    """The server without faults."""
    server.faults_off()
    yield server
    server.faults_off()


@pytest.fixture(scope="module")
def undisturbed(server, tmp_path_factory):
    """A run in one piece against the server, without any fault, up to the stage judge."""
    server.faults_off()
    run = Served(server, tmp_path_factory.mktemp("undisturbed") / "run")
    run.run()
    return run


@pytest.fixture
def served(calm, undisturbed, tmp_path):
    """A run against the server, up to the stage match."""
    run = InParts(tmp_path / "run", undisturbed.config)
    for name in ("config.toml", "01-detections", "02-population", "03-claims", "04-evidence"):
        source = undisturbed.root / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        run.root.mkdir(exist_ok=True)
        copy(source, run.root / name)
    lock = (undisturbed.root / "protocol.lock.json").read_text()
    (run.root / "protocol.lock.json").write_text(lock.replace('"judged": true', '"judged": false'))
    return run


@pytest.fixture
def decided(undisturbed, files_of):
    """Compare the folders of stages with those of the run in one piece."""

    def compare(run, *stages, whole=None):
        own, others = files_of(run.root), files_of(whole or undisturbed.root)
        for stage in stages:
            folder = FOLDERS[stage]
            found = {name: content for name, content in own.items() if name.startswith(folder)}
            assert found == {n: content for n, content in others.items() if n.startswith(folder)}

    return compare
