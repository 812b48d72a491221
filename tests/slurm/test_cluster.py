"""The clusters of these tests are what the other tests take them for."""

import pytest
from cluster import Cluster

pytestmark = pytest.mark.slurm


def test_a_wait_that_fails_shows_the_queue_and_the_daemons_last_words(slurm, tmp_path):
    job = slurm.sbatch("-H", "-o", "/dev/null", "--wrap", "true", cwd=tmp_path)
    with pytest.raises(
        AssertionError, match=rf"(?s)not within.*{job} wrap PENDING.*slurmctld\.log"
    ):
        slurm.wait_for(job, timeout=0.5)
    slurm.run("scancel", job)
    slurm.wait_for(job)
    assert slurm.job(job).state == "CANCELLED"


def test_a_job_that_slurm_does_not_know_is_no_job_that_has_ended(slurm):
    assert slurm.job("999999").state == "UNKNOWN"
    with pytest.raises(AssertionError, match="does not know"):
        slurm.wait_for("999999")


def test_two_clusters_know_nothing_of_each_other(slurm, slurm_small, tmp_path):
    slurm_small.run("sbatch", "-H", "-a", "0-9", "-o", "/dev/null", "--wrap", "true", cwd=tmp_path)
    assert len(slurm_small.queue()) == 10
    assert slurm.queue() == []
    slurm_small.run("scancel", "--name=wrap")


def test_an_array_beyond_the_small_clusters_limit_is_refused(slurm_small, tmp_path):
    with pytest.raises(AssertionError, match="Invalid job array specification"):
        slurm_small.sbatch("-a", "0-10", "-o", "/dev/null", "--wrap", "true", cwd=tmp_path)


def test_only_a_cluster_with_accounting_refuses_an_account_that_does_not_exist(
    slurm, slurm_accounting, tmp_path
):
    words = ("-A", "nobody", "-o", "/dev/null", "--wrap", "true")
    slurm.wait_for(slurm.sbatch(*words, cwd=tmp_path))
    with pytest.raises(AssertionError, match="Invalid account"):
        slurm_accounting.sbatch(*words, cwd=tmp_path)


def test_a_cluster_that_cannot_come_up_is_an_error_with_its_logs(tmp_path):
    cluster = Cluster(tmp_path / "cluster", 21990, ENFORCE="PERHAPS")
    try:
        with pytest.raises(AssertionError, match=r"start\.sh failed"):
            cluster.start()
    finally:
        cluster.stop()
