"""A task that fails for good: what depends on it ends, and what there is is reported."""

import re

import pytest
from experiments import call, job_ids, logs_of, results_of, write_cluster, write_slow_python

pytestmark = pytest.mark.slurm


def broken_python(folder):
    """Write an interpreter whose verifier fails at every answer."""
    return write_slow_python(folder, "no number")


@pytest.mark.parametrize("accounting", [False, True])
def test_what_depends_on_a_failed_task_ends_and_the_report_says_what_is_missing(
    request, tmp_path, accounting, local
):
    slurm = request.getfixturevalue("slurm_accounting" if accounting else "slurm")
    cluster = write_cluster(tmp_path / "here.toml", python=broken_python(tmp_path))
    run = tmp_path / "run"
    call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    ids = job_ids(run)
    slurm.wait_for(ids.values(), timeout=240)
    states = {
        piece: {task.state for task in slurm.tasks(job).values()} for piece, job in ids.items()
    }
    assert states["match"] == {"COMPLETED"}
    assert states["verify"] == {"FAILED"}
    for piece in ("verify-fold", "rewrite", "assemble", "judge-overlap", "analyze"):
        # An array that never began is known as a whole.
        assert slurm.job(ids[piece]).state == "CANCELLED", piece
    assert states["report"] == {"COMPLETED"}
    said = call(slurm, "status", run).stdout
    assert re.search(r"^  verify task 0, 1, 2, 3 has failed \(exit code 1:0\)", said, re.MULTILINE)
    assert re.search(r"^  helps: its log says why", said, re.MULTILINE)
    assert f"ragmend submit {run} --resume" in said
    report = (run / "partial/report.html").read_text()
    assert "INCOMPLETE" in report
    assert "verify" in report
    text = (run / "partial/report.md").read_text()
    assert re.search(r"verify.*has failed", text)
    assert (run / "partial/tables/selection.csv").is_file()
    assert not (run / "report.html").exists()
    # Put right, it is finished as if nothing had been.
    (tmp_path / "delay").write_text("0")
    call(slurm, "submit", run, "--cluster", cluster, "--resume")
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local


def test_a_stuck_graph_is_named_and_freed_where_slurm_does_not_end_it(slurm, tmp_path, local):
    cluster = write_cluster(
        tmp_path / "here.toml",
        shards=1,
        python=broken_python(tmp_path),
        top="kill_on_invalid_dep = false",
    )
    run = tmp_path / "run"
    call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    ids = job_ids(run)
    slurm.wait_for([ids["verify"]], timeout=120)
    slurm.wait_for(
        lambda: slurm.job(ids["verify-fold"]).reason == "DependencyNeverSatisfied", timeout=60
    )
    said = call(slurm, "status", run).stdout
    assert re.search(r"verify-fold .*can never start", said)
    assert re.search(r"judge-fold .*can never start", said)
    (tmp_path / "delay").write_text("0")
    done = call(slurm, "submit", run, "--cluster", cluster, "--resume")
    assert "could never start and is cancelled" in done.stderr
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local


def test_lives_that_are_used_up_are_said_and_resume_goes_on(slurm, tmp_path, local):
    cluster = write_cluster(
        tmp_path / "here.toml", shards=1, python=write_slow_python(tmp_path, 1), top="lives = 1"
    )
    run = tmp_path / "run"
    call(slurm, "submit", "demo", "--cluster", cluster, "--out", run)
    ids = job_ids(run)
    slurm.wait_for(lambda: slurm.job(f"{ids['verify']}_0").state == "RUNNING", timeout=120)
    slurm.wait_for(lambda: (run / "05-verdicts/shards").is_dir(), timeout=60)
    slurm.run("scancel", "--signal=USR1", "--batch", f"{ids['verify']}_0")
    slurm.wait_for(ids.values(), timeout=120)
    assert slurm.job(f"{ids['verify']}_0").state == "FAILED"
    assert any("1 lives are used up" in text for text in logs_of(run).values())
    (tmp_path / "delay").write_text("0")
    call(slurm, "submit", run, "--cluster", cluster, "--resume")
    slurm.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local
