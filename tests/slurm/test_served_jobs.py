"""Roles that are served: a doctor before their arrays, and one server a task."""

import re
import sys
from pathlib import Path

import pytest
from experiments import call, job_ids, logs_of, write_cluster

pytestmark = pytest.mark.slurm

FAKE = Path(__file__).parents[1] / "cli/serving/fake"
CONFIG = """
name = "served"
[data]
kind = "demo"
[detector]
kind = "lexical"
[verifier]
backend = "openai"
[verifier.model]
id = "some/Tiny"
served_name = "tiny"
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
[serve]
stop_s = 1.0
environment = {{ PYTHONPATH = "{fake}", FAKE_VLLM = "{mode}" }}
"""


def submit(slurm, folder, mode):
    config = folder / "served.toml"
    config.write_text(CONFIG.format(fake=FAKE, mode=mode))
    cluster = write_cluster(
        folder / "here.toml",
        shards=2,
        top="offline = false",
        served='time = "00:05:00"',
    )
    with cluster.open("a") as file:
        file.write(f'[environments.serve]\npython = "{sys.executable}"\n')
    run = folder / "run"
    call(slurm, "submit", config, "--cluster", cluster, "--out", run)
    return config, run


def test_each_task_has_a_server_of_its_own_and_the_verdicts_are_those_of_a_local_run(
    slurm, tmp_path
):
    config, run = submit(slurm, tmp_path, "")
    ids = job_ids(run)
    assert list(ids)[4:7] == ["doctor-verifier", "verify", "verify-fold"]
    slurm.wait_for([ids["verify-fold"]], timeout=240)
    logs = logs_of(run)
    (doctor,) = [text for name, text in logs.items() if "doctor" in name]
    assert "verifier answers" in doctor
    own = [text for name, text in logs.items() if name.startswith("served-verify_")]
    assert len(own) == 2
    urls = {re.search(r"ready at (\S+)", text).group(1) for text in own}
    assert len(urls) == 2
    call(slurm, "cancel", run)
    local = tmp_path / "local"
    for stage in ("detect", "select", "split", "match", "verify"):
        call(slurm, "run", config, "--out", local, "--only", stage, "--serve")
    name = "05-verdicts/verdicts.jsonl"
    assert (run / name).read_bytes() == (local / name).read_bytes()


def test_a_server_that_does_not_start_is_found_by_the_doctor_before_the_array(slurm, tmp_path):
    _, run = submit(slurm, tmp_path, "early")
    ids = job_ids(run)
    slurm.wait_for(ids.values(), timeout=240)
    assert slurm.job(ids["doctor-verifier"]).state == "FAILED"
    assert slurm.job(ids["verify"]).state == "CANCELLED"
    assert not (run / "05-verdicts").exists()
    said = call(slurm, "status", run).stdout
    assert re.search(r"doctor-verifier has failed .*checks failed", said), said
    assert (run / "partial/report.html").is_file()
