"""Fixtures that every room uses."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: first calls import libraries. Derandomised: a failure here is one anywhere.
settings.register_profile("ragmend", deadline=None, derandomize=True)
settings.load_profile("ragmend")


def pytest_addoption(parser):
    """Let goldens be written anew."""
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files instead of comparing"
    )


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; only without it may a test that needs it be skipped."""
    folder = os.environ.get("RAGMEND_DATA")
    if not folder:
        pytest.skip("RAGMEND_DATA is not set: no real data here")
    path = Path(folder)
    assert path.is_dir(), f"RAGMEND_DATA names {path}, which is no folder"
    return path


@pytest.fixture
def note(record_property):
    """Say a line after all tests: how much a long one did, and how long it took."""
    return lambda line: record_property("note", line)


def pytest_terminal_summary(terminalreporter):
    """Print the lines of `note`, also those of tests that ran in another process."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "note" and report.when == "call":
                    terminalreporter.write_line(line)
