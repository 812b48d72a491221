"""One finished demonstration run for all tests here, and the command line as a process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from ragmend.cli import group
from ragmend.manifest import VOLATILE_FIELDS


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def run_command(*arguments, cwd=None, env=None, stdin=None, prefix=()):
    """Run the command line in a process of its own; return what it printed and its code."""
    return subprocess.run(
        [*prefix, sys.executable, "-m", "ragmend", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        input=stdin,
        env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
        check=False,
    )


def read_files(root):
    """Return the bytes of every file; of manifests without what may differ between runs."""
    found = {}
    for path in sorted(Path(root).rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.name.endswith("manifest.json"):
                manifest = json.loads(content)
                content = {k: v for k, v in manifest.items() if k not in VOLATILE_FIELDS}
            found[path.relative_to(root).as_posix()] = content
    return found


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A finished demonstration run; tests must not change it."""
    root = tmp_path_factory.mktemp("demo") / "run"
    done = run_command("run", "demo", "--out", root)
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def run(finished, tmp_path):
    """A copy of the finished run that a test may change."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture(scope="session")
def ragmend():
    """The command line, as a function of its words."""
    return run_command


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line in this process, as a function of its words: quick, for many cases."""

    def run_here(*words):
        monkeypatch.setattr(sys, "argv", ["ragmend", *map(str, words)])
        capsys.readouterr()
        code = group.run_command_line()
        return Done(code, *capsys.readouterr())

    return run_here


@pytest.fixture(scope="session")
def files_of():
    """The comparison of run folders, as a function of a folder."""
    return read_files
