"""A server of files with every fault that a download can meet, and hub caches made by hand."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ragmend.cli.prefetching import download as downloading

COMMIT = "a" * 40


class FileServer(ThreadingHTTPServer):
    """Serves `files` by path.

    `script` has what happens to the next requests, one after the other: a status to answer with,
    a number of bytes after which the connection ends ("torn", n), or None for a good answer.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.script, self.seen = {}, [], []
        self.ranges = True
        self.headers, self.redirect = {}, None

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def handle_error(self, request, client_address):
        """Say nothing of clients that are gone."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append((self.path, self.headers.get("Range")))
        what = server.script.pop(0) if server.script else None
        if server.redirect is not None:
            self.send_response(302)
            self.send_header("Location", server.redirect)
            self.end_headers()
            return
        body = server.files.get(self.path.lstrip("/"))
        if body is None or isinstance(what, int):
            self.send_error(404 if body is None else what)
            return
        told = self.headers.get("Range")
        start = int(told.removeprefix("bytes=").rstrip("-")) if told and server.ranges else 0
        if start and start >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        headers = {"Content-Length": str(len(body) - start), **server.headers}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        for key, value in headers.items():
            if value is not None:
                self.send_header(key, value)
        self.end_headers()
        sent = body[start:]
        self.wfile.write(sent if what is None else sent[: what[1]])

    def log_message(self, *words):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    """A server of files; between two tries nobody waits."""
    monkeypatch.setattr(downloading, "FIRST_PAUSE_S", 0.0)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FileServer() as files:
        thread = threading.Thread(target=files.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield files
        files.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the hub, found by HF_HUB_CACHE."""
    for name in ("HF_HOME", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(folder))
    return folder


@pytest.fixture
def make_snapshot(cache):
    """Put a model into the cache as the hub's library does: links to blobs, and a reference."""

    def make(model_id="org/tiny", commit=COMMIT, *, files=None, listing=True, branch="main"):
        home = cache / f"models--{model_id.replace('/', '--')}"
        contents = {
            "config.json": b"{}",
            "tokenizer.json": b"{}",
            "model.safetensors": b"weights",
            **(files or {}),
        }
        contents = {name: body for name, body in contents.items() if body is not None}
        snapshot = home / "snapshots" / commit
        for number, (name, body) in enumerate(contents.items()):
            blob = home / "blobs" / f"{number}"
            blob.parent.mkdir(parents=True, exist_ok=True)
            blob.write_bytes(body)
            (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
            (snapshot / name).symlink_to(blob)
        (home / "refs").mkdir(exist_ok=True)
        (home / "refs" / branch).write_text(commit)
        if listing:
            sizes = {name: {"size": len(body), "blob_id": "0"} for name, body in contents.items()}
            (home / "trees").mkdir(exist_ok=True)
            tree = home / "trees" / f"{commit}.json"
            tree.write_text(json.dumps({"format_version": 1, "files": sizes}))
        return snapshot

    return make
