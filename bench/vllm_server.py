"""The real server that benchmarks ask beside the fault server, where one is named.

`RAGMEND_VLLM_URL` is its URL, as in http://127.0.0.1:8000/v1; its first model is asked.
"""

import os
import re
from typing import NamedTuple

from openai import APIError
from pydantic import ValidationError

from ragmend.errors import ServerError
from ragmend.llm.server.answers import ModelList
from ragmend.llm.server.connection import connect
from ragmend.sections.models import ClientConfig, ModelConfig

VARIABLE = "RAGMEND_VLLM_URL"
UNSET = f"{VARIABLE} names no server"
_CACHE = re.compile(r'^vllm:cache_config_info\{.*"\} 1\.0$', re.MULTILINE)
_BLOCKS = re.compile(r'\b(?:block_size|num_gpu_blocks)="(\d+)"')


class VllmServer(NamedTuple):
    """A server, and its model.

    Attributes:
        url: As configured.
        model: As the server calls it.
        n_cached_tokens: What its prefix cache holds; None where it does not tell.
    """

    url: str
    model: str
    n_cached_tokens: int | None = None


async def find_vllm_server() -> VllmServer | None:
    """Return the server that the environment names, or None where it names none.

    Raises:
        ServerError: It does not answer, or has no model.
    """
    url = os.environ.get(VARIABLE, "").strip()
    if not url:
        return None
    async with connect(url, ModelConfig(id="any"), ClientConfig(), os.environ) as connection:
        try:
            models = ModelList.model_validate_json(await connection.get("models")).data
            metrics = (await connection.get("/metrics")).decode()
        except (APIError, ValidationError) as error:
            raise ServerError(f"{url} ({VARIABLE}) is no vLLM server: {error}") from error
    if not models:
        raise ServerError(f"{url} ({VARIABLE}) has no model")
    return VllmServer(url, models[0].id, read_cache_size(metrics))


def read_cache_size(metrics: str) -> int | None:
    """Return how many tokens vLLM's cache holds: blocks times the size of one."""
    found = _CACHE.search(metrics)
    sizes = [int(size) for size in _BLOCKS.findall(found[0])] if found else []
    return sizes[0] * sizes[1] if len(sizes) == len(("block_size", "num_gpu_blocks")) else None
