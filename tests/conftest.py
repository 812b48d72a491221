"""Fixtures that every room uses."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: first calls import libraries. Derandomised: a failure here is one anywhere.
settings.register_profile("ragmend", deadline=None, derandomize=True)
settings.load_profile("ragmend")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; only without it may a test that needs it be skipped."""
    folder = os.environ.get("RAGMEND_DATA")
    if not folder:
        pytest.skip("RAGMEND_DATA is not set: no real data here")
    path = Path(folder)
    assert path.is_dir(), f"RAGMEND_DATA names {path}, which is no folder"
    return path
