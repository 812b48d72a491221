"""Downloads one file by HTTP: bounded, resumed where it was torn, and kept only if it is right."""

import fcntl
import http.client
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ragmend.datasets.official import OfficialFile
from ragmend.errors import (
    DataError,
    MissingInputError,
    OutputError,
    RagmendError,
    RunStateError,
    ServerError,
)
from ragmend.io import PARTIAL, sha256_of_file

CHUNK = 1 << 16
MAX_BYTES = 2 << 30
"""What a file of unknown size may have at most."""
SILENCE_S = 60.0
"""How long a server may say nothing."""
MAX_TRIES = 6
"""Tries in a row that bring nothing new."""
FIRST_PAUSE_S = 1.0
"""The pause before the second of them; it doubles each time."""
TRANSIENT = (408, 425, 429)
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class _TransientError(Exception):
    """The network's or a server's fault that may be gone in a moment."""


class _NoSuchPartError(_TransientError):
    """The server's file ends before the part that it was asked for."""


class _Body(NamedTuple):
    """What a server is sending.

    Attributes:
        response: To read from.
        start: The offset of its first byte in the file.
        n_bytes: The size of the whole file.
    """

    response: http.client.HTTPResponse
    start: int
    n_bytes: int


class _SafeRedirects(HTTPRedirectHandler):
    """Follows a few redirects, to https only."""

    max_redirections = 5

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        """Refuse every other kind."""
        if urlsplit(newurl).scheme != "https":
            raise ServerError(
                f"{req.full_url}: is redirected to {newurl}, which is not https; nothing is "
                "fetched from there"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(file: OfficialFile, target: Path, advance: Callable[[int], None]) -> str:
    """Download a file to `<target>.partial`; it takes the target's place when it is the right one.

    A file whose hash is known goes on where an earlier download ended, if the server can.

    Args:
        file: What to fetch, and what is known of it.
        target: Where it goes.
        advance: Told how many bytes are new.

    Returns:
        Its SHA-256 as hex.

    Raises:
        DataError: It is not the file that it should be; it is not kept.
        MissingInputError: It is not there any more.
        ServerError: No server, or none that is well, as often as it was tried.
        OutputError: It cannot be written.
        RunStateError: Another process is fetching it.
    """
    if urlsplit(file.url).scheme not in ("http", "https"):
        raise ServerError(f"{file.url}: only http and https are fetched from")
    partial = target.with_name(target.name + PARTIAL)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(partial) as out:
            in_pieces = _fetch_all(file, out, advance)
            found = _finish(file, out, partial)
            if found is None and in_pieces:  # they may be of different files
                out.truncate(0)
                _fetch_all(file, out, advance)
                found = _finish(file, out, partial)
            if found is None:
                raise _mismatch(file, partial)
            partial.replace(target)
            _sync_folder(target.parent)
    except RagmendError:
        raise
    except OSError as error:
        raise OutputError.of(target, error) from error
    return found


@contextmanager
def _locked(partial: Path) -> Iterator[IO[bytes]]:
    """Open a file to go on writing; no other process has it then.

    Not every shared file system keeps such locks: there the hash tells what two have written.
    """
    while True:
        with partial.open("ab") as out:
            try:
                fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunStateError(
                    f"{partial}: another process is fetching it; wait until it has ended"
                ) from error
            except OSError:
                pass  # a file system without locks
            # Until the lock was there, another process may have given the file its final name.
            if partial.exists() and partial.stat().st_ino == os.fstat(out.fileno()).st_ino:
                try:
                    yield out
                finally:
                    if partial.exists() and partial.stat().st_size == 0:
                        partial.unlink()
                return


def _fetch_all(file: OfficialFile, out: IO[bytes], advance: Callable[[int], None]) -> bool:
    """Try until all of it is there, as long as tries bring something; tell if it is in pieces."""
    most, n_tries = _size(out), 0
    in_pieces = most > 0
    while True:
        try:
            _fetch_rest(file, out, advance)
            return in_pieces
        except _TransientError as error:
            n_tries = n_tries + 1 if _size(out) <= most else 1
            most, in_pieces = max(most, _size(out)), True
            if n_tries >= MAX_TRIES:
                raise ServerError(
                    f"{file.url}: could not be fetched in {MAX_TRIES} tries, the last ended with: "
                    f"{error}; run the same command again on a machine with internet (a proxy is "
                    "named in HTTPS_PROXY)"
                ) from error
        time.sleep(FIRST_PAUSE_S * 2 ** (n_tries - 1))


def _fetch_rest(file: OfficialFile, out: IO[bytes], advance: Callable[[int], None]) -> None:
    if file.sha256 is None or (file.n_bytes is not None and _size(out) > file.n_bytes):
        out.truncate(0)  # nothing would tell whether two halves are of one file
    if file.n_bytes is not None and _size(out) == file.n_bytes:
        return
    try:
        body = _open(file, _size(out))
    except _NoSuchPartError:
        out.truncate(0)
        raise
    with body.response:
        if body.start != _size(out):
            out.truncate(body.start)
        left = body.n_bytes - body.start
        while left > 0:
            chunk = _read(body, min(CHUNK, left))
            if not chunk:
                raise _TransientError(f"the transfer ended {left:,} bytes early")
            out.write(chunk)
            out.flush()
            advance(len(chunk))
            left -= len(chunk)


def _open(file: OfficialFile, offset: int) -> _Body:
    """Ask for a file from an offset on; some servers send all of it."""
    request = Request(  # noqa: S310 - `download` has looked at the scheme
        file.url, headers={"User-Agent": "ragmend", "Accept-Encoding": "identity"}
    )
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    try:
        response = build_opener(_SafeRedirects()).open(request, timeout=SILENCE_S)
    except HTTPError as error:
        error.close()
        raise _status_error(file, error) from error
    except URLError as error:
        raise _network_error(file, error.reason) from error
    except RagmendError:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise _TransientError(_describe(error)) from error
    try:
        return _begin(file, response, offset)
    except BaseException:
        response.close()
        raise


def _begin(file: OfficialFile, response: http.client.HTTPResponse, offset: int) -> _Body:
    """Look at what a server says of a file before it is read."""
    start, told = 0, response.headers.get("Content-Length", "")
    if response.status == 206:
        found = _RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        if found is None or int(found[1]) != offset:
            raise _TransientError("the server sent another part than it was asked for")
        start, told = offset, found[2]
    if response.headers.get("Content-Encoding", "identity") != "identity" or not told.isdecimal():
        raise ServerError(f"{file.url}: the server does not say how many bytes the file has")
    n_bytes = int(told)
    if file.n_bytes is not None and n_bytes != file.n_bytes:
        raise DataError(
            f"{file.url}: has {n_bytes:,} bytes there, expected {file.n_bytes:,}: it is not the "
            "file that was published; nothing is kept"
        )
    if n_bytes > MAX_BYTES:
        raise DataError(f"{file.url}: has {n_bytes:,} bytes, more than {MAX_BYTES:,} is refused")
    return _Body(response, start, n_bytes)


def _read(body: _Body, n_bytes: int) -> bytes:
    try:
        return bytes(body.response.read(n_bytes))
    except (OSError, http.client.HTTPException) as error:
        raise _TransientError(_describe(error)) from error


def _status_error(file: OfficialFile, error: HTTPError) -> Exception:
    said = f"{error.code} {error.reason}"
    if error.code == 416:
        return _NoSuchPartError(said)
    if error.code in TRANSIENT or error.code >= 500:
        return _TransientError(said)
    if error.code in (404, 410):
        return MissingInputError(
            f"{file.url}: is not there any more ({said}); get {file.name} from its authors"
        )
    return ServerError(f"{file.url}: the server refuses it ({said})")


def _network_error(file: OfficialFile, reason: object) -> Exception:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return ServerError(
            f"{file.url}: the server's certificate cannot be trusted ({reason.verify_message}); "
            "SSL_CERT_FILE names the certificates of this machine"
        )
    return _TransientError(_describe(reason))


def _describe(reason: object) -> str:
    return str(reason).strip() or type(reason).__name__


def _finish(file: OfficialFile, out: IO[bytes], partial: Path) -> str | None:
    """Make a complete file durable; return its hash, or None where it is not the right one."""
    out.flush()
    os.fsync(out.fileno())
    found = sha256_of_file(partial)
    return found if file.sha256 in (None, found) else None


def _mismatch(file: OfficialFile, partial: Path) -> DataError:
    found = sha256_of_file(partial)
    with suppress(OSError):
        partial.unlink()
    return DataError(
        f"{file.url}: has sha256 {found}, expected {file.sha256}: it is not the file that was "
        "published; it is not kept"
    )


def _size(out: IO[bytes]) -> int:
    return os.fstat(out.fileno()).st_size


def _sync_folder(folder: Path) -> None:
    # Makes the rename itself durable.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
