"""That the benchmarks of the client ask what they say they ask: the server answers at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fault_server import FINAL_SCORED, FaultServer, Plan, Traits

ROOT = Path(__file__).parents[2]


def python(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def printed(code, **variables):
    done = python(code, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


CLAIMS = """
import json
from bench.prefix_cache import shuffle
from bench.verifying import claims_to_ask, first_claims
def prompts(work):
    return [prompt.user for asked in work for prompt in asked.prompts()]
one, other = claims_to_ask("one"), claims_to_ask("other")
some = first_claims("some", 500)
print(json.dumps({
    "one": prompts(one), "other": prompts(other), "some": prompts(some),
    "shuffled": prompts(shuffle(one)),
    "sources": [asked.source.source_id for asked in one],
    "belong": all(c.record_id == a.response.record_id for a in [*one, *some] for c in a.claims),
}))
"""


def test_claims_are_asked_once_each_and_every_edition_is_about_sources_of_its_own():
    found = printed(CLAIMS)
    assert found["belong"]
    assert len(found["one"]) == len(set(found["one"])) > 300
    assert not set(found["one"]) & set(found["other"])
    assert len(found["some"]) == len(set(found["some"])) == 500
    assert sorted(found["shuffled"]) == sorted(found["one"]) != found["shuffled"]
    assert found["sources"] == sorted(found["sources"])


PAIR = """
import asyncio, json
from bench.client import ask_bare
from bench.verifying import first_claims, open_verify_path
async def ask():
    async with open_verify_path({url!r}, "tiny", concurrency=3) as path:
        work = first_claims("test", 20)
        return [(await path.verify(work))[0], (await ask_bare(path, work))[0]]
print(json.dumps(asyncio.run(ask())))
"""


def test_a_bare_loop_posts_the_very_bodies_that_ragmend_posts():
    with FaultServer() as server:
        assert printed(PAIR.format(url=server.url)) == [20, 20]
    bodies = [json.dumps(body) for _, body in server.recent][-40:]
    assert sorted(bodies[:20]) == sorted(bodies[20:])
    assert len(set(bodies)) == 20


@pytest.mark.slow
def test_failed_answers_give_no_figure():
    with FaultServer(Plan(final_rate=0.3, final_scored=FINAL_SCORED)) as server:
        done = python(PAIR.format(url=server.url))
    assert "ServerError" in done.stderr
    assert "answers failed, the first: " in done.stderr


HITS = """
import asyncio, json
from bench.fault_server import MODEL, run_fault_server
from bench.prefix_cache import find_hits, shuffle
from bench.verifying import first_claims
from bench.vllm_server import VllmServer
def rate(n_sources, work, **live):
    with run_fault_server(0.0, n_cached_sources=n_sources) as url:
        return asyncio.run(find_hits(VllmServer(url, MODEL), work, **live)).hit_rate
work = first_claims("test", 120)
print(json.dumps([rate(100, work), rate(2, work), rate(2, shuffle(work), live=100)]))
"""


def test_a_small_cache_holds_what_ragmend_sends_and_not_the_same_shuffled():
    attainable, sent, shuffled = printed(HITS)
    assert 0.5 < attainable < 1
    # What is attainable is reckoned for one request after another; side by side some share more.
    assert shuffled < 0.8 * attainable < sent <= attainable + 0.01


NO_SERVER = """
import asyncio, json
from bench.vllm_server import find_vllm_server
print(json.dumps(asyncio.run(find_vllm_server())))
"""


@pytest.mark.parametrize("url", ["", "  "])
def test_without_its_variable_no_real_server_is_asked(url):
    assert printed(NO_SERVER, RAGMEND_VLLM_URL=url) is None


def test_with_it_the_servers_first_model_is_asked():
    with FaultServer() as server:
        assert printed(NO_SERVER, RAGMEND_VLLM_URL=server.url) == [server.url, "tiny", None]


def test_a_url_of_no_such_server_is_told_and_measures_nothing():
    with FaultServer(traits=Traits(has_metrics=False)) as server:
        command = [sys.executable, "-m", "bench", "--only", "prefix-cache"]
        environment = {**os.environ, "RAGMEND_VLLM_URL": server.url}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"prefix-cache: cannot be measured: {server.url} (RAGMEND_VLLM_URL)" in done.stderr


CACHE_SIZE = """
import json
from bench.vllm_server import read_cache_size
line = 'vllm:cache_config_info{block_size="128",hash_block_size="0",num_gpu_blocks="40"} 1.0'
print(json.dumps([read_cache_size("a 1.0\\n" + line + "\\nb 2.0"), read_cache_size("a 1.0")]))
"""


def test_a_caches_size_is_its_blocks_times_their_size():
    assert printed(CACHE_SIZE) == [5120, None]


NO_LIBRARY = """
from bench import in_process
from bench.figures import as_json
in_process.LIBRARIES = ("json", "no_such_library")
print(as_json(list(in_process.in_process_figures())))
"""


def test_a_missing_library_is_told_in_the_table():
    found = printed(NO_LIBRARY)
    assert {figure["verdict"] for figure in found} == {"not measured"}
    assert {figure["reason"] for figure in found} == {"no_such_library is not installed"}
