"""More shards than a cluster's arrays take, and a cluster with accounting."""

import pytest
from experiments import call, job_ids, results_of, write_cluster

pytestmark = pytest.mark.slurm


def sharded(path, **shards):
    text = path.read_text()
    head = text.partition("[shards]")[0]
    path.write_text(head + "[shards]\n" + "".join(f"{k} = {v}\n" for k, v in shards.items()))
    return path


def test_37_shards_fit_into_arrays_of_ten(slurm_small, tmp_path, local):
    cluster = sharded(write_cluster(tmp_path / "here.toml"), verify=37)
    run = tmp_path / "run"
    call(slurm_small, "submit", "demo", "--cluster", cluster, "--out", run)
    ids = job_ids(run)
    arrays = [piece for piece in ids if piece.startswith("verify") and "edits" not in piece]
    assert arrays == ["verify", "verify.2", "verify.3", "verify.4", "verify-fold"]
    slurm_small.wait_for(ids.values(), timeout=400)
    assert results_of(run) == local


@pytest.mark.slow
def test_37_shards_are_packed_into_as_many_tasks_as_one_wants(slurm_small, tmp_path, local):
    cluster = sharded(
        write_cluster(tmp_path / "here.toml", top="tasks_at_most = 3"), verify=37, propose=5
    )
    run = tmp_path / "run"
    printed = call(slurm_small, "submit", "demo", "--cluster", cluster, "--out", run).stdout
    rows = {line.split()[0]: line.split()[2] for line in printed.splitlines()}
    assert (rows["verify"], rows["rewrite"], rows["verify-edits"]) == ("3", "3", "3")
    slurm_small.wait_for(job_ids(run).values(), timeout=400)
    assert results_of(run) == local


def test_a_cluster_with_accounting_gives_the_same_results(slurm_accounting, tmp_path, local):
    cluster = write_cluster(tmp_path / "here.toml", shards=2, top="")
    cluster.write_text(
        cluster.read_text().replace("cpus = 1\n", 'cpus = 1\naccount = "lab"\nqos = "normal"\n', 1)
    )
    run = tmp_path / "run"
    call(slurm_accounting, "submit", "demo", "--cluster", cluster, "--out", run)
    slurm_accounting.wait_for(job_ids(run).values(), timeout=240)
    assert results_of(run) == local
    said = call(slurm_accounting, "status", run).stdout
    assert "2 of 2: has ended well" in said
