"""What a start loads: resuming a complete run and status stay light."""

import subprocess
import sys

import pytest

HEAVY = (
    "sklearn", "scipy", "pandas", "matplotlib", "torch", "statsmodels",
    "openai", "httpx2", "transformers",
)  # fmt: skip


def heavy_modules_after(*arguments):
    code = (
        "import sys\n"
        "from ragmend.cli.group import cli\n"
        f"cli({list(map(str, arguments))!r}, standalone_mode=False)\n"
        f"print('HEAVY', *[m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1].split()


def test_resuming_a_complete_run_loads_nothing_heavy(run):
    assert heavy_modules_after("run", "demo", "--out", run) == ["HEAVY"]


def test_status_loads_nothing_heavy(run):
    assert heavy_modules_after("status", run) == ["HEAVY"]


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("serve", "--help")])
def test_help_loads_nothing_heavy(words):
    assert heavy_modules_after(*words) == ["HEAVY"]
