"""A server that may have faults, and runs against it."""

import pytest
from fault_server import FaultServer
from served_run import Served


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
    """The decisions of a run without any fault."""
    server.faults_off()
    run = Served(server, tmp_path_factory.mktemp("undisturbed") / "run")
    run.run()
    return run


@pytest.fixture
def served(calm, tmp_path):
    """A new run against the server."""
    return Served(calm, tmp_path / "run")
