"""A detector goes to a hub on request only, and only with a token and in health."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

ONE = ("--model", "big", "--seed", "2")
REPO = ("--repo", "me/detector")


@pytest.fixture
def trained(scripted, experiment, command):
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0
    return experiment


def test_nothing_is_pushed_without_a_token(trained, command, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    done = command("detect", "push", trained.out, *ONE, *REPO)
    assert done.returncode == 1
    assert "HF_TOKEN is not set" in done.stderr


def test_a_repository_has_an_owner_and_a_name(trained, command, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "secret-of-the-test")
    done = command("detect", "push", trained.out, *ONE, "--repo", "detector")
    assert done.returncode == 1
    assert "expected OWNER/NAME" in done.stderr


def test_an_unhealthy_detector_is_pushed_only_when_told_so(
    scripted, experiment, command, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", "secret-of-the-test")
    scripted.script = scripted.script._replace(empty=True)
    assert command("detect", "train", *experiment.where, *ONE).returncode == 0
    done = command("detect", "push", experiment.out, *ONE, *REPO)
    assert done.returncode == 1
    assert "--although-unhealthy" in done.stderr
    assert "secret-of-the-test" not in done.stderr


class Hub(ThreadingHTTPServer):
    """As much of a model hub as an upload of small files needs."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.seen = []
        self.files = {}
        self.refuses = False


class HubHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        if self.server.refuses:
            self._say(403, {"error": "this token may not write"})
        elif self.path == "/api/repos/create":
            self._say(200, {"url": f"{self._url()}/me/detector"})
        elif self.path == "/api/validate-yaml":
            self.server.card = json.loads(body)["content"]
            self._say(200, {"errors": [], "warnings": []})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            self._say(
                200,
                {
                    "files": [
                        {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False}
                        for f in files
                    ]
                },
            )
        elif "/commit/" in self.path:
            for line in body.decode().splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    content = base64.b64decode(entry["value"]["content"])
                    self.server.files[entry["value"]["path"]] = content
            self._say(
                200, {"commitUrl": f"{self._url()}/me/detector/commit/abc", "commitOid": "abc"}
            )
        else:
            self._say(404, {})

    def do_GET(self):
        self.server.seen.append((self.path, None, b""))
        self._say(200, {"id": "me/detector", "sha": "abc", "siblings": []})

    def log_message(self, *words):
        """Say nothing."""

    def _url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def _say(self, code, value):
        content = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def hub(monkeypatch):
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("HF_TOKEN", "secret-of-the-test")
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.train
def test_weights_and_card_arrive_at_the_hub_in_a_private_repository(trained, command, hub):
    done = command("detect", "push", trained.out, *ONE, *REPO)
    assert done.returncode == 0, done.stderr
    assert "/me/detector/commit/abc" in done.stdout
    adapter = trained.training() / "adapter"
    assert hub.files == {path.name: path.read_bytes() for path in adapter.iterdir()}
    created = [each for each in hub.seen if each[0] == "/api/repos/create"]
    ((_, authorization, body),) = created  # the library may ask for other things before
    assert hub.card.startswith('---\nbase_model: "none/big"\n')
    assert authorization == "Bearer secret-of-the-test"
    assert json.loads(body)["visibility"] == "private"


@pytest.mark.train
def test_a_hub_that_refuses_is_one_line_without_the_token(trained, command, hub):
    hub.refuses = True
    done = command("detect", "push", trained.out, *ONE, *REPO)
    assert done.returncode == 1
    assert "me/detector: the hub did not take it" in done.stderr
    assert "secret-of-the-test" not in done.stderr + done.stdout
