"""How much of its prompts a server's prefix cache holds, as ragmend sends them and shuffled.

As ragmend sends them: sorted by source, the claims of an answer together, few sources live, all by
the shipped settings. Shuffled: each claim for itself, in any order, any number of sources live.
What is attainable is what the same requests find in a cache that forgets nothing: each source is
computed once. A real server whose cache holds all sources at once finds the same in any order, so
its size is told; `--num-gpu-blocks-override` makes it small.
"""

import asyncio
import random
import secrets
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.fault_server import MODEL, run_fault_server
from bench.figures import Figure, not_measured
from bench.verifying import Asked, Pass, claims_to_ask, one_by_one, open_verify_path
from bench.vllm_server import UNSET, VllmServer, find_vllm_server
from ragmend.errors import ServerError

LATENCY_S = 0.02
CACHES = (2, 3)  # sources that they hold
ANY_NUMBER = 1_000_000
N_TURNS = 2  # of the real server: sorted, shuffled, shuffled, sorted


class Found(NamedTuple):
    """How a pass went, and the share of its prompt tokens that the cache held."""

    went: Pass
    hit_rate: float


def prefix_cache_figures() -> Iterator[Figure]:
    """Measure hit rates on the fault server's model of a cache, and on a real server's."""
    server = asyncio.run(find_vllm_server())
    attainable = _on_fault_server(ANY_NUMBER, claims_to_ask("sent"))
    yield Figure("prefix cache that forgets nothing: hits", 100 * attainable, "% of tokens")
    for n_sources in CACHES:
        held = _on_fault_server(n_sources, claims_to_ask("sent")) / attainable
        shuffled = _on_fault_server(n_sources, shuffle(claims_to_ask("sent")), live=ANY_NUMBER)
        what = f"prefix cache of {n_sources} sources: hits as ragmend sends, of the attainable"
        yield Figure(what, 100 * held, "%", "at least", 80)
        what = f"prefix cache of {n_sources} sources: hits shuffled, of the attainable"
        yield Figure(what, 100 * shuffled / attainable, "%")
    if server is None:
        yield not_measured("vLLM: prefix-cache hits and requests a second, sorted, shuffled", UNSET)
    else:
        yield from _vllm_figures(server)


def _vllm_figures(server: VllmServer) -> Iterator[Figure]:
    turns = asyncio.run(_sorted_and_shuffled(server))
    what = f"vLLM, {server.model}: tokens that its cache holds"
    if server.n_cached_tokens is None:
        yield not_measured(what, "it does not tell")
    else:
        yield Figure(what, server.n_cached_tokens, "tokens")
    for name, own in turns.items():
        rate = sum(found.hit_rate for found in own) / len(own)
        yield Figure(f"vLLM, {server.model}: prefix-cache hits {name}", 100 * rate, "% of tokens")
    seconds = {name: sum(found.went.seconds for found in own) for name, own in turns.items()}
    what = f"vLLM, {server.model}: requests a second, as ragmend sends to shuffled"
    yield Figure(what, seconds["shuffled"] / seconds["as ragmend sends"], "x")


async def _sorted_and_shuffled(server: VllmServer) -> dict[str, list[Found]]:
    turns: dict[str, list[Found]] = {"as ragmend sends": [], "shuffled": []}
    nonce = secrets.token_hex(4)  # a server that has been running knows no prompt of these
    for number in range(N_TURNS):
        for name in list(turns)[:: -1 if number % 2 else 1]:
            work = claims_to_ask(f"{nonce}-{number}-{name}")
            if name == "shuffled":
                turns[name].append(await find_hits(server, shuffle(work), live=ANY_NUMBER))
            else:
                turns[name].append(await find_hits(server, work))
    return turns


def _on_fault_server(n_sources: int, work: Sequence[Asked], *, live: int | None = None) -> float:
    with run_fault_server(LATENCY_S, n_cached_sources=n_sources) as url:
        return asyncio.run(find_hits(VllmServer(url, MODEL), work, live=live)).hit_rate


async def find_hits(server: VllmServer, work: Sequence[Asked], *, live: int | None = None) -> Found:
    """Ask all claims.

    Args:
        server: Nobody else may ask it meanwhile.
        work: What is asked, in this order.
        live: Sources that are asked about at once; None: as the shipped settings have it.

    Raises:
        ServerError: The server does not tell what its cache holds.
    """
    settings = {} if live is None else {"live_sources": live}
    async with open_verify_path(server.url, server.model, **settings) as path:
        went = await path.verify(work)
    cache = path.server.usage.prefix_cache
    if cache is None or not cache.queries:
        raise ServerError(f"{server.url} does not tell what its prefix cache holds")
    return Found(went, cache.hits / cache.queries)


def shuffle(work: Sequence[Asked]) -> list[Asked]:
    """Return each claim for itself, in an order that has nothing to do with sources."""
    claims = one_by_one(work)
    random.Random(7).shuffle(claims)  # noqa: S311 - an order, no secret
    return claims
