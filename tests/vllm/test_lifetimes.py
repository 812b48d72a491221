"""A real server's processes: they end when asked to, and nothing outlives any of them."""

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragmend.cli.serving.warden import session_members
from ragmend.errors import ServerError
from ragmend.llm.labels import LABEL_FORMS
from ragmend.llm.server.opening import open_server
from ragmend.llm.server.probing import PROBE
from ragmend.sections.models import ClientConfig

pytestmark = pytest.mark.vllm


@pytest.fixture
def serving(config_file, tmp_path):
    """A `ragmend serve verifier` that has come up: its process, its lines, its standard error."""
    stderr = tmp_path / "stderr"
    with stderr.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "ragmend", "serve", "verifier", str(config_file)],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            cwd=tmp_path,
        )
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith("serving"):
            break
    yield process, lines, stderr
    process.terminate()
    process.communicate(timeout=120)


def pid_in(stderr):
    return int(re.search(r"pid (\d+)", stderr.read_text())[1])


def engine_of(server):
    """Return the engine among a server's processes, by the name that vLLM gives it."""
    named = {pid: Path(f"/proc/{pid}/comm").read_text() for pid in session_members(server)}
    (engine,) = (pid for pid, name in named.items() if name.startswith("VLLM::EngineCor"))
    return engine


def test_serve_comes_up_is_asked_and_ends_on_sigterm_without_a_trace(serving):
    process, lines, stderr = serving
    model, tested, use, _ = lines
    assert re.fullmatch(r"model     org/tiny, vLLM 0\.\S+, context 4,096 tokens", model)
    assert re.fullmatch(r"self-test P\(Yes\) 0\.\d{4}, candidate mass 0\.\d{4}", tested)
    assert shlex.split(use)[-1].startswith("servers.verifier=http://127.0.0.1:")
    server = pid_in(stderr)
    assert len(session_members(server)) > 1
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM
    assert stderr.read_text().splitlines()[-1].startswith("ragmend: terminated")
    assert session_members(server) == []


def test_a_killed_engine_is_named_by_the_client_and_by_serve(serving, model):
    process, lines, stderr = serving
    url = shlex.split(lines[2])[-1].partition("=")[2]
    server = pid_in(stderr)
    client = ClientConfig(max_tries=3, backoff_s=0.01)

    async def ask_around_the_kill():
        served = model.model_copy(update={"max_model_len": 4096})
        async with open_server(url, served, client, label_forms=LABEL_FORMS) as opened:
            await opened.score_labels(PROBE)
            os.kill(engine_of(server), signal.SIGKILL)
            await opened.score_labels(PROBE)

    with pytest.raises(ServerError, match="the server died"):
        asyncio.run(ask_around_the_kill())
    process.communicate(timeout=120)
    assert process.returncode == 1
    last = stderr.read_text().splitlines()[-1]
    assert "the server ended with exit code" in last
    assert "Engine" in last
    assert session_members(server) == []
