"""A server with faults, and a way to ask it one thing."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fault_server import FaultServer

from ragmend.llm.labels import LABEL_FORMS
from ragmend.llm.protocol import Prompt
from ragmend.llm.server.opening import open_server
from ragmend.sections.models import ClientConfig, ModelConfig

SYSTEM = "You check whether a source supports a claim."


@pytest.fixture(scope="session")
def client():
    """Build settings with waits of milliseconds."""

    def build(**changes):
        quick = {
            "backoff_s": 0.001,
            "max_backoff_s": 0.005,
            "timeout_s": 5.0,
            "deadline_s": 60.0,
            "max_tries": 30,
        }
        return ClientConfig(**{**quick, **changes})

    return build


@pytest.fixture(scope="session")
def serve():
    """Start a server for a `with` block."""
    return FaultServer


@pytest.fixture(scope="session")
def ask(client):
    """Open a server and return what a question, an async function of the model, gives."""

    def run(server, question=None, *, model=None, settings=None, forms=LABEL_FORMS, environ=None):
        async def opened():
            async with open_server(
                server if isinstance(server, str) else server.url,
                ModelConfig(id="tiny", **(model or {})),
                settings or client(),
                label_forms=forms,
                environ=environ or {},
            ) as found:
                return await question(found) if question else found

        return asyncio.run(opened())

    return run


@pytest.fixture(scope="session")
def prompt():
    """Build a prompt about one of some sources."""

    def build(n=0, *, source=0):
        text = f"Rome was founded long ago, says source {source}. " * 5
        user = f"<source>\n{text}\n</source>\n\n<claim>\nClaim {n} is here.\n</claim>\n\nYes or No?"
        return Prompt(SYSTEM, user)

    return build


@pytest.fixture(scope="session")
def text_of():
    """Return what the server's model sees of a prompt."""
    return lambda prompt: f"{prompt.system}\n\n{prompt.user}"


@pytest.fixture
def web_page():
    """A server that answers everything with a page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.n_requests += 1
            self.send_response(200)
            self.send_header("content-length", "4")
            self.end_headers()
            self.wfile.write(b"<a/>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        server.n_requests = 0
        server.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
