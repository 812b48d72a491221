"""`submit` and `--resume`: all jobs or none, and none that nobody knows of."""

import json
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from submissions import JOBS, alive, finish

from ragmend.cli.submitting.earlier import user_name
from ragmend.errors import OutputError
from ragmend.slurm.commands import Slurm, expand_places
from ragmend.slurm.submission import append_job

pytestmark = pytest.mark.slow


def test_all_jobs_are_submitted_printed_and_let_go(submit, fake, tmp_path):
    done = submit()
    assert done.returncode == 0, done.stderr
    assert [job["name"] for job in fake.jobs] == JOBS
    assert not [job for job in fake.jobs if job["held"]]
    # Until all were there, those that wait for nothing were held.
    sent = [call for call in fake.calls if call[0] == "sbatch" and "--parsable" in call]
    assert [call[-1].rpartition("/")[2] for call in sent if "--hold" in call] == ["detect.sbatch"]
    ids = {job["name"]: job["id"] for job in fake.jobs}
    by_name = {job["name"]: job["dependency"] for job in fake.jobs}
    assert by_name["select"] == f"afterok:{ids['detect']}"
    assert by_name["verify-edits"] == f"aftercorr:{ids['rewrite']}"
    rows = done.stdout.splitlines()
    assert rows[0].split()[:3] == ["job", "stage", "tasks"]
    assert [row.split()[0] for row in rows[1 : 1 + len(JOBS)]] == JOBS
    assert all(ids[row.split()[0]] in row for row in rows[1 : 1 + len(JOBS)])
    records = (tmp_path / "run/jobs/submission-001/jobs.jsonl").read_text().splitlines()
    assert [json.loads(line)["job_id"] for line in records] == [ids[name] for name in JOBS]


def test_every_script_is_tried_before_the_first_is_submitted(submit, fake):
    fake.change(refuse_check=["judge-fold"])
    done = submit()
    assert done.returncode == 1
    assert "nothing was submitted: judge-fold.sbatch" in done.stderr
    assert "Invalid qos specification" in done.stderr
    assert fake.jobs == []


def test_a_job_that_is_refused_takes_those_before_it_back(submit, fake, tmp_path):
    fake.change(refuse=["assemble"])
    done = submit()
    assert done.returncode == 1
    assert "no more jobs for you" in done.stderr
    assert len(fake.jobs) == JOBS.index("assemble")
    assert not alive(fake)
    outcome = json.loads((tmp_path / "run/jobs/submission-001/outcome.json").read_text())
    assert outcome["outcome"] == "withdrawn"
    fake.change(refuse=[])
    assert submit().returncode == 0
    assert len(alive(fake)) == len(JOBS)
    assert (tmp_path / "run/jobs/submission-002/jobs.jsonl").exists()


@pytest.mark.parametrize("number", [1, 5, len(JOBS)])
def test_a_kill_while_submitting_leaves_nothing_that_is_not_taken_back(
    fake, cluster, tmp_path, submit, command, number
):
    run = tmp_path / "run"
    fake.change(kill_at=number)
    words = ["submit", "demo", "--cluster", str(cluster), "--out", str(run)]
    killed = subprocess.run([sys.executable, "-m", "ragmend", *words], check=False)
    assert killed.returncode == -9
    assert len(alive(fake)) == number
    # The last one's id was never read: it is found by its mark.
    path = run / "jobs/submission-001/jobs.jsonl"
    assert (path.read_text().count("\n") if path.exists() else 0) == number - 1
    # What waits for nothing is held, so nothing has begun.
    assert all(job["held"] or job["dependency"] for job in fake.jobs)
    fake.change(kill_at=None)
    assert "interrupted" in command("status", run).stdout
    assert command("unlock", run).returncode == 0
    done = submit()
    assert done.returncode == 0, done.stderr
    assert len(alive(fake)) == len(JOBS)
    assert [job["state"] for job in fake.jobs[:number]] == ["CANCELLED"] * number


def test_a_run_whose_jobs_are_in_the_queue_is_not_submitted_again(submit, fake):
    assert submit().returncode == 0
    for words in ((), ("--resume",)):
        done = submit(*words)
        assert done.returncode == 1
        assert "are in the queue" in done.stderr
    assert len(fake.jobs) == len(JOBS)


def test_a_run_that_was_submitted_is_submitted_again_by_resume_only(submit, fake):
    assert "was never submitted" in submit("--resume").stderr
    assert submit().returncode == 0
    finish(fake, "FAILED")
    assert "was submitted before: --resume" in submit().stderr
    assert submit("--resume").returncode == 0
    assert len(alive(fake)) == len(JOBS)


