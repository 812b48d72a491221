"""The servers that a run needs, one after another: at most one at a time on this machine."""

import os
import re
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from ragmend.cli.context import say
from ragmend.cli.serving.command import offline_snapshot, own_variables, server_command
from ragmend.cli.serving.server import RunningServer, starting
from ragmend.cli.serving.waiting import Steps, wait_for, wait_in_loop
from ragmend.errors import ServerError
from ragmend.sections.models import ModelConfig, ServeConfig

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class _Kept(NamedTuple):
    identity: object
    server: RunningServer


class ServerKeeper:
    """Starts the server of whichever model is asked for, and ends the one before.

    Used as a context manager: the last server ends with it, and a `ServerError` from inside
    comes out with what the server's log says.
    """

    def __init__(self, serve: ServeConfig, folder: Path) -> None:
        """Start nothing yet.

        Args:
            serve: How servers are started.
            folder: Where their logs go, one file a role.
        """
        self.serve, self.folder = serve, folder
        self._kept: _Kept | None = None

    def url_of(self, model: ModelConfig, *, role: str | None = None) -> str:
        """Return where a model is served, after starting its server if another runs or none.

        Args:
            model: What to serve.
            role: Whose it is, for the name of its log; None: the model's own name.

        Raises:
            MissingInputError, ConfigError, ServerError: As `run_server`.
        """
        return wait_for(self._serving(model, role))

    async def url_in_loop(self, model: ModelConfig, *, role: str | None = None) -> str:
        """Do as `url_of` does, and let the event loop go on meanwhile: it can be cancelled."""
        return await wait_in_loop(self._serving(model, role))

    def close(self) -> None:
        """End the server that runs, if one does."""
        if self._kept is not None:
            server, self._kept = self._kept.server, None
            say(f"serve     {server.base_url}: stopping")
            server.stop(self.serve.stop_s)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the server; say what its log says where it was at fault."""
        kept = self._kept
        try:
            if isinstance(error, ServerError) and kept is not None:
                raise ServerError(f"{error}; {kept.server.describe_end()}") from error
        finally:
            self.close()

    def _serving(self, model: ModelConfig, role: str | None) -> Steps[str]:
        identity = self._identity(model)
        if self._kept is not None:
            if self._kept.identity == identity and self._kept.server.alive:
                return self._kept.server.base_url
            self.close()
        log = self.folder / f"{_NOT_IN_NAMES.sub('-', role or model.name_on_server)}.log"
        server = yield from starting(model, self.serve, log=log)
        self._kept = _Kept(identity, server)
        return server.base_url

    def _identity(self, model: ModelConfig) -> object:
        """Return what two models must share to be served by one server."""
        snapshot = offline_snapshot(model, self.serve, os.environ)
        command = server_command(model, self.serve, port=0, snapshot=snapshot)
        return command, own_variables(model, self.serve, os.environ)
