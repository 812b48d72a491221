"""What a real cluster does not have is refused before anything is submitted."""

import os
import pwd

import pytest
from experiments import call, write_cluster

from ragmend.config import load_config
from ragmend.slurm.checking.pieces import check_pieces, find_warnings
from ragmend.slurm.cluster import load_cluster
from ragmend.slurm.commands import Slurm
from ragmend.slurm.graph import build_graph
from ragmend.slurm.limits import read_limits
from ragmend.slurm.rendering import cut_into_pieces

pytestmark = pytest.mark.slurm

# What `[resources.cpu]` says, and what of it is told.
REFUSED = {
    "partition": ('partition = "gpux"', ["resources.cpu.partition = 'gpux'", "'gpu'"]),
    "time": ('time = "1-00:00:01"', ["resources.cpu.time", "allows 1-00:00:00 (MaxTime)"]),
    "cpus": ("cpus = 9", ["resources.cpu.cpus = 9", "gives 8 at most"]),
    "memory": ("memory_gb = 300", ["resources.cpu.memory_gb = 300", "gives 250 at most"]),
    "gpu type": (
        'gpus = 1\ngpu_type = "h100"',
        ["resources.cpu.gpu_type = 'h100'", "it has: a100"],
    ),
    "gpus": ("gpus = 5", ["resources.cpu.gpus = 5", "has 4 GPUs at most"]),
    "feature": ('constraint = "a100_80gb"', ["resources.cpu.constraint", "no features"]),
}
# The same of accounts, which only a cluster with accounting knows.
REFUSED_BY_ACCOUNTING = {
    "account": ('account = "lap"', ["resources.cpu.account: 'lap'", "did you mean 'lab'?"]),
    "QOS": ('qos = "norma"', ["resources.cpu.qos = 'norma'", "did you mean 'normal'?"]),
}


def find(cluster, where):
    """Return problems and warnings of the demonstration on a cluster."""
    asked = load_cluster(str(where))
    jobs = build_graph(load_config("demo"), asked)
    limits = read_limits(Slurm.find(cluster.env))
    pieces = cut_into_pieces(jobs, max_array=limits.max_array, tasks_at_most=asked.tasks_at_most)
    return check_pieces(pieces, limits, asked), find_warnings(pieces, limits, asked)


