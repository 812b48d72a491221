"""One pool of connections to one server, and the few things every request needs to know."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx2
from openai import (
    APIConnectionError,
    APIStatusError,
    AsyncOpenAI,
    DefaultAsyncHttpxClient,
)
from pydantic import JsonValue

from ragmend.errors import ConfigError, ServerError
from ragmend.io import shorten
from ragmend.sections.models import ClientConfig, ModelConfig

NO_KEY = "none"  # the client insists on one
HIDDEN = "(hidden)"
# vLLM closes a connection that was idle for five seconds; the client must do so before it.
KEEP_ALIVE_S = 4.0
HEALTH_S = 10.0
HEALTH_TRIES = 3


class Connection(NamedTuple):
    """A server, the model wanted of it, and the client that talks to it.

    Attributes:
        url: As configured, for messages; its last part is the interface's version, "/v1".
        root: The URL without that part, where `/health`, `/tokenize` and others lie.
        model: The model's name on the server.
        key_env: The variable that held the key, if one was configured.
        http: The client; it does not retry by itself.
    """

    url: str
    root: str
    model: str
    key_env: str | None
    http: AsyncOpenAI

    async def post(self, path: str, body: Mapping[str, JsonValue]) -> bytes:
        """Return what a server answers; a path with "/" in front lies at its root."""
        answer = await self.http.post(self._place(path), cast_to=httpx2.Response, body=body)
        return answer.content

    async def get(self, path: str) -> bytes:
        """Return what a server answers; see `post`."""
        answer = await self.http.get(self._place(path), cast_to=httpx2.Response)
        return answer.content

    def hide_key(self, text: str) -> str:
        """Return a text of the server's with the API key taken out, for a message."""
        if self.key_env is None:
            return text
        key = self.http.api_key
        return text.replace(key, HIDDEN).replace(json.dumps(key)[1:-1], HIDDEN)

    async def is_alive(self) -> bool:
        """Tell whether a server that failed still answers that it is well.

        It is asked for `/health`, or for its models where it has no such thing.
        """
        for path in ("/health", "models"):
            status = await self._status(path)
            if status != httpx2.codes.NOT_FOUND:
                return status is not None and status < httpx2.codes.INTERNAL_SERVER_ERROR
        return False

    async def _status(self, path: str) -> int | None:
        for _ in range(HEALTH_TRIES):
            try:
                async with asyncio.timeout(HEALTH_S):
                    await self.get(path)
            except APIStatusError as error:
                return error.status_code
            except (APIConnectionError, TimeoutError):
                continue
            return int(httpx2.codes.OK)
        return None

    def _place(self, path: str) -> str:
        return self.root + path if path.startswith("/") else path


@asynccontextmanager
async def connect(
    base_url: str, model: ModelConfig, client: ClientConfig, environ: Mapping[str, str]
) -> AsyncIterator[Connection]:
    """Make the client of one server, and close its connections at the end.

    Raises:
        ConfigError: The variable of the API key is not set, or holds no key.
        ServerError: The URL is none.
    """
    url = base_url.strip().rstrip("/")
    host = _host(url)
    key = _api_key(model.api_key_env, environ)
    pool = DefaultAsyncHttpxClient(
        limits=httpx2.Limits(
            max_connections=client.concurrency + 2,  # and one for health, one for metrics
            max_keepalive_connections=client.concurrency + 2,
            keepalive_expiry=KEEP_ALIVE_S,
        ),
        timeout=None,  # the asker limits each try as a whole
        trust_env=host not in {"localhost", "127.0.0.1", "::1"},  # no proxy to this machine itself
    )
    async with AsyncOpenAI(
        base_url=url, api_key=key, max_retries=0, timeout=None, http_client=pool
    ) as http:
        yield Connection(
            url, url.removesuffix("/v1"), model.name_on_server, model.api_key_env, http
        )


def _host(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise ServerError(f"{shorten(url)} is no URL of a server ({error})") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ServerError(
            f"{shorten(url)} is no URL of a server: expected one as http://127.0.0.1:8000/v1"
        )
    return parsed.host


def _api_key(variable: str | None, environ: Mapping[str, str]) -> str:
    if variable is None:
        return NO_KEY
    if not (key := environ.get(variable, "").strip()):
        raise ConfigError(
            f"the API key's variable {variable} is not set (`api_key_env`): set it, "
            "or take `api_key_env` out where the server wants no key"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the API key in {variable} (`api_key_env`) cannot be sent: expected printable ASCII "
            "letters and signs in one line, look for a line break or a copied special sign"
        )
    return key
