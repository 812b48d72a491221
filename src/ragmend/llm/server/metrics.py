"""What was asked of a server so far, and how much of it the server's prefix cache held."""

import asyncio
import re
import time
from typing import NamedTuple

from openai import APIError
from pydantic import JsonValue

from ragmend.llm.server.connection import Connection

POLL_S = 5.0
LOOK_S = 5.0
_COUNTER = re.compile(
    r"^vllm:prefix_cache_(queries|hits)_total(?:\{.*\})? ([\d.]+(?:e[+-]?\d+)?)$", re.MULTILINE
)


class PrefixCache(NamedTuple):
    """Prompt tokens that a server looked up in its prefix cache, and found there."""

    queries: int
    hits: int


class Usage:
    """Live counts of one server's answers.

    Attributes:
        n_requests: Answers had of the model.
        n_retries: Tries that failed and were repeated.
        n_prompt_tokens: Of those answers' prompts.
        n_tokens: Generated.
        started: When it began, on the clock of `time.monotonic`.
        ended: When it was closed, on the same clock; None before.
        prefix_cache: Since then, by whomever the server was asked; None where it tells nothing.
    """

    def __init__(self, server: Connection) -> None:
        """Make counts of nothing yet."""
        self.started = self._polled = time.monotonic()
        self.n_requests = self.n_retries = self.n_prompt_tokens = self.n_tokens = 0
        self.ended: float | None = None
        self.prefix_cache: PrefixCache | None = None
        self._server = server
        self._before: PrefixCache | None = None
        self._polling: asyncio.Task[None] | None = None

    def count(self, n_prompt_tokens: int, n_tokens: int) -> None:
        """Count one answer, and look at the metrics in the background now and then."""
        self.n_requests += 1
        self.n_prompt_tokens += n_prompt_tokens
        self.n_tokens += n_tokens
        if self._before is not None and time.monotonic() - self._polled >= POLL_S:
            self._polled = time.monotonic()
            self._polling = asyncio.create_task(self.refresh())

    def describe(self) -> str:
        """Say how much the prefix cache held, for a line of progress; "" where that is unknown."""
        if self.prefix_cache is None or not self.prefix_cache.queries:
            return ""
        share = self.prefix_cache.hits / self.prefix_cache.queries
        return f"prefix cache {100 * share:.0f} %"

    def as_json(self) -> dict[str, JsonValue]:
        """Return the counts, for the manifest; the share of cached tokens where it is known."""
        cache = self.prefix_cache
        ended = time.monotonic() if self.ended is None else self.ended
        return {
            "n_requests": self.n_requests,
            "n_retries": self.n_retries,
            "n_prompt_tokens": self.n_prompt_tokens,
            "n_tokens": self.n_tokens,
            "seconds": round(ended - self.started, 1),
            "prefix_cache_hits": cache.hits / cache.queries if cache and cache.queries else None,
        }

    async def start(self) -> None:
        """Count from here on: what a server was asked while it was opened is left out."""
        self._before = await self._read()
        self.started = self._polled = time.monotonic()
        self.n_requests = self.n_retries = self.n_prompt_tokens = self.n_tokens = 0

    async def refresh(self) -> None:
        """Look at the server's metrics; what cannot be read leaves things as they are."""
        now = await self._read()
        if now is None or self._before is None:
            return
        since = PrefixCache(now.queries - self._before.queries, now.hits - self._before.hits)
        # Counters that fell are those of a server that was started anew.
        self.prefix_cache = since if min(since) >= 0 else None

    async def close(self) -> None:
        """End the counting, and what runs in the background."""
        self.ended = time.monotonic()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait([self._polling])

    async def _read(self) -> PrefixCache | None:
        try:
            async with asyncio.timeout(LOOK_S):
                content = await self._server.get("/metrics")
        except (APIError, TimeoutError):
            return None
        return read_prefix_cache(content.decode(errors="replace"))


def read_prefix_cache(metrics: str) -> PrefixCache | None:
    """Read vLLM's counters, summed over its engines; None where there are none."""
    totals: dict[str, float] = {}
    for name, value in _COUNTER.findall(metrics):
        totals[name] = totals.get(name, 0.0) + float(value)
    if len(totals) < len(PrefixCache._fields):
        return None
    return PrefixCache(int(totals["queries"]), int(totals["hits"]))
