"""A port for a server, kept from everybody else until the server listens at it."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from ragmend.errors import ServerError


@contextmanager
def hold_port(host: str, port: int | None) -> Iterator[int]:
    """Hold a port of this machine.

    A server is bound for minutes before it listens, and two that are bound to one port both
    come up to there: two jobs on one node that had looked for a free port would get the same,
    and one would be answered by the other's model. So it is bound here first. The system gives
    a bound port to nobody who asks for any, and to a server that asks for this one still, since
    nobody listens.

    Args:
        host: The address to listen at.
        port: The port; None: any that is free.

    Raises:
        ServerError: It is taken, or not this user's or machine's to have.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((host, port or 0))
        except OSError as error:
            raise ServerError(_refusal(host, port, error)) from error
        yield int(held.getsockname()[1])


def _refusal(host: str, port: int | None, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken on {host}: end what listens there, or use another port"
    return f"no server can listen at {host}, port {port or 'any'}: {error.strerror or error}"
