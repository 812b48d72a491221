"""How much of the prompts a server's prefix cache held is told, and never needed."""

import asyncio
import random

import pytest
from fault_server import Traits

from ragmend.llm.protocol import Sampling
from ragmend.llm.server.metrics import PrefixCache, read_prefix_cache

LONG = Sampling(max_tokens=60)
OF_VLLM = """\
# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="a{b}"} 2117.0
vllm:prefix_cache_queries_total{engine="1",model_name="a{b}"} 1.5e+03
vllm:prefix_cache_queries_created{engine="0",model_name="a{b}"} 1.7960598581106565e+09
vllm:prefix_cache_hits_total{engine="0",model_name="a{b}"} 1000.0
vllm:external_prefix_cache_hits_total{engine="0",model_name="a{b}"} 7.0
"""


def test_the_counters_of_all_engines_are_summed():
    assert read_prefix_cache(OF_VLLM) == PrefixCache(queries=3617, hits=1000)


@pytest.mark.parametrize("metrics", ["", "<html>", OF_VLLM.replace("hits_total", "hits")])
def test_without_both_counters_nothing_is_known(metrics):
    assert read_prefix_cache(metrics) is None


def test_requests_ordered_by_source_find_more_in_the_cache_than_shuffled_ones(serve, ask, prompt):
    ordered = [prompt(n, source=n // 6) for n in range(60)]
    shuffled = random.Random(0).sample(ordered, k=len(ordered))

    async def ask_in(model, order):
        for asked in order:
            await model.generate(asked, LONG)
        await model.usage.refresh()
        return model.usage

    shares = []
    for order in (ordered, shuffled):
        with serve(traits=Traits(n_cached_sources=2)) as server:
            usage = ask(server, lambda model, order=order: ask_in(model, order), forms=())
        shares.append(usage.prefix_cache.hits / usage.prefix_cache.queries)
        assert usage.describe() == f"prefix cache {100 * shares[-1]:.0f} %"
    assert shares[0] > 0.6 > 0.3 > shares[1]


def test_metrics_are_looked_at_while_questions_are_asked_and_at_the_end(
    serve, ask, prompt, monkeypatch
):
    async def ask_two(model):
        await model.generate(prompt(1), LONG)
        while model.usage.prefix_cache is None:
            await asyncio.sleep(0.001)
        seen = model.usage.prefix_cache
        await model.generate(prompt(2), LONG)
        return model, seen

    monkeypatch.setattr("ragmend.llm.server.metrics.POLL_S", 0.0)
    with serve() as server:
        model, seen = ask(server, ask_two, forms=())
    assert seen.queries > 0
    assert model.usage.prefix_cache.queries > seen.queries


def test_a_server_without_metrics_is_asked_all_the_same(serve, ask, prompt):
    async def usage(model):
        await model.generate(prompt(), LONG)
        return model.usage

    with serve(traits=Traits(has_metrics=False)) as server:
        found = ask(server, usage)
    assert found.prefix_cache is None
    assert found.describe() == ""
    assert found.n_requests == 1


def test_the_seconds_end_where_the_server_is_closed(serve, ask, prompt, monkeypatch):
    async def usage(model):
        await model.generate(prompt(), LONG)
        return model.usage

    with serve() as server:
        found = ask(server, usage, forms=())
    seconds = found.as_json()["seconds"]
    assert found.started <= found.ended
    monkeypatch.setattr("ragmend.llm.server.metrics.time.monotonic", lambda: found.ended + 1000.0)
    assert found.as_json()["seconds"] == seconds


def test_counters_that_fell_tell_nothing(serve, ask, prompt):
    async def usage(model):
        await model.generate(prompt(), LONG)
        server.cache.queries = server.cache.hits = 0  # as of one started anew
        await model.usage.refresh()
        assert model.usage.prefix_cache is None

    with serve() as server:
        ask(server, usage)
