"""A held port is nobody else's, and the server's still."""

import socket

import pytest

from ragmend.cli.serving.ports import hold_port
from ragmend.errors import ServerError

HOST = "127.0.0.1"


def test_two_jobs_that_look_at_once_get_different_ports():
    with hold_port(HOST, None) as first, hold_port(HOST, None) as second:
        assert first != second


def test_a_server_can_listen_at_a_held_port_and_stays_reachable_after_it_is_let_go():
    with hold_port(HOST, None) as port:
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as vLLM does
        server.bind((HOST, port))
        server.listen()
    with server, socket.create_connection((HOST, port)):
        pass


def test_a_port_where_somebody_listens_is_refused_by_its_number():
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} is taken"), hold_port(HOST, port):
            pass


def test_an_address_of_another_machine_is_refused():
    with (
        pytest.raises(ServerError, match=r"no server can listen at 192\.0\.2\.77"),
        hold_port("192.0.2.77", None),
    ):
        pass
