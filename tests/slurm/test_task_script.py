"""task.sh under a real SLURM: every way in which a task ends, and what comes after it."""

import json
import os
import signal
from pathlib import Path

import pytest

pytestmark = pytest.mark.slurm

ROOT = Path(__file__).parents[2]
STAND_IN = Path(__file__).parent / "stand_in.py"
UNITS = 40  # a tenth of a second each


class Tasks:
    """A job, or an array, whose tasks each answer UNITS into a journal of their own."""

    def __init__(
        self, cluster, folder: Path, *options: str, lives: int = 20, work: str = ""
    ) -> None:
        self.cluster = cluster
        self.run = folder / "run"
        self.logs = folder / "logs"
        self.scratch = folder / "scratch"
        for each in (self.run, self.logs, self.scratch):
            each.mkdir(exist_ok=True)
        script = folder / "job.sbatch"
        script.write_text(
            "#!/bin/bash\n#SBATCH --job-name=parts\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
            "#SBATCH --signal=B:USR1@20\n"
            f"#SBATCH --output={self.logs}/%A_%a.out\n"
            f"export TMPDIR={self.scratch}\n"
            f"python={STAND_IN}\nrun={self.run}\nlives={lives}\n"
            f'source "{ROOT}/slurm/task.sh"\n'
            f'live "$python" {work or f"work {UNITS}"} "$run/part-${{SLURM_ARRAY_TASK_ID:-x}}"\n'
        )
        self.id = cluster.sbatch("--chdir", folder, *options, script)

    def state(self, task: str = "") -> str:
        return self.cluster.job(self.id + task).state

    def calls(self) -> list[dict]:
        calls = self.run / "calls.jsonl"
        return (
            [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []
        )

    def begun(self, task: str = "x") -> list[dict]:
        """The starts of one task's command."""
        return [call for call in self.calls() if call["words"][-1].endswith(f"part-{task}")]

    def wait_to_begin(self, task: str = "x", life: int = 1) -> None:
        self.cluster.wait_for(lambda: len(self.begun(task)) >= life, timeout=60)

    def units(self, task: str = "x") -> list[int]:
        journal = self.run / f"part-{task}"
        return [int(line) for line in journal.read_text().splitlines()] if journal.exists() else []

    def log(self, task: str = "") -> str:
        (log,) = self.logs.glob(f"{self.id}{task or '_*'}.out")
        return log.read_text()


@pytest.fixture
def tasks(slurm, tmp_path):
    """Submit tasks to the cluster without accounting; whatever is left of them ends here."""
    submitted = []

    def submit(*options: str, cluster=slurm, **more) -> Tasks:
        submitted.append(Tasks(cluster, tmp_path, *options, **more))
        return submitted[-1]

    yield submit
    for each in submitted:
        each.cluster.run("scancel", each.id)


def dependent(cluster, folder: Path, dependency: str) -> str:
    return cluster.sbatch(
        "--chdir", folder, "-o", "/dev/null", f"--dependency={dependency}",
        "--kill-on-invalid-dep=yes", "--wrap", "true",
    )  # fmt: skip


def test_a_task_that_ends_well_sees_the_gpus_that_slurm_gave_it(slurm, tasks):
    job = tasks("--gres=gpu:a100:2", "--export=NONE", "-c", "2", work="work 2")
    slurm.wait_for(job.id)
    assert job.state() == "COMPLETED"
    seen = job.calls()[0]["env"]
    assert seen["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert seen["SRUN_CPUS_PER_TASK"] == "2"
    assert "SLURM_EXPORT_ENV" not in seen
    first, last = job.log().splitlines()
    assert "life 1 of 20, GPUs 0,1" in first
    assert "ended with 0 after" in last


def test_a_task_that_fails_is_failed_with_its_own_code(slurm, tasks, tmp_path):
    job = tasks("-a", "0-1", work="fail 3")
    after = dependent(slurm, tmp_path, f"afterok:{job.id}")
    slurm.wait_for([job.id, after])
    for task in ("_0", "_1"):
        ended = slurm.job(job.id + task)
        assert (ended.state, ended.exit_code, ended.restarts) == ("FAILED", "3:0", 0)
        assert "ended with 3 after" in job.log(task)
    assert slurm.job(after).state == "CANCELLED"
    assert slurm.job(after).reason == "DependencyNeverSatisfied"


def test_usr1_requeues_one_task_and_dependents_wait_for_its_last_life(slurm, tasks, tmp_path):
    job = tasks("-a", "0-2")
    after = dependent(slurm, tmp_path, f"afterok:{job.id}")
    # The last task, for it alone has the id of the array.
    job.wait_to_begin("2")
    last = slurm.job(f"{job.id}_2")
    assert last.facts["JobId"] == job.id
    slurm.run("scancel", "--batch", "--signal=USR1", f"{job.id}_2")
    slurm.wait_for(lambda: slurm.job(f"{job.id}_2").restarts == 1)
    assert not slurm.job(after).has_ended
    slurm.wait_for([job.id, after])
    restarts = {task: each.restarts for task, each in slurm.tasks(job.id).items()}
    assert restarts == {f"{job.id}_0": 0, f"{job.id}_1": 0, f"{job.id}_2": 1}
    assert slurm.job(after).state == "COMPLETED"
    for task in "012":
        assert slurm.job(f"{job.id}_{task}").state == "COMPLETED"
        assert job.units(task) == list(range(UNITS))
    (unlock,) = (call for call in job.calls() if call["words"][0] == "unlock")
    assert unlock["words"] == ["unlock", str(job.run), "--slurm-job", job.id]
    assert unlock["env"]["SLURM_RESTART_COUNT"] == "1"
    assert "life 2 of 20" in job.log("_2")


def test_scancel_saves_and_does_not_come_back(slurm, tasks, tmp_path):
    job = tasks("-a", "0-1")
    after = dependent(slurm, tmp_path, f"afterany:{job.id}")
    for task in "01":
        job.wait_to_begin(task)
    slurm.run("scancel", f"{job.id}_1")
    slurm.wait_for([job.id, after])
    cancelled = slurm.job(f"{job.id}_1")
    assert (cancelled.state, cancelled.restarts) == ("CANCELLED", 0)
    assert 0 < len(job.units("1")) < UNITS
    assert list(job.scratch.iterdir()) == []
    assert len(job.begun("1")) == 1
    assert job.units("0") == list(range(UNITS))
    assert slurm.job(after).state == "COMPLETED"


def test_a_task_whose_lives_are_used_up_fails(slurm, tasks):
    job = tasks(lives=1)
    job.wait_to_begin()
    slurm.run("scancel", "--batch", "--signal=USR1", job.id)
    slurm.wait_for(job.id)
    ended = slurm.job(job.id)
    assert (ended.state, ended.exit_code, ended.restarts) == ("FAILED", "1:0", 0)
    assert "its 1 lives are used up" in job.log()


def test_a_cluster_that_refuses_to_requeue_is_named_in_the_log(slurm, tasks):
    job = tasks("--no-requeue")
    job.wait_to_begin()
    slurm.run("scancel", "--batch", "--signal=USR1", job.id)
    slurm.wait_for(job.id)
    ended = slurm.job(job.id)
    assert (ended.state, ended.exit_code) == ("FAILED", "75:0")
    assert "Requested operation is presently disabled" in job.log()
    assert "`ragmend submit --resume` goes on" in job.log()


def test_preemption_by_requeue_brings_a_task_back(slurm, tasks, tmp_path):
    job = tasks("-p", "preempt", "--exclusive", "-w", "node1")
    job.wait_to_begin()
    slurm.sbatch("-p", "gpu", "--exclusive", "-w", "node1", "-o", "/dev/null", "--wrap", "true",
                 cwd=tmp_path)  # fmt: skip
    slurm.wait_for(job.id, timeout=90)
    ended = slurm.job(job.id)
    assert (ended.state, ended.restarts) == ("COMPLETED", 1)
    assert job.units() == list(range(UNITS))
    assert "DUE TO PREEMPTION" in job.log()


def test_preemption_by_cancel_does_not(slurm, tasks, tmp_path):
    job = tasks("-p", "precancel", "--exclusive", "-w", "node1")
    job.wait_to_begin()
    slurm.sbatch("-p", "gpu", "--exclusive", "-w", "node1", "-o", "/dev/null", "--wrap", "true",
                 cwd=tmp_path)  # fmt: skip
    slurm.wait_for(job.id)
    ended = slurm.job(job.id)
    assert (ended.state, ended.restarts) == ("PREEMPTED", 0)
    assert 0 < len(job.units()) < UNITS


def test_a_command_that_is_killed_fails_the_task(slurm, tasks):
    job = tasks()
    job.wait_to_begin()
    os.kill(job.begun()[0]["pid"], signal.SIGKILL)
    slurm.wait_for(job.id)
    ended = slurm.job(job.id)
    assert (ended.state, ended.exit_code, ended.restarts) == ("FAILED", "137:0", 0)


def test_a_killed_job_script_takes_its_command_along(slurm, tasks):
    job = tasks()
    job.wait_to_begin()
    command = job.begun()[0]["pid"]
    status = Path(f"/proc/{command}/status").read_text()
    os.kill(int(status.split("PPid:")[1].split()[0]), signal.SIGKILL)
    slurm.wait_for(job.id)
    ended = slurm.job(job.id)
    assert (ended.state, ended.reason, ended.exit_code) == ("FAILED", "JobLaunchFailure", "0:9")
    slurm.wait_for(lambda: not is_running(command))


def test_a_node_that_goes_down_gives_its_task_another_life(slurm, tasks):
    job = tasks("-w", "node2")
    job.wait_to_begin()
    slurm.run("scontrol", "update", "NodeName=node2", "State=DOWN", "Reason=test")
    slurm.wait_for(job.id, timeout=90)
    ended = slurm.job(job.id)
    assert (ended.state, ended.restarts) == ("COMPLETED", 1)
    assert job.units() == list(range(UNITS))


def test_accounting_keeps_every_life(slurm_accounting, tasks):
    job = tasks(cluster=slurm_accounting)
    job.wait_to_begin()
    slurm_accounting.run("scancel", "--batch", "--signal=USR1", job.id)
    slurm_accounting.wait_for(job.id)

    def lives() -> list[str]:
        return slurm_accounting.run(
            "sacct", "-n", "-P", "-X", "-D", "-j", job.id, "-o", "State"
        ).splitlines()  # fmt: skip

    # The database is told within seconds, not at once.
    slurm_accounting.wait_for(lambda: lives() == ["REQUEUED", "COMPLETED"])


@pytest.mark.slow
def test_the_time_limit_is_survived(slurm, tasks):
    # One minute, USR1 twenty seconds or more before its end; 70 seconds of work.
    job = tasks("-t", "1", work="work 700")
    slurm.wait_for(job.id, timeout=240)
    ended = slurm.job(job.id)
    assert ended.state == "COMPLETED"
    assert ended.restarts >= 1
    assert job.units() == list(range(700))
    assert "back to the queue" in job.log()


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status
