"""`status` and `cancel`: what is said of jobs, and whose jobs are ended."""

import subprocess
import sys

import pytest
from submissions import JOBS, alive, finish


@pytest.mark.parametrize("content", [b"", b'{"schema_version": 1,', b"[]", b"\xff\n"])
def test_a_half_written_record_of_a_submission_is_named(submit, fake, tmp_path, content, command):
    assert submit().returncode == 0
    finish(fake)
    (tmp_path / "run/jobs/submission-001/submission.json").write_bytes(content)
    n_jobs = len(fake.jobs)
    for done in (submit("--resume"), command("cancel", tmp_path / "run")):
        assert done.returncode == 1
        assert "submission.json" in done.stderr
        assert "delete that folder" in done.stderr
    assert "damaged" in command("status", tmp_path / "run").stdout
    assert len(fake.jobs) == n_jobs


def test_a_torn_row_of_a_job_is_found_by_its_mark(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    rows = tmp_path / "run/jobs/submission-001/jobs.jsonl"
    rows.write_bytes(rows.read_bytes()[:-10])
    assert command("cancel", tmp_path / "run").returncode == 0
    assert not alive(fake)


def test_cancel_ends_the_jobs_of_this_run_only(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    assert submit(run=tmp_path / "other").returncode == 0
    jobs = fake.jobs
    jobs.append(dict(jobs[0], id="999", comment="(null)"))
    fake.change(jobs=jobs)
    done = command("cancel", tmp_path / "run")
    assert done.returncode == 0
    assert f"of {len(JOBS)} jobs" in done.stdout
    assert len(alive(fake)) == len(JOBS) + 1
    assert "nothing to cancel" in command("cancel", tmp_path / "run").stdout


def test_status_names_why_jobs_wait_and_what_helps(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    reasons = {
        "detect": "ReqNodeNotAvail, UnavailableNodes:node1",
        "select": "DependencyNeverSatisfied",
        "verify": "QOSMaxGRESPerUser",
    }
    fake.set_jobs(lambda job: job.update(reason=reasons.get(job["name"], job["reason"])))
    said = command("status", tmp_path / "run").stdout
    assert "needs nodes that are down, drained or reserved" in said
    assert "can never start: a job that it needs has failed" in said
    assert f"ragmend submit {tmp_path / 'run'} --resume" in said
    lines = {line.split()[0]: line for line in said.splitlines() if line.startswith("  ")}
    # What waits for what can never start, or for its end, can never start either.
    assert "can never start" in lines["split"]
    assert "can never start" in lines["judge-fold"]
    assert "can never start" in lines["report"]


def test_what_can_never_start_is_cancelled_by_resume(submit, fake, tmp_path):
    assert submit().returncode == 0

    def fail(job):
        job.update(state="FAILED") if job["name"] == "detect" else None
        job.update(reason="DependencyNeverSatisfied") if job["name"] == "select" else None
        job.update(state="COMPLETED") if job["name"] == "report" else None

    fake.set_jobs(fail)
    first = len(fake.jobs)
    done = submit("--resume")
    assert done.returncode == 0, done.stderr
    assert "could never start and is cancelled" in done.stderr
    assert len(alive(fake)) == len(JOBS)
    assert all(job["state"] == "CANCELLED" for job in fake.jobs[1 : first - 1])


def test_how_a_forgotten_job_ended_is_not_made_up(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    fake.set_jobs(lambda job: job.update(state="COMPLETED", forgotten=True))
    said = command("status", tmp_path / "run").stdout
    assert said.count("SLURM has forgotten how") == len(JOBS)


def test_jobs_of_another_cluster_are_left_alone(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    start = tmp_path / "run/jobs/submission-001/submission.json"
    start.write_text(start.read_text().replace('"slurm": "fake"', '"slurm": "elsewhere"'))
    for done in (command("cancel", tmp_path / "run"), submit("--resume")):
        assert done.returncode == 1
        assert "was submitted on the cluster 'elsewhere', this is 'fake'" in done.stderr
    assert len(alive(fake)) == len(JOBS)
    assert "was submitted on the cluster 'elsewhere'" in command("status", tmp_path / "run").stdout


def test_an_interrupted_submission_takes_no_job_back_that_only_has_its_number(
    fake, cluster, tmp_path, command
):
    run = tmp_path / "run"
    fake.change(kill_at=5)
    words = ["submit", "demo", "--cluster", str(cluster), "--out", str(run)]
    subprocess.run([sys.executable, "-m", "ragmend", *words], check=False)
    fake.change(kill_at=None)
    # Its numbers have been given to somebody else's jobs.
    fake.set_jobs(lambda job: job.update(comment="(null)", title="mine"))
    assert command("unlock", run).returncode == 0
    assert command("cancel", run).returncode == 0
    assert len(alive(fake)) == 5


def test_a_site_that_rewrites_comments_hides_no_job(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    fake.set_jobs(lambda job: job.update(comment="accounting:1"))
    assert "are in the queue" in submit("--resume").stderr
    assert command("cancel", tmp_path / "run").returncode == 0
    assert not alive(fake)


def test_rows_that_are_no_text_are_named(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    rows = tmp_path / "run/jobs/submission-001/jobs.jsonl"
    rows.write_bytes(b"\xff\n" + rows.read_bytes())
    done = command("cancel", tmp_path / "run")
    assert done.returncode == 1
    assert "jobs.jsonl:1: not UTF-8" in done.stderr


def test_status_says_why_a_task_failed_and_what_never_began(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    ids = {job["name"]: job["id"] for job in fake.jobs}

    def fail(job):
        if job["name"] == "verify":
            job.update(state="FAILED", reason="NonZeroExitCode", exit="1:0")
        elif JOBS.index(job["name"]) < JOBS.index("verify"):
            job.update(state="COMPLETED", reason="None")
        else:
            job.update(state="CANCELLED", reason="DependencyNeverSatisfied")

    fake.set_jobs(fail)
    logs = tmp_path / "run/jobs/logs"
    said_by_script = "2026-12-01 02:00:00 job 1: ended with 1 after 2 s\n"
    (logs / f"demo-verify_{ids['verify']}_0.out").write_text(
        f"Traceback (most recent call last):\nValueError: no number\n{said_by_script}"
    )
    # Another job's log ends alike.
    (logs / f"demo-x_5_{ids['verify']}.out").write_text("not this one\n")
    run = tmp_path / "run"
    lines = command("status", run).stdout.splitlines()
    (line,) = [each for each in lines if each.startswith("  verify task")]
    assert "verify task 0, 1, 2 has failed (exit code 1:0): ValueError: no number (" in line
    assert sum("never began: a job that it needs has failed" in each for each in lines) == 11
    assert [each for each in lines if each.startswith("  helps")] == [
        f"  helps: its log says why; put that right, then ragmend submit {run} --resume"
    ]
