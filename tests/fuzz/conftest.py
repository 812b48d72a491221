"""A finished run, whose files are what the fuzzed inputs are made from."""

import pytest

from ragmend.cli.experiment import open_experiment


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A small run up to the judgements."""
    root = tmp_path_factory.mktemp("fuzz") / "run"
    stages = "detect select split match verify propose assemble judge".split()
    for stage in stages:
        open_experiment("demo", root).run(only=stage)
    return root
