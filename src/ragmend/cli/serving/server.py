"""One vLLM server: started, waited for, watched, and ended with all of its processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple, cast

from ragmend.cli.context import say
from ragmend.cli.serving import warden
from ragmend.cli.serving.command import (
    LOOPBACK,
    Adapter,
    check_servable,
    offline_snapshot,
    server_command,
    server_environment,
)
from ragmend.cli.serving.ports import hold_port
from ragmend.cli.serving.server_log import says_port_taken, telling_lines
from ragmend.cli.serving.waiting import Steps, wait_for
from ragmend.errors import OutputError, ServerError
from ragmend.sections.models import ModelConfig, ServeConfig

ASK_S = 5.0
"""How long a server that is up may take to say so."""
SAY_EVERY_S = 30.0
PORT_TRIES = 3
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound


class PortLostError(ServerError):
    """Somebody who asked for the very port that was free has it now."""


class RunningServer(NamedTuple):
    """A server that this process has started.

    Attributes:
        base_url: Where it answers, as clients want it: "http://127.0.0.1:8000/v1".
        pid: The server's own process, which leads all others of it.
        log: What it prints, appended.
        log_start: Where in `log` its own part begins, in bytes.
        warden: The process between; it ends when the server has ended.
    """

    base_url: str
    pid: int
    log: Path
    log_start: int
    warden: "subprocess.Popen[bytes]"

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self.warden.poll() is None and warden.lives(self.pid)

    def describe_end(self) -> str:
        """Return what is known of its end, or of what it said last."""
        # The warden may be busy with what a dead server has left.
        code = None if self.alive else self.warden.wait()
        ended = "" if code is None else f"the server ended with exit code {code}; "
        said = telling_lines(self.log, start=self.log_start)
        return f"{ended}its log {self.log} says: {said or 'nothing'}{_advice(said)}"

    def await_end(self) -> None:
        """Stay until it ends by itself, which it should not.

        Raises:
            ServerError: It has.
        """
        self.warden.wait()
        raise ServerError(self.describe_end())

    def stop(self, stop_s: float) -> None:
        """End it and all of its processes.

        Raises:
            ServerError: One of them could not be killed; it may hold the GPU still.
        """
        self.warden.terminate()
        try:
            self.warden.wait(stop_s + warden.KILL_S + warden.GRACE_S)
        except subprocess.TimeoutExpired:
            self.warden.kill()
            self.warden.wait()
        if warden.session_members(self.pid):  # somebody has killed the warden
            warden.kill_session(self.pid)
            time.sleep(warden.POLL_S)
        if left := warden.session_members(self.pid):
            raise ServerError(
                f"processes {left} of the server {self.base_url} do not end; they may hold the "
                "GPU still"
            )


@contextmanager
def run_server(
    model: ModelConfig,
    serve: ServeConfig,
    *,
    log: Path,
    port: int | None = None,
    host: str = LOOPBACK,
    adapter: Adapter | None = None,
) -> Iterator[RunningServer]:
    """Start a model's server, wait until it answers, and end it in the end.

    A `ServerError` from inside comes out with what the server's log says.

    Args:
        model: What to serve.
        serve: How.
        log: Where what it prints is appended.
        port: Its port; None: any that is free.
        host: The address it listens at.
        adapter: What it has besides.

    Raises:
        MissingInputError, ConfigError: It cannot be started as configured.
        ServerError: It ended before it answered, or did not answer in time; the port is taken.
    """
    server = wait_for(starting(model, serve, log=log, port=port, host=host, adapter=adapter))
    try:
        yield server
    except ServerError as error:
        raise ServerError(f"{error}; {server.describe_end()}") from error
    finally:
        server.stop(serve.stop_s)


def starting(
    model: ModelConfig,
    serve: ServeConfig,
    *,
    log: Path,
    port: int | None = None,
    host: str = LOOPBACK,
    adapter: Adapter | None = None,
) -> Steps[RunningServer]:
    """Start a server and wait until it answers; whoever gets it stops it. See `run_server`."""
    check_servable(model, serve)
    once = partial(_starting_once, model, serve, adapter, log=log, port=port, host=host)
    for _ in range(PORT_TRIES - 1 if port is None else 0):
        with suppress(PortLostError):
            return (yield from once())
    return (yield from once())


def base_url(host: str, port: int) -> str:
    """Return where a server that listens at an address answers on this machine."""
    reached = LOOPBACK if host in EVERY_ADDRESS else host
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}/v1"


def _starting_once(
    model: ModelConfig,
    serve: ServeConfig,
    adapter: Adapter | None,
    *,
    log: Path,
    port: int | None,
    host: str,
) -> Steps[RunningServer]:
    snapshot = offline_snapshot(model, serve, os.environ)
    with hold_port(host, port) as held:
        command = server_command(
            model, serve, port=held, host=host, adapter=adapter, snapshot=snapshot
        )
        environment = server_environment(model, serve, os.environ)
        server = _launch(command, environment, base_url(host, held), log, serve.stop_s)
        try:
            yield from _becoming_ready(server, model.name_on_server, serve.ready_s)
        except BaseException:
            server.stop(serve.stop_s)
            raise
    return server


def _launch(
    command: list[str], environment: dict[str, str], url: str, log: Path, stop_s: float
) -> RunningServer:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("ab")
    except OSError as error:
        raise OutputError.of(log, error) from error
    with file:
        start = file.tell()
        process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            [sys.executable, "-I", "-S", warden.__file__, str(os.getpid()), str(stop_s), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=file,
            env=environment,
            start_new_session=True,  # a Ctrl-C in the terminal is for ragmend, which then acts
        )
    # Should a signal end this process anywhere from here on, the warden ends the server.
    with cast("IO[bytes]", process.stdout) as said:
        pid = said.readline().strip()
    if not pid:
        process.wait()
        raise ServerError(f"no server started: {telling_lines(log, start=start)}")
    return RunningServer(url, int(pid), log, start, process)


def _becoming_ready(server: RunningServer, name: str, ready_s: float) -> Steps[None]:
    begun = time.monotonic()
    say(f"serve     {name}: starting, pid {server.pid}, log {server.log}")
    next_line = begun + SAY_EVERY_S
    while not _answers(server):
        waited = time.monotonic() - begun
        if not server.alive:
            taken = says_port_taken(server.log, start=server.log_start)
            kind = PortLostError if taken else ServerError
            raise kind(f"{name}: {server.describe_end()}")
        if waited > ready_s:
            raise ServerError(
                f"{name}: the server did not answer within {ready_s:g} s (serve.ready_s); "
                f"{server.describe_end()}"
            )
        if time.monotonic() >= next_line:
            say(f"serve     {name}: not ready after {waited:.0f} s")
            next_line += SAY_EVERY_S
        yield
    say(f"serve     {name}: ready at {server.base_url} after {time.monotonic() - begun:.0f} s")


def _answers(server: RunningServer) -> bool:
    """Tell whether a server says that it is well."""
    import http.client
    from urllib.error import URLError
    from urllib.request import ProxyHandler, build_opener

    # A proxy that the environment names is for elsewhere; this server is on this machine.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{server.base_url.removesuffix('/v1')}/health", timeout=ASK_S) as answer:
            return answer.status == 200 and server.alive
    except (URLError, OSError, http.client.HTTPException):
        return False  # not there yet, or a 503


def _advice(said: str) -> str:
    if "No module named" in said and "vllm" in said:
        return " (serve.python names the interpreter of the environment that vllm is installed in)"
    if "Unknown quantization method: bitsandbytes" in said:
        return " (since 0.28 vLLM has it from a plugin: pip install vllm-bnb-plugin there)"
    return ""
