"""The demonstration as jobs of a real SLURM: what comes out, and in what surroundings jobs run."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from experiments import call, job_ids, logs_of, results_of, write_cluster

pytestmark = pytest.mark.slurm

STAGES = (
    "detect", "select", "split", "match", "verify", "propose", "assemble", "judge", "analyze",
    "report",
)  # fmt: skip
PASSWORD = "only-in-the-environment"


@pytest.fixture(scope="module")
def submitted(slurm, tmp_path_factory):
    """A run that was submitted, whose configuration and cluster file a user then edited."""
    folder = tmp_path_factory.mktemp("submitted")
    config = folder / "mine.toml"
    run = folder / "run"
    shipped = Path(__file__).parents[2] / "configs/demo.toml"
    config.write_text(shipped.read_text())
    cluster = write_cluster(folder / "here.toml")
    done = call(
        slurm, "submit", config, "--cluster", cluster, "--out", run,
        env={"SBATCH_EXPORT": "NONE", "SBATCH_TIMELIMIT": "1", "RAGMEND_TEST_KEY": PASSWORD},
    )  # fmt: skip
    config.write_text("this is no configuration any more")
    (run / "config.toml").write_text("nor is this")
    cluster.write_text("nor is this a cluster file")
    slurm.wait_for(job_ids(run).values(), timeout=240)
    return run, done.stdout


def test_the_results_are_byte_identical_to_those_of_a_local_run(submitted, local):
    assert results_of(submitted[0]) == local  # the configuration in it among them


def test_every_job_ended_well_in_one_life(slurm, submitted):
    for piece, job in job_ids(submitted[0]).items():
        for task in slurm.tasks(job).values():
            assert (piece, task.state, task.exit_code, task.restarts) == (
                piece, "COMPLETED", "0:0", 0,
            )  # fmt: skip


def test_status_says_that_everything_is_complete(slurm, submitted):
    said = call(slurm, "status", submitted[0]).stdout
    for stage in STAGES:
        assert re.search(rf"^{stage} +complete", said, re.MULTILINE), said
    assert "4 of 4: has ended well" in said
    assert "helps:" not in said


def test_there_is_a_log_of_every_task_that_says_where_it_ran(slurm, submitted):
    run, _ = submitted
    logs = logs_of(run)
    expected = {
        f"demo-{piece}_{task}.out"
        for piece, job in job_ids(run).items()
        for task in slurm.tasks(job)
    }
    assert set(logs) == expected
    for name, text in logs.items():
        assert re.search(r"life 1 of 20, GPUs none", text), name
        assert re.search(r"ended with 0 after \d+ s", text), name


def test_what_was_printed_names_every_job(submitted):
    run, printed = submitted
    for piece, job in job_ids(run).items():
        assert re.search(rf"^{piece} .* {job} ", printed, re.MULTILINE), printed


def test_no_secret_of_the_environment_is_written_anywhere(submitted):
    for path in submitted[0].rglob("*"):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path


def test_a_complete_run_is_not_submitted_again(slurm, submitted, tmp_path):
    cluster = write_cluster(tmp_path / "here.toml")
    done = call(slurm, "submit", submitted[0], "--cluster", cluster, "--resume")
    assert "nothing is missing" in done.stdout
    assert slurm.queue() == []


@pytest.mark.slow
@pytest.mark.parametrize("export", ['"NONE"', '["RAGMEND_TEST_KEY"]'])
def test_jobs_need_nothing_of_the_environment_that_submits(slurm, tmp_path, local, export):
    cluster = write_cluster(tmp_path / "here.toml", shards=1, top=f"export = {export}")
    run = tmp_path / "run"
    env = {"RAGMEND_TEST_KEY": "x", "PYTHONPATH": "/nowhere", "OMP_NUM_THREADS": "7"}
    call(slurm, "submit", "demo", "--cluster", cluster, "--out", run, env=env)
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local


def test_a_task_sees_the_gpus_that_slurm_gave_it_and_no_others(slurm, tmp_path):
    cluster = write_cluster(
        tmp_path / "here.toml",
        shards=2,
        partition="gpu",
        embedded='gpus = 2\ngpu_type = "a100"',
    )
    run = tmp_path / "run"
    call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    ids = job_ids(run)
    slurm.wait_for([ids["verify"]], timeout=120)
    call(slurm, "cancel", run)
    said = {name: text for name, text in logs_of(run).items() if name.startswith("demo-verify_")}
    assert len(said) == 2
    for text in said.values():
        assert re.search(r"GPUs \d,\d\n", text), text


def test_manifests_name_the_job_and_the_commit(submitted):
    run, _ = submitted
    ids = job_ids(run)
    manifest = json.loads((run / "02-population/manifest.json").read_text())
    assert manifest["slurm_job_id"] == ids["select"]
    start = json.loads((run / "jobs/submission-001/submission.json").read_text())
    assert manifest["git_commit"] == start["git_commit"]


def test_jobs_run_the_code_that_was_copied_when_they_were_submitted(submitted):
    run, _ = submitted
    text = (run / "jobs/submission-001/scripts/select.sbatch").read_text()
    (line,) = [each for each in text.splitlines() if each.startswith("export PYTHONPATH=")]
    code = line.partition("=")[2]
    words = [sys.executable, "-P", "-c", "import ragmend; print(ragmend.__file__)"]
    said = subprocess.run(
        words, env={"PYTHONPATH": code}, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == f"{run}/jobs/submission-001/code/ragmend/__init__.py"
