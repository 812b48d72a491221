"""As much of a model hub as a download by its own library asks for, and how it can refuse."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeHub(ThreadingHTTPServer):
    """One repository at one commit.

    `refuses` is a status and an error code for every answer; `torn` is how many bytes of a file
    are sent before the connection ends, by name, once; `hold` stops the sending of one in its
    middle until it is set.
    """

    daemon_threads = True

    def __init__(self, repo, files):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repo, self.files = repo, files
        self.refuses = None
        self.torn = {}
        self.held, self.hold = None, threading.Event()
        self.began = threading.Event()
        self.seen = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def fetched(self):
        """Return the names of the files whose bytes were sent, in order of name."""
        return sorted(path.rpartition("/")[2] for verb, path, _ in self.seen
                      if verb == "GET" and "/resolve/" in path)  # fmt: skip

    def handle_error(self, request, client_address):
        """Say nothing of clients that are gone."""


@contextmanager
def serve_hub(repo, files):
    with FakeHub(repo, files) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            hub.hold.set()
            hub.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def log_message(self, *words):
        """Say nothing."""

    def _answer(self, *, with_body):
        hub, path = self.server, unquote(urlsplit(self.path).path)
        if hub.repo in path:  # the library may ask for other things besides
            hub.seen.append((self.command, path, self.headers))
        if hub.refuses is not None:
            status, code = hub.refuses
            self._send(status, b"{}", {"X-Error-Code": code, "X-Error-Message": "no"}, with_body)
        elif path.startswith(f"/api/models/{hub.repo}/tree/{COMMIT}"):
            entries = [self._entry(name, body) for name, body in hub.files.items()]
            self._send(200, json.dumps(entries).encode(), {}, with_body)
        elif path in (f"/api/models/{hub.repo}", f"/api/models/{hub.repo}/revision/main",
                      f"/api/models/{hub.repo}/revision/{COMMIT}"):  # fmt: skip
            siblings = [{"rfilename": name} for name in hub.files]
            about = {"id": hub.repo, "sha": COMMIT, "siblings": siblings}
            self._send(200, json.dumps(about).encode(), {}, with_body)
        elif path.startswith(f"/{hub.repo}/resolve/{COMMIT}/"):
            self._file(path.removeprefix(f"/{hub.repo}/resolve/{COMMIT}/"), with_body)
        elif path.startswith(f"/api/models/{hub.repo}/"):
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"}, with_body)
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, with_body)

    def _entry(self, name, body):
        entry = {"type": "file", "path": name, "size": len(body), "oid": _sha1(body)}
        if name.endswith(".safetensors"):
            digest = hashlib.sha256(body).hexdigest()
            entry["lfs"] = {"oid": digest, "size": len(body), "pointerSize": 134}
        return entry

    def _file(self, name, with_body):
        body = self.server.files[name]
        headers = {"ETag": f'"{_sha1(body)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        status, told = 200, self.headers.get("Range", "")
        if told.startswith("bytes="):
            start = int(told.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            status, body = 206, body[start:]
        self._send(status, body, headers, with_body, name=name)

    def _send(self, status, body, headers, with_body, *, name=None):
        hub = self.server
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if not with_body:
            return
        if name in hub.torn:
            self.wfile.write(body[: hub.torn.pop(name)])
            self.close_connection = True
        elif name is not None and name == hub.held:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            hub.began.set()
            hub.hold.wait(60)
            self.close_connection = True
        else:
            self.wfile.write(body)


def _sha1(body):
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