def refuse(cluster, where, run):
    """Submit, and return why that was refused; nothing of it is in the queue."""
    before = set(cluster.queue("-t", "all", form="%i"))
    done = call(cluster, "submit", "demo", "--cluster", where, "--out", run, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert set(cluster.queue("-t", "all", form="%i")) == before
    assert not list(run.glob("jobs/submission-*/jobs.jsonl"))
    assert "Traceback" not in done.stderr
    return done.stderr


def test_what_the_test_cluster_says_of_itself_is_understood(slurm):
    limits = read_limits(Slurm.find(slurm.env))
    assert [each.name for each in limits.partitions] == ["gpu", "cpu", "preempt", "precancel"]
    assert [each.name for each in limits.partitions if each.is_default] == ["gpu"]
    assert [each.name for each in limits.partitions if each.cancels] == ["precancel"]
    assert {each.max_time_s for each in limits.partitions} == {86_400}
    assert [(node.name, node.cpus, node.memory_mb) for node in limits.nodes] == [
        ("node1", 8, 256_000),
        ("node2", 8, 256_000),
    ]
    assert limits.nodes[0].gpus == {"a100": 4}
    assert (limits.max_array, limits.max_jobs) == (1001, 10_000)
    assert limits.enforces == "NO"
    assert not limits.has_accounting


def test_accounts_of_the_test_cluster_are_understood(slurm_accounting):
    accounts = read_limits(Slurm.find(slurm_accounting.env)).accounts
    assert accounts.default == "lab"
    assert "lab" in accounts.names
    assert accounts.is_enforced
    assert "normal" in accounts.qualities
    association = accounts.of(None, "gpu")
    assert (association.account, association.default_qos) == ("lab", "normal")


def test_a_cluster_file_that_fits_is_not_complained_of(slurm, tmp_path):
    assert find(slurm, write_cluster(tmp_path / "here.toml")) == ([], [])


def test_a_cluster_file_that_fits_an_account_is_not_complained_of(slurm_accounting, tmp_path):
    own = write_cluster(tmp_path / "here.toml", cpu='account = "lab"\nqos = "normal"')
    assert find(slurm_accounting, own) == ([], [])


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_node_or_partition_has_is_found(slurm, tmp_path, case):
    lines, parts = REFUSED[case]
    problems, _ = find(slurm, write_cluster(tmp_path / "here.toml", cpu=lines))
    (problem,) = problems
    for part in parts:
        assert part in problem


@pytest.mark.parametrize("case", REFUSED_BY_ACCOUNTING)
def test_what_an_account_has_not_is_found(slurm_accounting, tmp_path, case):
    lines, parts = REFUSED_BY_ACCOUNTING[case]
    problems, _ = find(slurm_accounting, write_cluster(tmp_path / "here.toml", cpu=lines))
    (problem,) = problems
    for part in parts:
        assert part in problem


@pytest.mark.parametrize("case", REFUSED_BY_ACCOUNTING)
def test_without_accounting_an_account_is_a_warning(slurm, tmp_path, case):
    lines, _ = REFUSED_BY_ACCOUNTING[case]
    problems, warnings = find(slurm, write_cluster(tmp_path / "here.toml", cpu=lines))
    assert problems == []
    assert "could not be checked: ragmend has no accounting" in warnings[0]


@pytest.fixture
def brief(slurm_accounting):
    """A QOS with limits that the user of these tests may use."""
    limits = ("maxwall=00:30:00", "maxtres=cpu=2,mem=4G", "maxsubmitjobsperuser=20")
    user = pwd.getpwuid(os.getuid()).pw_name
    sacctmgr = ("sacctmgr", "-i", "-Q")
    slurm_accounting.run(*sacctmgr, "add", "qos", "brief", "set", *limits)
    slurm_accounting.run(*sacctmgr, "modify", "user", user, "set", "qos+=brief")
    yield slurm_accounting
    slurm_accounting.run(*sacctmgr, "modify", "user", user, "set", "qos-=brief")
    slurm_accounting.run(*sacctmgr, "delete", "qos", "brief")


def test_limits_of_a_quality_of_service_are_found(brief, tmp_path):
    lines = 'qos = "brief"\ntime = "00:31:00"\ncpus = 3\nmemory_gb = 5'
    problems = "\n".join(find(brief, write_cluster(tmp_path / "here.toml", shards=9, cpu=lines))[0])
    assert "resources.cpu.time = '00:31:00': QOS brief allows 00:30:00 (MaxWall)" in problems
    assert "resources.cpu.cpus = 3: QOS brief allows a job 2 at most" in problems
    assert "resources.cpu.memory_gb = 5: QOS brief allows a job 4 at most" in problems
    assert "QOS brief allows a user 20 at once (MaxSubmitJobs)" in problems


@pytest.mark.parametrize("case", ["partition", "time", "gpu type"])
def test_submit_refuses_and_nothing_is_in_the_queue(slurm, tmp_path, case):
    lines, parts = REFUSED[case]
    said = refuse(slurm, write_cluster(tmp_path / "here.toml", cpu=lines), tmp_path / "run")
    assert "nothing was submitted" in said
    for part in parts:
        assert part in said


@pytest.mark.parametrize("case", ["partition", "time", "gpu type", "account", "QOS"])
def test_submit_refuses_with_accounting_too(slurm_accounting, tmp_path, case):
    lines, parts = {**REFUSED, **REFUSED_BY_ACCOUNTING}[case]
    where = write_cluster(tmp_path / "here.toml", cpu=lines)
    said = refuse(slurm_accounting, where, tmp_path / "run")
    assert "nothing was submitted" in said
    for part in parts:
        assert part in said


def test_what_only_sbatch_refuses_is_refused_before_the_first_job(slurm, tmp_path):
    lines = 'extra = ["--licenses=nosuch"]'
    where = write_cluster(tmp_path / "here.toml", cpu=lines)
    assert find(slurm, where)[0] == []
    said = refuse(slurm, where, tmp_path / "run")
    assert "nothing was submitted" in said
    assert ".sbatch" in said
