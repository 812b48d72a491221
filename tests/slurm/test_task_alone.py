"""What task.sh does with signals and exit codes, with a stand-in for scontrol and no SLURM."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
STAND_IN = Path(__file__).parent / "stand_in.py"


class Task:
    """A job script that sources task.sh, run as SLURM runs one."""

    def __init__(
        self, folder: Path, *words: str | int, lives: int = 20, python: Path = STAND_IN, **env: str
    ) -> None:
        self.run = folder / "run"
        self.run.mkdir(exist_ok=True)
        self.scratch = folder / "scratch"
        self.scratch.mkdir(exist_ok=True)
        self.scontrol_calls = folder / "scontrol.txt"
        scontrol = folder / "bin" / "scontrol"
        scontrol.parent.mkdir(exist_ok=True)
        scontrol.write_text(f'#!/bin/sh\necho "$*" >>{self.scontrol_calls}\nexit ${{REFUSED:-0}}\n')
        scontrol.chmod(0o755)
        script = folder / "job.sh"
        script.write_text(
            f"#!/bin/bash\npython={python}\nrun={self.run}\nlives={lives}\n"
            f'source "{ROOT}/slurm/task.sh"\nlive "$python" {" ".join(map(str, words))}\n'
        )
        self.env = {
            "PATH": f"{scontrol.parent}:{os.environ['PATH']}", "TMPDIR": str(self.scratch),
            "SLURM_JOB_ID": "99", "SLURM_CPUS_PER_TASK": "3", "SLURM_EXPORT_ENV": "NONE",
            "SLURM_JOB_NAME": "parts", **env,
        }  # fmt: skip
        self.process = subprocess.Popen(
            ["bash", script], env=self.env, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def calls(self) -> list[dict]:
        calls = self.run / "calls.jsonl"
        return (
            [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []
        )

    def signal(self, number: int) -> None:
        until = time.monotonic() + 20
        while not any(call["words"][0] != "unlock" for call in self.calls()):
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < until, "the command did not begin"
            time.sleep(0.02)
        self.process.send_signal(number)

    def end(self) -> tuple[int, str]:
        log, _ = self.process.communicate(timeout=30)
        return self.process.returncode, log

    def requeued(self) -> list[str]:
        return self.scontrol_calls.read_text().splitlines() if self.scontrol_calls.exists() else []


@pytest.fixture
def task(tmp_path):
    """Start a task whose journal is RUN/journal."""
    started = []

    def start(action: str, amount: int, *more: str | int, **options) -> Task:
        words = (action, amount, tmp_path / "run" / "journal", *more)
        started.append(Task(tmp_path, *words, **options))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
        each.process.stdout.close()


def test_a_task_that_ends_well_says_where_it_ran_and_leaves_no_scratch(task):
    job = task("work", 1, CUDA_VISIBLE_DEVICES="2,3")
    code, log = job.end()
    assert code == 0
    first, last = log.splitlines()
    assert "job 99: task 0 of parts on " in first
    assert first.endswith("life 1 of 20, GPUs 2,3")
    assert "ended with 0 after " in last
    assert list(job.scratch.iterdir()) == []
    assert job.requeued() == []


def test_the_command_sees_one_thread_its_own_caches_and_its_own_gpus(task):
    job = task("work", 1, CUDA_VISIBLE_DEVICES="GPU-b7c,1")
    assert job.end()[0] == 0
    (call,) = job.calls()
    seen = call["env"]
    assert "SLURM_EXPORT_ENV" not in seen
    assert seen["SRUN_CPUS_PER_TASK"] == "3"
    assert seen["CUDA_VISIBLE_DEVICES"] == "GPU-b7c,1"
    assert {seen[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL")} == {"1"}
    for cache in ("TRITON_CACHE_DIR", "VLLM_CACHE_ROOT", "TORCHINDUCTOR_CACHE_DIR"):
        assert Path(seen[cache]).is_relative_to(job.scratch)


def test_gpus_are_not_named_where_slurm_names_none(task):
    job = task("work", 1)
    assert job.end()[1].splitlines()[0].endswith("GPUs none")
    assert "CUDA_VISIBLE_DEVICES" not in job.calls()[0]["env"]


@pytest.mark.parametrize("code", [1, 2, 3, 137])
def test_the_exit_code_of_a_failure_is_the_jobs(task, code):
    job = task("fail", code)
    ended, log = job.end()
    assert ended == code
    assert f"ended with {code} after" in log
    assert job.requeued() == []


def test_usr1_puts_a_job_back_into_the_queue(task):
    job = task("work", 100)
    job.signal(signal.SIGUSR1)
    code, log = job.end()
    assert code == 75
    assert job.requeued() == ["requeue 99"]
    assert "back to the queue for life 2" in log
    assert list(job.scratch.iterdir()) == []


def test_usr1_puts_back_this_task_of_an_array_alone(task):
    # The last task of an array has the id of the whole array.
    job = task("work", 100, SLURM_ARRAY_JOB_ID="99", SLURM_ARRAY_TASK_ID="4")
    job.signal(signal.SIGUSR1)
    assert job.end()[0] == 75
    assert job.requeued() == ["requeue 99_4"]


def test_a_command_that_dies_of_the_usr1_passed_on_comes_back_too(task):
    job = task("deaf", 100)
    job.signal(signal.SIGUSR1)
    assert job.end()[0] == 75
    assert job.requeued() == ["requeue 99"]


def test_term_saves_and_leaves_the_rest_to_slurm(task):
    job = task("work", 100)
    job.signal(signal.SIGTERM)
    code, log = job.end()
    assert code == 75
    assert job.requeued() == []
    assert "asked to end: saved, not finished" in log
    assert list(job.scratch.iterdir()) == []


def test_term_after_usr1_is_the_last_word(task):
    job = task("work", 100, 0.5)
    job.signal(signal.SIGUSR1)
    time.sleep(0.1)
    job.signal(signal.SIGTERM)
    assert job.end()[0] == 75
    assert job.requeued() == []


def test_a_task_whose_lives_are_used_up_fails_and_says_so(task):
    job = task("work", 100, lives=2, SLURM_RESTART_COUNT="1")
    job.signal(signal.SIGUSR1)
    code, log = job.end()
    assert code == 1
    assert job.requeued() == []
    assert "its 2 lives are used up" in log


def test_a_refused_requeue_says_what_goes_on(task):
    job = task("work", 100, REFUSED="1")
    job.signal(signal.SIGUSR1)
    code, log = job.end()
    assert code == 75
    assert "SLURM refuses to requeue; `ragmend submit --resume` goes on" in log


def test_a_signal_that_comes_before_the_command_keeps_it_from_beginning(task, tmp_path):
    # While the locks of the former life are cleared.
    slow = tmp_path / "slow.sh"
    slow.write_text(
        f'#!/bin/bash\nif [ "$4" = unlock ]; then touch {tmp_path}/begun; sleep 1; fi\n'
        f'exec {STAND_IN} "$@"\n'
    )
    slow.chmod(0o755)
    job = task("work", 100, python=slow, SLURM_RESTART_COUNT="1")
    while not (tmp_path / "begun").exists():
        time.sleep(0.02)
    job.process.send_signal(signal.SIGUSR1)
    assert job.end()[0] == 75
    assert job.requeued() == ["requeue 99"]
    assert [call["words"][0] for call in job.calls()] == ["unlock"]


def test_75_without_a_signal_is_passed_on(task):
    job = task("fail", 75)
    assert job.end()[0] == 75
    assert job.requeued() == []


def test_a_later_life_clears_the_locks_of_its_own_job_first(task):
    job = task("work", 1, SLURM_RESTART_COUNT="3")
    code, log = job.end()
    assert code == 0
    unlock, work = job.calls()
    assert unlock["words"] == ["unlock", str(job.run), "--slurm-job", "99"]
    assert work["words"][0] == "work"
    assert "life 4 of 20" in log


def test_a_first_life_clears_no_lock(task):
    job = task("work", 1)
    assert job.end()[0] == 0
    assert [call["words"][0] for call in job.calls()] == ["work"]


def test_a_scratch_folder_that_is_not_there_is_named(tmp_path, task):
    job = task("work", 1, TMPDIR=str(tmp_path / "of-another-node"))
    code, log = job.end()
    assert code == 1
    assert "of-another-node" in log
    assert "TMPDIR" in log


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_at_whatever_moment_a_signal_comes_the_end_is_0_or_75(tmp_path, number):
    # Signals that come while the command ends: the code must be the command's, not the wait's.
    moments = random.Random(number)
    ends = set()
    for attempt in range(12):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        job = Task(folder, "work", 2, folder / "run" / "journal", 0.05)
        job.signal(0)
        time.sleep(moments.uniform(0.0, 0.12))
        job.process.send_signal(number)
        code, log = job.end()
        finished = len((folder / "run" / "journal").read_text().splitlines()) == 2
        assert code in {0, 75}, log
        if code == 0:
            assert finished
        assert bool(job.requeued()) == (code == 75 and number == signal.SIGUSR1)
        ends.add(code)
    assert 75 in ends
