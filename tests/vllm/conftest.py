"""One real vLLM server with a small random model, for all tests here."""

import os
import subprocess
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

import pytest

from ragmend.cli.serving.server import run_server
from ragmend.llm.labels import LABEL_FORMS
from ragmend.llm.server.opening import open_server
from ragmend.sections.models import ClientConfig, ModelConfig, ServeConfig

ON_A_CPU = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "VLLM_SERVER_DEV_MODE": "1",  # for /reset_prefix_cache
}
N_BLOCKS = 40
"""Of 128 tokens: a cache for four sources of the tests, so that their order matters."""


@pytest.fixture(scope="session")
def vllm_python():
    """The interpreter of the environment with vllm; without one these tests fail."""
    python = os.environ.get("RAGMEND_VLLM_PYTHON")
    if not python:
        pytest.fail(
            "RAGMEND_VLLM_PYTHON is not set: it names the interpreter of an environment with vllm"
        )
    return python


@pytest.fixture(scope="session")
def folder(vllm_python, tmp_path_factory):
    """The folder of the random model."""
    made = tmp_path_factory.mktemp("model") / "tiny"
    demo = resources.files("ragmend.datasets") / "demo"
    texts = [str(demo / name) for name in ("source_info.jsonl", "response.jsonl")]
    script = Path(__file__).parent / "make_model.py"
    done = subprocess.run(
        [vllm_python, str(script), str(made), *texts], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="session")
def model(folder):
    return ModelConfig(id="org/tiny", folder=str(folder), dtype="float32", max_model_len=2048)


@pytest.fixture(scope="session")
def serve(vllm_python):
    return ServeConfig(
        python=vllm_python, enforce_eager=True, environment=ON_A_CPU, ready_s=600.0, stop_s=60.0
    )


@pytest.fixture(scope="session")
def server(model, serve, tmp_path_factory):
    """The server of the session, with a small cache; no test may end it."""
    folder = tmp_path_factory.mktemp("server")
    # The one flag that no configuration has.
    wrapper = folder / "python"
    wrapper.write_text(
        f'#!/bin/sh\nexec "{serve.python}" "$@" --num-gpu-blocks-override {N_BLOCKS}\n'
    )
    wrapper.chmod(0o755)
    small = serve.model_copy(update={"python": str(wrapper)})
    with run_server(model, small, log=folder / "log") as running:
        yield running


@pytest.fixture
def opened(server, model):
    """Open the session's server, as a function of settings of the model and the client."""

    @asynccontextmanager
    async def open_it(*, concurrency=8, **settings):
        client = ClientConfig(concurrency=concurrency, max_tries=2, backoff_s=0.01)
        asked = model.model_copy(update=settings)
        async with open_server(server.base_url, asked, client, label_forms=LABEL_FORMS) as one:
            yield one

    return open_it


@pytest.fixture
def forget(server):
    """Empty the server's prefix cache, as a function."""
    from urllib.request import ProxyHandler, Request, build_opener

    def reset():
        url = f"{server.base_url.removesuffix('/v1')}/reset_prefix_cache"
        opener = build_opener(ProxyHandler({}))
        with opener.open(Request(url, method="POST")) as answer:
            assert answer.status == 200

    return reset


CONFIG = """
name = "tiny"
[data]
kind = "demo"
[detector]
kind = "lexical"
[verifier]
backend = "openai"
scoring = "all-forms"
threshold = 0.7  # of the random model's answers half are below
min_candidate_mass = 0.0  # the model is random
[verifier.model]
{model}
[rewriter]
backend = "openai"
output = "json-schema"
max_tokens = 64
[rewriter.model]
{model}
[judges]
primary = "judge"
[[judges.panel]]
name = "judge"
backend = "openai"
output = "json-schema"
max_tokens = 128
[judges.panel.model]
{model}
endpoint = "completions"
[client]
backoff_s = 0.01
[serve]
python = "{python}"
enforce_eager = true
ready_s = 600.0
stop_s = 60.0
[serve.environment]
VLLM_CPU_KVCACHE_SPACE = "1"
TORCHDYNAMO_DISABLE = "1"
"""
MODEL = """id = "org/tiny"
folder = "{folder}"
dtype = "float32"
max_model_len = 4096"""


@pytest.fixture
def config_file(tmp_path, folder, vllm_python):
    """An experiment on the built-in data in which the random model has every role."""
    path = tmp_path / "tiny.toml"
    path.write_text(CONFIG.format(model=MODEL.format(folder=folder), python=vllm_python))
    return path
