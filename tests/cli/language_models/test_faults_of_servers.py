"""Whatever a server does wrong, a run ends with the records of one without, or says why not."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from fault_server import FINAL_GENERATED, FINAL_SCORED, TRANSIENT, FaultServer, Plan
from served_run import UP_TO, Served

from ragmend.errors import FaultError, ServerError
from ragmend.io import read_records
from ragmend.manifest import read_manifest
from ragmend.paths import RunPaths
from ragmend.records import Candidate, Fault, Judgement, Rewrite, Verdict

N_FAULTS = int(os.environ.get("RAGMEND_SERVER_FAULTS", "300"))
KINDS = {*FINAL_SCORED, *FINAL_GENERATED, *TRANSIENT} - {"timeout"}
QUICK = tuple(kind for kind in TRANSIENT if kind != "timeout")  # a time-out takes its time


def faults_of(root):
    return [f for path in sorted(root.rglob("faults.jsonl")) for f in read_records(path, Fault)]


def test_transient_faults_change_no_record(undisturbed, served, note):
    """30 % of all tries fail in some way or other; the run takes longer, and that is all."""
    plan = Plan(seed=7, transient_rate=0.3, transient=QUICK)
    served.server.inject(plan)
    served.run()
    assert served.decisions() == undisturbed.decisions()
    manifest = read_manifest(served.root / "05-verdicts/manifest.json")
    assert manifest.service["verifier"]["n_retries"] > 0
    assert faults_of(served.root) == []


def test_time_outs_are_tried_again_and_change_no_record(undisturbed, served):
    plan = Plan(seed=3, transient_rate=0.02, transient=("timeout",), longest_streak=1, hang_s=2.0)
    served.server.inject(plan)
    served.run("client.timeout_s=0.5", last="verify")
    name = "verdicts.jsonl"
    assert served.decisions()[name] == undisturbed.decisions()[name]
    assert served.server.injected["timeout"] > 0


def check_no_fault_is_a_decision(root, undisturbed):
    """Check that what is decided is what a run without faults decided, record by record."""
    paths, calm = RunPaths(root), RunPaths(undisturbed.root)
    for path, without, model in (
        (paths.verdicts, calm.verdicts, Verdict),
        (paths.rewrites, calm.rewrites, Rewrite),
        (paths.candidates, calm.candidates, Candidate),
        (paths.judgements, calm.judgements, Judgement),
    ):
        decided = {str(record) for record in read_records(path, model)}
        assert decided <= {str(record) for record in read_records(without, model)}
        assert decided


@pytest.mark.slow
def test_injected_faults_of_servers_are_never_decisions(undisturbed, calm, tmp_path, note):
    """Runs with transient and final faults: refused, accepted with a reason, or asked again."""
    started, met, seed = time.monotonic(), Counter(), 0
    while met.total() < N_FAULTS or (N_FAULTS >= 1000 and not met.keys() >= KINDS):
        seed += 1
        plan = Plan(
            seed=seed,
            transient_rate=0.3 * (seed % 2),
            transient=QUICK,
            final_rate=0.04,
            final_scored=FINAL_SCORED,
            final_generated=FINAL_GENERATED,
        )
        calm.injected.clear()
        again, accepted = (Served(calm, tmp_path / f"{name}-{seed}") for name in ("again", "acc"))
        for stage in UP_TO:
            calm.inject(plan)
            try:
                again.run(last=stage)
            except FaultError as error:
                assert f"stage {stage}" in str(error)  # noqa: PT017
                assert not (again.root / UP_TO[stage]).exists()
                assert faults_of(again.root)
            calm.faults_off()
            again.run(last=stage)
        assert again.decisions() == undisturbed.decisions()
        calm.inject(plan)
        accepted.run(accept_faults="injected")
        calm.faults_off()
        check_no_fault_is_a_decision(accepted.root, undisturbed)
        met += calm.injected
    n_faults, kinds = met.total(), len(met)
    seconds = time.monotonic() - started
    note(f"{n_faults:,} faults of servers, {kinds} kinds, in {seconds:.0f} s: none was a decision")


@pytest.mark.slow
@pytest.mark.parametrize("dies_by", ["closing", "health"])
@pytest.mark.parametrize("stage", UP_TO)
def test_a_server_that_dies_stops_the_stage_and_a_resumed_run_is_identical(
    undisturbed, tmp_path, stage, dies_by
):
    with FaultServer() as server:
        run = Served(server, tmp_path / "run")
        before = list(UP_TO)[: list(UP_TO).index(stage)]
        if before:
            run.run(last=before[-1])
        server.inject(Plan(die_after=25, dies_by=dies_by))
        with pytest.raises(ServerError, match="run the same command again"):
            run.run(last=stage)
        assert not (run.root / UP_TO[stage]).exists()
        assert faults_of(run.root) == []
    with FaultServer() as other:
        n_before = sum(other.n_requests.values())
        changed = [f"servers.{role}={other.url}" for role in ("verifier", "rewriter", "one", "two")]
        run.run(*changed)
        assert run.decisions() == undisturbed.decisions()
        assert sum(other.n_requests.values()) > n_before


def test_jitter_of_log_probabilities_is_counted_where_it_could_decide(calm, served):
    calm.inject(Plan(jitter=0.02))
    served.run("verifier.unstable_within=0.05")
    paths = RunPaths(served.root)
    near = [v for v in read_records(paths.verdicts, Verdict) if abs(v.p_support - 0.5) <= 0.05]
    assert near
    served.open("verifier.unstable_within=0.05").run()
    assert f"{len(near)} of " in (served.root / "report.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_interrupt_loses_no_answer(undisturbed, tmp_path, seed):
    """Ctrl-C while requests are in flight: one line, and what was answered is not asked again."""
    with FaultServer(Plan(seed=seed, latency_s=0.05)) as server:
        run = Served(server, tmp_path / "run")
        command = [sys.executable, "-m", "ragmend", "run", str(run.config), "--out", str(run.root)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while server.n_requests["/chat/completions"] < 40 + 60 * seed:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 128 + signal.SIGINT
        assert said.splitlines()[-1].startswith("ragmend: interrupted; what is done is kept")
        assert "Traceback" not in said
        shards = sorted(run.root.rglob("shard-*.jsonl"))
        n_recorded = sum(path.read_bytes().count(b"\n") for path in shards)
        assert n_recorded
        for path in shards:
            for line in path.read_text("utf-8").splitlines():
                json.loads(line)
        server.inject(Plan())
        run.run()
    assert run.decisions() == undisturbed.decisions()
