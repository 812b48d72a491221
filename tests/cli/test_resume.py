"""A killed run goes on where it was and ends byte for byte the same."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

N_KILLS = int(os.environ.get("RAGMEND_KILLS", "5"))
SMALL = ("--limit", "4", "--set", "analysis.n_resamples=200")


@pytest.mark.slow
def test_kills_at_random_moments_leave_the_result_byte_identical(tmp_path, ragmend, files_of, note):
    whole, run = tmp_path / "whole", tmp_path / "run"
    ragmend("run", "demo", "--out", tmp_path / "first", *SMALL)  # the libraries are read once
    started = time.monotonic()
    assert ragmend("run", "demo", "--out", whole, *SMALL).returncode == 0
    whole_s = time.monotonic() - started
    moments = random.Random(0)  # a fixed draw of fractions of the time that a whole run takes
    n_killed = n_locked = n_whole = 0
    while n_killed < N_KILLS:
        if start_and_kill(run, after_s=moments.uniform(0.05, 1.0) * whole_s):
            n_killed += 1
            n_locked += clear_lock(run, ragmend)
        else:  # it ended before the kill, which does not count; the next run begins anew
            n_whole += 1
            assert files_of(run) == files_of(whole)
            shutil.rmtree(run)
    done = ragmend("run", "demo", "--out", run, *SMALL)
    assert done.returncode == 0, done.stderr
    assert files_of(run) == files_of(whole)
    assert n_locked > 0
    note(
        f"{n_killed} kills in {time.monotonic() - started:.0f} s: {n_locked} left a lock, "
        f"{n_whole + 1} runs ended and are byte-identical to an undisturbed one"
    )


def clear_lock(run, ragmend):
    """Clear the lock that a kill left, if it did; a run before that is refused and says so."""
    if not (run / "run.lock").exists():
        return False
    refused = ragmend("run", "demo", "--out", run, *SMALL)
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1
    assert f"`ragmend unlock {run}` clears it" in refused.stderr
    cleared = ragmend("unlock", run)
    assert cleared.returncode == 0, cleared.stderr
    return True


def start_and_kill(run, *, after_s):
    """Start a run, SIGKILL it after a while; return whether it was still alive."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmend", "run", "demo", "--out", str(run), *SMALL],
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
