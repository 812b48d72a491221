"""What `--dry-run` shows: how a server would be started, for a shell or a batch script."""

import os
import shlex
from collections.abc import Iterator

from ragmend.cli.serving.command import (
    LOOPBACK,
    Adapter,
    check_servable,
    offline_snapshot,
    own_variables,
    server_command,
)
from ragmend.cli.serving.ports import hold_port
from ragmend.sections.models import ModelConfig, ServeConfig, is_secret


def show_command(
    model: ModelConfig,
    serve: ServeConfig,
    *,
    port: int | None,
    host: str = LOOPBACK,
    adapter: Adapter | None = None,
) -> Iterator[str]:
    """Yield the variables of a server's own, a line each, then its command line; no secret.

    Raises:
        MissingInputError, ConfigError: It cannot be started as configured.
        ServerError: The port is taken.
    """
    check_servable(model, serve)
    for name, value in sorted(own_variables(model, serve, os.environ).items()):
        yield f"{name}={'(hidden)' if is_secret(name) else shlex.quote(value)}"
    snapshot = offline_snapshot(model, serve, os.environ)
    with hold_port(host, port) as held:
        command = server_command(
            model, serve, port=held, host=host, adapter=adapter, snapshot=snapshot
        )
    yield shlex.join(command)
