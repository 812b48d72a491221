"""A part that is killed goes on where it was, and the fold is as if nothing had happened."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from fault_server import Plan

pytestmark = pytest.mark.slow  # runs of their own, from the beginning

N_KILLS = int(os.environ.get("RAGMEND_KILLS", "5"))
SLOW = Plan(latency_s=0.02)
CODES = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGUSR1: 75}
STOPPED = (
    "ragmend: asked to stop (SIGUSR1); what is done is kept, run the same command again to go on"
)


def end(process, number):
    process.send_signal(number)
    stderr = process.communicate()[1]
    assert process.returncode in (CODES[number], 0), stderr
    return process.returncode == CODES[number]


@pytest.mark.slow
def test_kills_at_random_moments_leave_the_fold_byte_identical(
    served, server, decided, command, tmp_path, note
):
    server.inject(SLOW)
    moments, started = random.Random(3), time.monotonic()
    n_killed = n_runs = 0
    while n_killed < N_KILLS:
        run, n_runs = served.copy(tmp_path / f"run-{n_runs}"), n_runs + 1
        for stage in ("verify", "propose"):
            for role, shard in [(role, k) for role in run.roles(stage) for k in (1, 0)]:
                n_killed += answer_and_be_killed(run, (stage, role, shard, 2), moments, command)
            run.run(only=stage, fold=True)
        decided(run, "verify", "propose")
    took = f"{time.monotonic() - started:.0f} s"
    note(f"{n_killed} kills of parts of {n_runs} runs in {took}: all byte-identical in the end")


def answer_and_be_killed(run, part, moments, command):
    """Answer a part in as many lives as it takes; return how many were cut short."""
    n_killed = 0
    while not run.marker_of(*part).is_file():
        process = run.start(*run.words(*part))
        number = moments.choice(list(CODES))
        try:
            process.wait(timeout=moments.uniform(0.3, 2.0))
        except subprocess.TimeoutExpired:
            n_killed += end(process, number)
        else:
            stderr = process.communicate()[1]
            assert process.returncode == 0, stderr
        if process.returncode == CODES[signal.SIGKILL]:
            assert command("unlock", run.root).returncode == 0
        else:
            assert list(run.root.rglob("*.lock")) == []
    return n_killed


@pytest.mark.parametrize("number", CODES)
def test_a_killed_part_keeps_what_it_has_and_is_refused_no_second_life(
    served, server, decided, command, number
):
    server.inject(SLOW)
    words = served.words("verify", "verifier", 0, 1)
    process = served.start(*words)
    journal = served.folder("verify") / "shards/shard-0000.jsonl"
    while not (journal.is_file() and journal.read_bytes().count(b"\n") >= 2):
        assert process.poll() is None
        time.sleep(0.01)
    assert end(process, number)
    assert served.kinds("verify") == ["partial"]
    n_recorded = served.states("verify")[0].n_recorded
    server.faults_off()
    if number == signal.SIGKILL:
        assert "which no longer runs" in command(*words).stderr
        assert command("unlock", served.root).returncode == 0
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert f"resuming: {n_recorded} units are recorded" in done.stderr
    lines = journal.read_bytes().splitlines()
    assert len({line.split(b'"')[3] for line in lines}) == len(lines)  # none twice
    served.run(only="verify", fold=True)
    decided(served, "verify")


def wait_until_signals_are_handled(process):
    while True:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGUSR1 - 1) & 1:
            return
        time.sleep(0.001)


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3, 1.5])
def test_a_usr1_at_any_moment_of_a_run_says_to_try_again(in_parts, after_s):
    process = in_parts.start("run", "demo", "--out", in_parts.root)
    wait_until_signals_are_handled(process)
    time.sleep(after_s)
    process.send_signal(signal.SIGUSR1)
    stderr = process.communicate()[1]
    assert process.returncode == 75, stderr
    assert [line for line in stderr.splitlines() if line.startswith("ragmend: ")] == [STOPPED]
    assert "Traceback" not in stderr
    assert [p.name for p in in_parts.root.rglob("*") if p.suffix in (".lock", ".partial")] == []


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_a_parent_that_wants_signals_ignored_is_heeded(in_parts, number):
    before = signal.signal(number, signal.SIG_IGN)
    try:
        process = in_parts.start(*in_parts.words("verify", "verifier", 0, 1))
    finally:
        signal.signal(number, before)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 0
