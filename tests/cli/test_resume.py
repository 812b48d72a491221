"""A killed run goes on where it was and ends byte for byte the same."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

N_KILLS = 5


@pytest.mark.slow
def test_kills_at_random_moments_leave_the_result_byte_identical(
    finished, tmp_path, ragmend, files_of
):
    started = time.monotonic()
    assert ragmend("run", "demo", "--out", tmp_path / "whole").returncode == 0
    whole_s = time.monotonic() - started
    moments = random.Random(0)  # a fixed draw of fractions of the time that a whole run takes
    run, n_killed = tmp_path / "run", 0
    while n_killed < N_KILLS:
        if start_and_kill(run, after_s=moments.uniform(0.1, 0.9) * whole_s):
            n_killed += 1
        else:
            shutil.rmtree(run)  # it ended before the kill: that one does not count
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 0, done.stderr
    assert files_of(run) == files_of(finished)


def start_and_kill(run, *, after_s):
    """Start a run, SIGKILL it after a while; return whether it was still alive."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmend", "run", "demo", "--out", str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        process.wait(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


STAGE_FILES = [
    "03-claims/manifest.json",
    "05-verdicts/manifest.json",
    "06-candidates/manifest.json",
    "08-judgements/manifest.json",
    "09-analysis/manifest.json",
]


@pytest.mark.parametrize("manifest", STAGE_FILES)
def test_a_stage_killed_just_before_its_manifest_is_done_again(
    run, finished, manifest, ragmend, files_of
):
    (run / manifest).unlink()
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 0, done.stderr
    assert files_of(run) == files_of(finished)


def test_shards_left_behind_a_finished_stage_are_cleared_away(run, finished, ragmend, files_of):
    shards = run / "05-verdicts/shards"
    shards.mkdir()
    (shards / "shard-0000.jsonl").write_bytes(b"")
    assert ragmend("run", "demo", "--out", run).returncode == 0
    assert files_of(run) == files_of(finished)


def test_a_folder_in_which_only_a_torn_configuration_stands_may_become_a_run(tmp_path, ragmend):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/config.toml.partial").write_bytes(b"nam")
    done = ragmend("run", "demo", "--out", tmp_path / "run", "--only", "detect")
    assert done.returncode == 0, done.stderr


def test_a_damaged_journal_entry_is_named_with_what_to_do(run, ragmend):
    folder = run / "08-judgements"
    (folder / "manifest.json").unlink()
    (folder / "shards").mkdir()
    (folder / "shards" / "shard-0000.jsonl").write_bytes(b"no JSON\n{}\n")
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 1
    assert "shard-0000.jsonl:1: not valid JSON" in done.stderr
    assert "delete that line" in done.stderr


def test_a_torn_journal_line_is_asked_again(run, finished, ragmend, files_of):
    folder = run / "08-judgements"
    (folder / "manifest.json").unlink()
    (folder / "shards").mkdir()
    (folder / "shards" / "shard-0000.jsonl").write_bytes(b'{"key": "abc", "ans')
    done = ragmend("run", "demo", "--out", run)
    assert done.returncode == 0, done.stderr
    assert "torn by a kill" in done.stderr
    assert files_of(run) == files_of(finished)
