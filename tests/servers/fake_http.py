"""As much of HTTP/1.1 as the fault server needs, and the ways in which it can go wrong."""

import json
import socket
import struct
from typing import NamedTuple

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class Request(NamedTuple):
    method: str
    path: str
    headers: dict
    body: bytes


class Response(NamedTuple):
    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple = ()

    def to_bytes(self):
        lines = [
            f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Error')}",
            f"content-length: {len(self.body)}",
            f"content-type: {self.content_type}",
            *self.headers,
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + self.body


def as_json(value, status=200, headers=()):
    """Return a JSON response."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(status, body.encode(), headers=headers)


def as_error(status, message, kind="BadRequestError", param=None, headers=()):
    """Return an error as vLLM words it."""
    error = {"message": message, "type": kind, "param": param, "code": status}
    return as_json({"error": error}, status, headers)


async def read_request(reader):
    """Return the next request of a connection, or None at its end."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


def reset(writer):
    """End a connection by RST, in the middle of whatever was being sent."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
