"""Parts of roles that have servers: named ones, and one that a part starts and ends itself."""

import json
import os
import random
import signal
import socket
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fault_server import FaultServer, Traits

from ragmend.cli.data import read_population
from ragmend.cli.serving import warden
from ragmend.cli.sharding.parts import share_sources
from ragmend.errors import RunStateError, ServerError
from ragmend.paths import RunPaths

pytestmark = pytest.mark.slow  # runs of their own, from the beginning

FAKE = Path(__file__).parents[1] / "serving/fake"
ASKING = ("verify", "propose", "judge")


@pytest.mark.parametrize("n", [1, 4])
def test_parts_against_a_server_are_byte_identical_to_a_run_in_one_piece(
    served, server, undisturbed, decided, n
):
    for stage in ASKING:
        served.parts(stage, n, shuffle=random.Random(n))
        asked = server.n_requests.total()
        served.run(only=stage, fold=True)
        assert server.n_requests.total() == asked
        if stage == "propose":
            served.run(only="assemble")
    decided(served, *ASKING)
    for stage in ASKING:
        counts = [
            json.loads((root / "manifest.json").read_text())["service"]
            for root in (served.folder(stage), undisturbed.root / served.folder(stage).name)
        ]
        assert counts[0].keys() == counts[1].keys()
        for role in counts[0]:
            assert counts[0][role].keys() == counts[1][role].keys()
            assert counts[0][role]["n_tokens"] == counts[1][role]["n_tokens"]


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def test_a_fold_needs_no_server(served, decided):
    served.parts("verify", 2)
    served.open("servers.verifier=").run(only="verify", fold=True)
    decided(served, "verify")


def test_a_part_without_sources_asks_for_no_server(served):
    dead = f"servers.verifier=http://127.0.0.1:{free_port()}/v1"
    n = 200
    sizes = Counter(r.source_id for r in read_population(RunPaths(served.root)).responses)
    full = set(share_sources(sizes, n).values())
    empty = [shard for shard in range(n) if shard not in full]
    served.part("verify", "verifier", tuple(empty[:3]), n, dead)
    assert served.kinds("verify").count("done") == 3
    with pytest.raises(ServerError, match="no server"):
        served.part("verify", "verifier", min(full), n, dead)
    assert served.kinds("verify").count("done") == 3


def test_another_model_in_another_shard_is_refused_by_the_fold(served):
    with FaultServer(traits=Traits(version="0.33.0")) as other:
        served.part("verify", "verifier", 1, 2, f"servers.verifier={other.url}")
    served.part("verify", "verifier", 0, 2)
    message = "shards 0 and 1 of stage verify .*version was 0.32.0, is 0.33.0"
    with pytest.raises(RunStateError, match=message):
        served.run(only="verify", fold=True)


def test_a_model_that_is_not_the_first_shards_is_refused_at_once(served):
    served.part("verify", "verifier", 0, 2)
    with (
        FaultServer(traits=Traits(version="0.33.0")) as other,
        pytest.raises(RunStateError, match=r"version was 0.32.0, is 0.33.0"),
    ):
        served.part("verify", "verifier", 1, 2, f"servers.verifier={other.url}")
    assert served.kinds("verify") == ["done", "absent"]


def test_edits_of_another_verifier_than_pass_1_had_are_refused(served):
    served.run(only="verify")
    served.part("propose", "rewriter", 0, 1)
    with (
        FaultServer(traits=Traits(version="0.33.0")) as other,
        pytest.raises(RunStateError, match=r"version was 0.32.0, is 0.33.0"),
    ):
        served.part("propose", "verifier", 0, 1, f"servers.verifier={other.url}")
    assert served.kinds("propose") == ["done", "absent"]


def test_a_run_in_one_piece_goes_on_only_with_the_model_of_the_parts(served, decided):
    served.part("verify", "verifier", 1, 2)
    with (
        FaultServer(traits=Traits(version="0.33.0")) as other,
        pytest.raises(RunStateError, match=r"version was 0.32.0, is 0.33.0"),
    ):
        served.open(f"servers.verifier={other.url}").run(only="verify")
    served.run(only="verify")
    decided(served, "verify")


def test_a_run_in_one_piece_that_asks_nobody_knows_whom_the_parts_asked(served, decided):
    served.part("verify", "verifier", (0, 1, 2), 3)
    served.open("servers.verifier=").run(only="verify")
    decided(served, "verify")


@pytest.fixture
def serving(in_parts, tmp_path):
    """A run whose verifier and rewriter are served by the stand-in for vLLM."""
    config = tmp_path / "serving.toml"
    config.write_text(
        f"""
name = "serving"
[data]
kind = "demo"
[detector]
kind = "lexical"
[verifier]
backend = "openai"
min_candidate_mass = 0.0
[verifier.model]
id = "org/model"
[rewriter]
backend = "lexical"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
[serve]
python = "{sys.executable}"
stop_s = 1.0
environment = {{ PYTHONPATH = "{FAKE}", FAKE_VLLM = "engine" }}
"""
    )
    run = type(in_parts)(tmp_path / "serving", config)
    run.before("verify")
    return run


def engine_of(log):
    """Wait until the stand-in says that its engine runs; return the engine's pid."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if log.is_file() and "engine " in (said := log.read_text()):
            return int(said.partition("engine ")[2].split()[0])
        time.sleep(0.02)
    raise AssertionError(log)


def test_parts_start_their_servers_side_by_side_each_with_a_log_of_its_own(serving):
    started = [
        serving.start(*serving.words("verify", "verifier", shard, 2), "--serve") for shard in (0, 1)
    ]
    for process in started:
        stderr = process.communicate()[1]
        assert process.returncode == 0, stderr
    logs = [serving.root / f"servers/verify-000{shard}/verifier.log" for shard in (0, 1)]
    assert not any(warden.lives(engine_of(log)) for log in logs)
    serving.run(only="verify", fold=True)
    manifest = json.loads((serving.folder("verify") / "manifest.json").read_text())
    assert manifest["servers"]["verifier"]["max_model_len"] == 2048


@pytest.mark.parametrize(("number", "code"), [(signal.SIGUSR1, 75), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_parts_server_with_all_of_its_processes(serving, number, code):
    process = serving.start(*serving.words("verify", "verifier", 0, 1), "--serve")
    engine = engine_of(serving.root / "servers/verify-0000/verifier.log")
    assert warden.lives(engine)
    process.send_signal(number)
    stderr = process.communicate()[1]
    assert process.returncode == code, stderr
    assert not warden.lives(engine)
    assert list(serving.root.rglob("*.lock")) == []


def test_a_warden_is_not_ended_by_what_a_scheduler_sends_to_all(serving):
    """A SIGUSR1 to every process of a job must leave somebody who ends the server."""
    process = serving.start(*serving.words("verify", "verifier", 0, 1), "--serve")
    engine = engine_of(serving.root / "servers/verify-0000/verifier.log")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in (*map(int, children), process.pid):
        os.kill(pid, signal.SIGUSR1)
    stderr = process.communicate()[1]
    assert process.returncode == 75, stderr
    assert not warden.lives(engine)
