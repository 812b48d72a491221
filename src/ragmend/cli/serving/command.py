"""How a vLLM server is started: its command line and environment, of the configuration alone."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ragmend.cli.main import THREAD_VARIABLES
from ragmend.cli.prefetching.hub_cache import cache_problem, cached_snapshot, hub_is_offline
from ragmend.errors import ConfigError, MissingInputError
from ragmend.sections.models import ModelConfig, ServeConfig, is_secret

LOOPBACK = "127.0.0.1"
SERVER_MODULE = "vllm.entrypoints.openai.api_server"
API_KEY = "VLLM_API_KEY"
TOP_LOGPROBS = 20
"""What a client without `logprob_token_ids` asks for."""
HUB_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
MAX_LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM takes as the highest rank of its adapters."""


class Adapter(NamedTuple):
    """A low-rank adapter that a server has besides its base.

    Attributes:
        name: The name to ask the server for.
        folder: Where it lies.
        rank: Its rank.
    """

    name: str
    folder: Path
    rank: int


def server_command(
    model: ModelConfig,
    serve: ServeConfig,
    *,
    port: int,
    host: str = LOOPBACK,
    adapter: Adapter | None = None,
    snapshot: Path | None = None,
) -> list[str]:
    """Return the command line of a model's server.

    A key is never on it: every user of a machine can read command lines. No code of a model's
    repository is trusted.

    Args:
        model: What to serve.
        serve: How.
        port: Where it listens.
        host: The address it listens at.
        adapter: What it has besides.
        snapshot: Where its weights lie in the hub's cache (see `offline_snapshot`); None: the
            server looks them up by id and revision, and fetches what is not there.

    Raises:
        ConfigError: The adapter's rank is more than vLLM takes.
    """
    command = [server_python(serve), "-m", SERVER_MODULE]
    folder = model_folder(model) or snapshot
    command += ["--model", str(folder or model.id)]
    if folder is None and model.revision is not None:
        command += ["--revision", model.revision]
    command += ["--served-model-name", model.name_on_server]
    command += ["--host", host, "--port", str(port), "--dtype", model.dtype]
    for flag, value in (
        ("--quantization", model.quantization),
        ("--max-model-len", model.max_model_len),
        ("--gpu-memory-utilization", serve.gpu_memory_utilization),
    ):
        if value is not None:
            command += [flag, str(value)]
    if model.tensor_parallel_size > 1:
        command += ["--tensor-parallel-size", str(model.tensor_parallel_size)]
    if serve.enforce_eager:
        command.append("--enforce-eager")
    if adapter is not None:
        command += _adapter_flags(adapter)
    # What a repository recommends for sampling is not what this experiment samples with.
    command += ["--generation-config", "vllm"]
    # P(support) is of the model's own distribution, whatever a later version's default is.
    command += ["--logprobs-mode", "raw_logprobs", "--max-logprobs", str(TOP_LOGPROBS)]
    command.append("--disable-uvicorn-access-log")  # a line a request would bury the errors
    return command


def server_python(serve: ServeConfig) -> str:
    """Return the interpreter that servers run in."""
    # Not by Path, which would make "./python" a name to look for in PATH.
    return os.path.expanduser(serve.python or sys.executable)  # noqa: PTH111


def model_folder(model: ModelConfig) -> Path | None:
    """Return where a model's weights lie, absolute; None: in the cache of the hub."""
    return None if model.folder is None else Path(model.folder).expanduser().absolute()


def offline_snapshot(
    model: ModelConfig, serve: ServeConfig, environ: Mapping[str, str]
) -> Path | None:
    """Return where a model's weights lie in the hub's cache, where its server may not go online.

    Args:
        model: What to serve.
        serve: How; its `environment` comes on top.
        environ: This process's environment; HF_HUB_OFFLINE forbids the network.

    Returns:
        The absolute path of a complete snapshot; None where the weights are in a folder, or the
        server may fetch them.

    Raises:
        MissingInputError: They are not there, or not all of them.
    """
    seen = {**environ, **serve.environment}
    if model.folder is not None or not hub_is_offline(seen):
        return None
    if (problem := cache_problem(model.id, model.revision, seen)) is not None:
        named = model.id if model.revision is None else f"{model.id} @ {model.revision}"
        raise MissingInputError(
            f"{named}: {problem}, and HF_HUB_OFFLINE is set; fetch it on a machine with internet "
            "by: ragmend prefetch CONFIG"
        )
    return cached_snapshot(model.id, model.revision, seen)


def server_environment(
    model: ModelConfig, serve: ServeConfig, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a model's server.

    Of this process's own it gets all but secrets (other than those that `serve.inherit` names, and
    the hub's token where weights come from the hub) and the numbers of threads, which are ragmend's
    choice for itself.

    Args:
        model: What to serve.
        serve: How; its `environment` comes on top.
        environ: This process's environment.

    Raises:
        ConfigError: The key that it is to ask for is not set.
    """
    inherited = {
        name: value
        for name, value in environ.items()
        if name not in THREAD_VARIABLES
        and (
            not is_secret(name)
            or name in serve.inherit
            or (name in HUB_TOKENS and model.folder is None)
        )
    }
    return inherited | own_variables(model, serve, environ)


def own_variables(
    model: ModelConfig, serve: ServeConfig, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of `server_environment` that it does not merely inherit."""
    own = {"VLLM_NO_USAGE_STATS": "1"}
    if model.folder is not None:
        own["HF_HUB_OFFLINE"] = "1"
    if model.api_key_env is not None:
        own[API_KEY] = _key(model.api_key_env, environ)
    return own | serve.environment


def check_servable(model: ModelConfig, serve: ServeConfig) -> None:
    """Find out before anything is started what cannot work.

    Raises:
        MissingInputError: There is no such interpreter, or no folder with the weights.
    """
    if shutil.which(server_python(serve)) is None:
        raise MissingInputError(
            f"serve.python: {serve.python}: no such program; it names the interpreter of the "
            "environment that vllm is installed in"
        )
    folder = model_folder(model)
    if folder is not None and not (folder / "config.json").is_file():
        raise MissingInputError(
            f"{folder}: no model there (no config.json), the weights of {model.id} are to be"
        )


def _key(variable: str, environ: Mapping[str, str]) -> str:
    if not (key := environ.get(variable, "").strip()):
        raise ConfigError(
            f"api_key_env: the environment variable {variable} is not set; it holds the key "
            "that the server will ask for"
        )
    return key


def _adapter_flags(adapter: Adapter) -> list[str]:
    rank = next((most for most in MAX_LORA_RANKS if most >= adapter.rank), None)
    if rank is None:
        raise ConfigError(
            f"{adapter.folder}: an adapter of rank {adapter.rank} cannot be served, vLLM takes "
            f"{MAX_LORA_RANKS[-1]} at most"
        )
    # As JSON, for in "name=path" no path may have a comma.
    module = json.dumps({"name": adapter.name, "path": str(adapter.folder.absolute())})
    return ["--enable-lora", "--max-lora-rank", str(rank), "--lora-modules", module]
