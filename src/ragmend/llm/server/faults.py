"""What a failed try means: try again, this answer cannot be had, or nothing can be asked.

Nothing here is ever an answer. What is transient is tried again; what the server says about one
question is that question's fault; what it says about every question stops the run.
"""

import re
import time
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from typing import NamedTuple

import httpx2
from openai import APIConnectionError, APIError, APIStatusError
from pydantic import ValidationError

from ragmend.errors import AnswerFaultError, FaultStatus, ServerError
from ragmend.io import shorten
from ragmend.llm.server.connection import Connection

MESSAGE_LENGTH = 200
_TRANSIENT = {408, 425, 429}  # and every 5xx: proxies have their own for a server that is down
_NO_SUCH_ENDPOINT = {404, 405}
_NOT_IMPLEMENTED = 501
# The third is what vLLM says of a prompt that fills the context to its last token.
_TOO_LONG = re.compile(
    r"maximum context length|context_length_exceeded|max_tokens must be at least 1, got|too long",
    re.IGNORECASE,
)
_NON_FINITE = re.compile(r"not JSON compliant|out of range float|\bNaN\b", re.IGNORECASE)


class Transient(NamedTuple):
    """A fault that may not come again.

    Attributes:
        status: What it is if it does come again each time.
        message: What was seen.
        retry_after_s: How long the server asked to wait.
        is_no_server: Nothing accepts connections at the server's address, or what does is no
            model server.
        raw: The body that could not be read.
    """

    status: FaultStatus
    message: str
    retry_after_s: float | None = None
    is_no_server: bool = False
    raw: str | None = None


class MissingEndpointError(AnswerFaultError):
    """The server has nothing at the path that was asked.

    Attributes:
        code: The HTTP status that says so.
    """

    def __init__(self, message: str, *, code: int) -> None:
        """Build the error of one path."""
        super().__init__(message, status="refused")
        self.code = code


class UnreadableError(Exception):
    """A body that cannot be read: torn on its way, or a page that a proxy put in its place.

    Attributes:
        raw: The body.
    """

    def __init__(self, message: str, raw: str) -> None:
        """Build the error of one body."""
        super().__init__(message)
        self.raw = raw

    @property
    def is_page(self) -> bool:
        """Whether the body is no JSON object, and no beginning of one either."""
        return bool(self.raw) and not self.raw.lstrip().startswith("{")


Fault = Transient | AnswerFaultError | ServerError


def classify(
    error: APIError | TimeoutError | UnreadableError,
    server: Connection,
    *,
    is_opening: bool = False,
) -> Fault:
    """Say what a failed try means.

    Args:
        error: How it failed.
        server: Who was asked.
        is_opening: What the server can do is being found out: 501 is an answer to that.
    """
    if isinstance(error, APIStatusError):
        return _of_status(error, server, is_opening=is_opening)
    if isinstance(error, APIConnectionError):
        cause = error.__cause__ or error
        message = server.hide_key(str(cause)) or type(cause).__name__
        is_refused = isinstance(cause, httpx2.ConnectError)
        return Transient("unavailable", message, is_no_server=is_refused)
    if isinstance(error, UnreadableError):
        return Transient("malformed", str(error), is_no_server=error.is_page, raw=error.raw)
    return Transient("timeout", "no answer in time")


def unreadable(body: bytes, error: ValidationError, server: Connection) -> UnreadableError:
    """Say what a body means that is not what was asked for."""
    finding = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in finding["loc"])
    what = f"{place}: {finding['msg']}" if place else finding["msg"]
    raw = server.hide_key(body.decode(errors="replace"))
    return UnreadableError(
        f"the server's answer cannot be read ({server.hide_key(what)}): {_cut(raw)}", raw
    )


def _of_status(error: APIStatusError, server: Connection, *, is_opening: bool) -> Fault:
    status, message = error.status_code, _message(error, server)
    is_missing = status in _NO_SUCH_ENDPOINT or (is_opening and status == _NOT_IMPLEMENTED)
    is_down = status >= httpx2.codes.INTERNAL_SERVER_ERROR and not is_missing
    if is_down or status in _TRANSIENT:
        return Transient("unavailable", f"HTTP {status}: {message}", _retry_after(error))
    if status in {401, 403}:
        return ServerError(_about_the_key(status, server))
    if is_missing:
        if "model" in message.lower():
            return ServerError(
                f"{server.url} does not have the model {server.model!r} any more: {message}"
            )
        path = error.request.url.path
        return MissingEndpointError(f"{server.url} has no {path} (HTTP {status})", code=status)
    if _TOO_LONG.search(message):
        return AnswerFaultError(f"the server finds it too long: {message}", status="too_long")
    if _NON_FINITE.search(message):
        return AnswerFaultError(
            f"the model's log-probabilities are not numbers: {message}", status="non_finite"
        )
    return AnswerFaultError(f"the server refuses (HTTP {status}): {message}", status="refused")


def _about_the_key(status: int, server: Connection) -> str:
    # Never the server's own words: some repeat a part of the key.
    if server.key_env is None:
        return (
            f"{server.url} wants an API key (HTTP {status}) and none is configured: put it into an "
            "environment variable and name that in `api_key_env`"
        )
    return (
        f"{server.url} refuses the API key (HTTP {status}): put the right one into "
        f"{server.key_env} (`api_key_env`)"
    )


def _message(error: APIStatusError, server: Connection) -> str:
    body = error.body
    if isinstance(body, dict):
        said = body.get("message") or body.get("detail") or body
    else:
        said = error.response.text.strip() or "no explanation"
    return _cut(server.hide_key(said if isinstance(said, str) else str(said)))  # before it is cut


def _cut(text: str) -> str:
    return shorten(text, MESSAGE_LENGTH)


def _retry_after(error: APIStatusError) -> float | None:
    said = error.response.headers.get("retry-after")
    if said is None:
        return None
    with suppress(ValueError):
        return max(0.0, float(said))
    with suppress(ValueError, OverflowError):  # a date that no calendar has
        date = parsedate_tz(said)
        return None if date is None else max(0.0, mktime_tz(date) - time.time())
    return None
