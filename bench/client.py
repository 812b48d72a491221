"""What the client costs: beside a bare loop over the same connections, and at more of them.

Against a bare loop: passes of both with the same prompts stand in pairs, side by side, and every
second pair begins with the other one, so that what else the machine does meets both alike and
neither gains by coming second. The figure is the median of the pairs' ratios; the lowest and the
highest are told beside it, and lie far apart where the machine is busy. The bare loop posts the
very bodies that ragmend posts, through the same `AsyncOpenAI` object, drops the answers unread,
and records nothing: what ragmend does beyond that is its overhead.
"""

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import httpx2

from bench.fault_server import MODEL, run_fault_server
from bench.figures import Figure, not_measured
from bench.verifying import Asked, Pass, VerifyPath, first_claims, open_verify_path
from bench.vllm_server import UNSET, VllmServer, find_vllm_server

LATENCY_S = 0.2
CONCURRENCY = 8
N_PAIRS = 4
N_CLAIMS = 200  # of each pass: five seconds
CONCURRENCIES = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 12  # requests of each that may be in flight: fewer, and starting up would show


class Pair(NamedTuple):
    """The same questions asked by ragmend and by a bare loop."""

    ours: Pass
    bare: Pass

    @property
    def share(self) -> float:
        """Ragmend's requests a second as a share of the bare loop's."""
        return self.ours.requests_a_second / self.bare.requests_a_second


def client_figures() -> Iterator[Figure]:
    """Measure the client against a bare loop, and how its rate grows with concurrency."""
    server = asyncio.run(find_vllm_server())
    with run_fault_server(LATENCY_S) as url:
        pairs = asyncio.run(measure_pairs(url, MODEL))
        rates = asyncio.run(measure_rates(url, MODEL))
    shares = [100 * pair.share for pair in pairs]
    what = f"client: requests a second as a share of a bare loop's, {CONCURRENCY} at once"
    what += f" ({len(pairs)} pairs: {min(shares):.0f} to {max(shares):.0f} %)"
    yield Figure(what, median(shares), "%", "at least", 95)
    for name, passes in (
        ("CPU a request", [pair.ours for pair in pairs]),
        ("CPU a request of the bare loop", [pair.bare for pair in pairs]),
    ):
        yield Figure(f"client: {name}", median(each.cpu_ms_a_request for each in passes), "ms CPU")
    for concurrency, rate in zip(CONCURRENCIES, rates, strict=True):
        what = f"client: {concurrency} at once, of {concurrency / LATENCY_S:.0f} possible"
        yield Figure(what, rate, "requests/s")
    if server is None:
        yield not_measured("vLLM: requests a second, 1 to 64 at once", UNSET)
    else:
        yield from _vllm_figures(server)


def _vllm_figures(server: VllmServer) -> Iterator[Figure]:
    rates = asyncio.run(measure_rates(server.url, server.model))
    for concurrency, rate in zip(CONCURRENCIES, rates, strict=True):
        yield Figure(f"vLLM, {server.model}: {concurrency} at once", rate, "requests/s")


async def measure_pairs(url: str, model: str) -> list[Pair]:
    """Ask everything twice, with and without ragmend; see the module."""
    pairs: list[Pair] = []
    async with open_verify_path(url, model, concurrency=CONCURRENCY) as path:
        await path.verify(first_claims("warm-up", 2 * CONCURRENCY))
        for number in range(N_PAIRS):
            work = first_claims(f"pair-{number}", N_CLAIMS)
            if number % 2:
                bare = await ask_bare(path, work)
                pairs.append(Pair(await path.verify(work), bare))
            else:
                ours = await path.verify(work)
                pairs.append(Pair(ours, await ask_bare(path, work)))
    return pairs


async def ask_bare(path: VerifyPath, work: Sequence[Asked]) -> Pass:
    """Post what ragmend posts, so many at once, and look at no answer."""
    server = path.server
    http, labels = server.asker.server.http, server.dialect.labels
    if labels is None:
        raise TypeError("the verifier's server scores labels")
    bodies = [
        server.dialect.to_score(prompt, labels) for asked in work for prompt in asked.prompts()
    ]
    waiting = iter(bodies)

    async def ask_next() -> None:
        for body in waiting:
            await http.post(server.dialect.path, cast_to=httpx2.Response, body=body)

    wall, cpu = perf_counter(), process_time()
    await asyncio.gather(*(ask_next() for _ in range(CONCURRENCY)))
    return Pass(len(bodies), perf_counter() - wall, process_time() - cpu)


async def measure_rates(url: str, model: str) -> list[float]:
    """Return the requests a second at each of `CONCURRENCIES`."""
    rates = []
    nonce = secrets.token_hex(4)  # a server that has been running knows no prompt of these
    for concurrency in CONCURRENCIES:
        work = first_claims(f"{nonce}-{concurrency}", ROUNDS * concurrency)
        async with open_verify_path(url, model, concurrency=concurrency) as path:
            rates.append((await path.verify(work)).requests_a_second)
    return rates