def test_nothing_is_submitted_where_nothing_is_missing(submit, fake, finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    done = submit()
    assert done.returncode == 0, done.stderr
    assert "nothing is missing" in done.stdout
    assert fake.jobs == []


def test_what_is_missing_of_a_local_run_is_submitted_only(submit, fake, finished, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    for name in ("07-arms", "08-judgements", "09-analysis"):
        shutil.rmtree(run / name)
    assert submit().returncode == 0
    assert [job["name"] for job in fake.jobs] == JOBS[JOBS.index("assemble") :]
    assert fake.jobs[0]["dependency"] is None


def test_a_damaged_stage_is_named_and_nothing_submitted(submit, fake, finished, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    manifest = run / "05-verdicts/manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:100])
    done = submit()
    assert done.returncode == 1
    assert "05-verdicts/manifest.json" in done.stderr
    assert fake.jobs == []


def test_without_slurm_the_dry_run_writes_scripts_and_commands(
    command, cluster, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if shutil.which("sbatch"):
        monkeypatch.setenv("PATH", str(tmp_path))
    run = tmp_path / "run"
    words = ("submit", "demo", "--cluster", cluster, "--out", run)
    refused = command(*words)
    assert refused.returncode == 1
    assert "it is not on a SLURM cluster" in refused.stderr
    assert not run.exists()
    done = command(*words, "--dry-run")
    assert done.returncode == 0, done.stderr
    folder = run / "jobs/dry-run"
    assert sorted(path.stem for path in (folder / "scripts").glob("*.sbatch")) == sorted(JOBS)
    commands = (folder / "commands.sh").read_text()
    assert 'job_02_select=$(sbatch --parsable --dependency="afterok:${job_01_detect}"' in commands
    assert (folder / "code/ragmend/cli/main.py").is_file()


def test_the_commands_of_a_dry_run_submit_the_same_jobs(submit, fake, tmp_path):
    assert submit("--dry-run").returncode == 0
    assert fake.jobs == []
    commands = tmp_path / "run/jobs/dry-run/commands.sh"
    subprocess.run(["/bin/bash", str(commands)], check=True, capture_output=True)
    by_hand = [(job["name"], job["n"], job["dependency"]) for job in fake.jobs]
    fake.change(jobs=[])
    assert submit().returncode == 0
    assert [(job["name"], job["n"], job["dependency"]) for job in fake.jobs] == by_hand


@pytest.mark.parametrize(("change", "word"), [
    ("colour = 1\n", "unknown key 'colour'"),
    ("[resources.gpu]\ntime = '1'\n", "unknown key 'resources.gpu'"),
    ("[resources.cpu]\npartitoin = 'x'\n", "did you mean 'resources.cpu.partition'?"),
    ("[resources.cpu]\ntime = '90m'\n", "write '01:30:00'"),
])  # fmt: skip
def test_a_bad_cluster_file_is_named_with_what_was_meant(submit, cluster, fake, change, word):
    text = cluster.read_text()
    is_top = not change.startswith("[")
    cluster.write_text(change + text if is_top else text + change)
    done = submit()
    assert done.returncode == 1
    assert word in done.stderr
    assert fake.jobs == []


def test_a_run_folder_that_cannot_be_written_is_named(submit, fake, tmp_path):
    (tmp_path / "file").write_text("")
    done = submit(run=tmp_path / "file/run")
    assert done.returncode == 1
    assert str(tmp_path / "file") in done.stderr
    assert fake.jobs == []


def test_a_disk_that_is_full_is_named_and_nothing_submitted(submit, fake, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path / "run/jobs/x"))

    monkeypatch.setattr(shutil, "copytree", full)
    done = submit()
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert fake.jobs == []


@pytest.mark.parametrize(("text", "places"), [
    ("3", [3]), ("0-3", [0, 1, 2, 3]), ("0-3%2", [0, 1, 2, 3]), ("1,4-5", [1, 4, 5]),
    ("0-6:3", [0, 3, 6]), ("N/A", [None]), ("", [None]),
])  # fmt: skip
def test_places_of_an_array_are_read_as_slurm_writes_them(text, places):
    assert expand_places(text) == places


ODD = ["gpt 4", "a/b", "$(touch hit-by-a-name)", "x --partition=gpu", "a.b", "a_b", "ü"]


def test_judges_with_odd_names_are_jobs_with_plain_ones(command, cluster, fake, tmp_path):
    config = tmp_path / "odd.toml"
    panel = "".join(
        f'[[judges.panel]]\nname = {json.dumps(name)}\nbackend = "openai"\n'
        f'[judges.panel.model]\nid = "some/model"\n'
        for name in ODD
    )
    servers = "".join(f"{json.dumps(name)} = 'http://127.0.0.1:1/v1'\n" for name in ODD)
    config.write_text(
        f'name = "odd"\n[data]\nkind = "demo"\n[detector]\nkind = "lexical"\n'
        f'[judges]\nprimary = "ü"\n{panel}[servers]\n{servers}'
    )
    run = tmp_path / "run"
    words = ("submit", config, "--cluster", cluster, "--out", run)
    done = command(*words)
    assert done.returncode == 0, done.stderr
    names = [job["name"] for job in fake.jobs if job["name"].startswith("judge-")]
    assert len(set(names)) == len(ODD) + 1  # and the fold
    assert all(re.fullmatch(r"judge-[A-Za-z0-9_-]+", name) for name in names)
    scripts = run / "jobs/submission-001/scripts"
    for name, judge in zip(names, ODD, strict=False):
        text = (scripts / f"{name}.sbatch").read_text()
        (line,) = [each for each in text.splitlines() if each.startswith("role=")]
        assert shlex.split(line) == [f"role={judge}"]
    assert command(*words, "--dry-run").returncode == 0
    fake.change(jobs=[])
    commands = run / "jobs/dry-run/commands.sh"
    subprocess.run(["/bin/bash", str(commands)], check=True, capture_output=True)
    assert len(fake.jobs) == len({job["name"] for job in fake.jobs})
    assert not [*tmp_path.rglob("hit-by-a-name"), *Path.cwd().glob("hit-by-a-name")]


def test_submitting_from_within_a_job_passes_nothing_of_it_on(submit, fake, monkeypatch):
    for name in ("SLURM_ARRAY_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_JOB_ID", "SBATCH_ACCOUNT"):
        monkeypatch.setenv(name, "7")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
    environ = Slurm.find().environ
    assert [name for name in environ if name.startswith(("SLURM_", "SBATCH_"))] == ["SLURM_CONF"]


def test_a_submission_is_never_written_over_where_an_older_one_was_deleted(submit, fake, tmp_path):
    for words in ((), ("--resume",)):
        assert submit(*words).returncode == 0
        finish(fake, "FAILED")
    jobs = tmp_path / "run/jobs"
    before = (jobs / "submission-002/submission.json").read_bytes()
    shutil.rmtree(jobs / "submission-001")
    assert submit("--resume").returncode == 0
    assert (jobs / "submission-002/submission.json").read_bytes() == before
    assert (jobs / "submission-003/jobs.jsonl").exists()


def test_a_job_that_cannot_be_written_down_takes_all_back(submit, fake, monkeypatch):
    n_written = []

    def write_some(paths, job):
        n_written.append(job)
        if len(n_written) > 4:
            raise OutputError(f"{paths.submitted}: cannot be written (No space left on device)")
        append_job(paths, job)

    monkeypatch.setattr("ragmend.cli.submitting.submit.append_job", write_some)
    done = submit()
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert len(fake.jobs) == 5
    assert not alive(fake)


def test_a_dry_run_changes_nothing_of_a_run(submit, fake, finished, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    (run / "report.html").unlink()
    (run / "09-analysis/report-manifest.json").unlink()
    before = (run / "config.toml").read_bytes()
    assert submit("--dry-run", "--set", "client.concurrency=3").returncode == 0
    assert (run / "config.toml").read_bytes() == before


def test_a_role_that_the_experiment_has_not_is_said(submit, fake, cluster):
    cluster.write_text(cluster.read_text() + "[roles.verifer]\ncpus = 1\n")
    done = submit()
    assert done.returncode == 0
    assert "roles.verifer is no role of this experiment; is 'verifier' meant?" in done.stderr


@pytest.mark.parametrize(("line", "word"), [
    ('variables = { KEYS = "${HF_TOKEN}" }\n', "would write HF_TOKEN to disk"),
    ('variables = { HF_TOKEN = "x" }\n', "would be written to disk"),
])  # fmt: skip
def test_a_secret_cannot_stand_in_a_cluster_file(submit, fake, cluster, monkeypatch, line, word):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    cluster.write_text(line + cluster.read_text())
    done = submit()
    assert done.returncode == 1
    assert word in done.stderr
    assert "hf_secret" not in done.stderr


@pytest.mark.parametrize("option", ["--arr=0-5", "--depend=x", "--no-req", "--job=x"])
def test_an_option_of_ours_is_refused_also_by_its_beginning(submit, fake, cluster, option):
    text = cluster.read_text().replace("cpus = 1\n", f'cpus = 1\nextra = ["{option}"]\n')
    cluster.write_text(text)
    assert "is set by ragmend itself" in submit().stderr


def test_who_submits_is_not_what_the_environment_says(monkeypatch):
    monkeypatch.setenv("LOGNAME", "somebody")
    monkeypatch.setenv("USER", "somebody")
    assert user_name() == pwd.getpwuid(os.getuid()).pw_name


def test_resume_takes_the_cluster_file_of_the_last_submission(submit, fake, tmp_path, command):
    assert submit().returncode == 0
    finish(fake, "FAILED")
    done = command("submit", tmp_path / "run", "--resume")
    assert done.returncode == 0, done.stderr
    assert len(alive(fake)) == len(JOBS)
    assert command("submit", "demo", "--out", tmp_path / "new").returncode == 2
