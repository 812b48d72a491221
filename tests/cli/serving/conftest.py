"""A stand-in for vLLM that starts in half a second, and what shows that nothing of it is left."""

import time
from pathlib import Path

import pytest

from ragmend.cli.serving import warden
from ragmend.sections.models import ModelConfig, ServeConfig

FAKE = Path(__file__).parent / "fake"


@pytest.fixture
def model():
    return ModelConfig(id="org/model")


@pytest.fixture
def fake():
    """How the stand-in is started, as a function of its mode and more variables."""

    def configure(mode="", *, ready_s=60.0, stop_s=20.0, **variables):
        environment = {"PYTHONPATH": str(FAKE), "FAKE_VLLM": mode, **variables}
        return ServeConfig(environment=environment, ready_s=ready_s, stop_s=stop_s)

    return configure


@pytest.fixture
def ends():
    """Wait until no process of a session is left; False where some are after a minute."""

    def wait(leader):
        deadline = time.monotonic() + 60
        while warden.session_members(leader):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    return wait
