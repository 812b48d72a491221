"""What a cluster file asks for, against what a cluster says that it has."""

import pytest
from recorded import (
    ACCOUNTING,
    ASSOCIATIONS,
    CONFIG,
    CPU,
    GPU,
    NODE_1,
    NODE_2,
    QUALITIES,
    say_again,
)

from ragmend.config import load_config
from ragmend.slurm.checking.models import check_models, weights_gb
from ragmend.slurm.checking.pieces import check_pieces, find_warnings
from ragmend.slurm.cluster import validate_cluster
from ragmend.slurm.commands import SlurmError
from ragmend.slurm.graph import build_graph
from ragmend.slurm.hardware import parse_gpus, parse_memory
from ragmend.slurm.limits import read_limits
from ragmend.slurm.rendering import cut_into_pieces

BASE = {"environments": {"base": {"python": "/x/python"}}}


def cluster_of(resources=None, **more):
    default = {"time": "01:00:00", "cpus": 1, **(resources or {})}
    return validate_cluster(
        {"name": "here", "resources": {"default": default}, **BASE, **more}, "file"
    )


def pieces_of(cluster, max_array=1001):
    jobs = build_graph(load_config("demo"), cluster)
    return cut_into_pieces(jobs, max_array=max_array, tasks_at_most=cluster.tasks_at_most)


def problems(slurm, resources=None, **more):
    cluster = cluster_of(resources, **more)
    return check_pieces(pieces_of(cluster), read_limits(slurm), cluster)


def warned(slurm, resources=None, **more):
    cluster = cluster_of(resources, **more)
    return find_warnings(pieces_of(cluster), read_limits(slurm), cluster)


# --- what is read ---


def test_what_slurm_printed_is_read(tmp_path):
    limits = read_limits(say_again(tmp_path))
    assert limits.cluster == "ragmend"
    assert (limits.max_array, limits.max_jobs) == (1001, 10000)
    assert [each.name for each in limits.partitions] == ["gpu", "cpu"]
    assert limits.partitions[0].max_time_s == 86_400
    assert limits.partitions[0].max_nodes is None
    assert limits.nodes[0].cpus == 8
    assert limits.nodes[0].memory_mb == 256_000
    assert limits.nodes[0].gpus == {"a100": 4}
    assert limits.nodes[0].features == frozenset()
    assert limits.nodes[0].partitions == {"gpu", "cpu"}
    assert not limits.nodes[0].is_away
    assert limits.requeues
    assert limits.accounts is None


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("(null)", {}),
        ("N/A", {}),
        ("gpu:4", {"": 4}),
        ("gpu", {"": 1}),
        ("gpu:a100", {"a100": 1}),
        ("gpu:a100:4(S:0-1)", {"a100": 4}),
        ("gpu:a100:4(S:0,2),nvme:1.5T", {"a100": 4}),
        ("gpu:a100:no_consume:2", {"a100": 2}),
        ("gpu:a100:4(S:0-1),gpu:a100_3g.20gb:8", {"a100": 4, "a100_3g.20gb": 8}),
        ("gpu:a100:2(S:0),gpu:a100:2(S:1)", {"a100": 4}),
        ("craynetwork:4,shard:16", {}),
    ],
)
def test_gpus_of_a_node_are_counted_by_type(gres, gpus):
    assert parse_gpus(gres) == gpus


@pytest.mark.parametrize("gres", ["gpu:a100:4K", "gpu:a100:", "gpu::4", "gpu:a100:many:4"])
def test_gpus_that_are_not_understood_are_no_gpus_by_accident(gres):
    with pytest.raises(SlurmError, match="expected gpu:TYPE:NUMBER"):
        parse_gpus(gres)


@pytest.mark.parametrize(
    ("text", "megabytes"),
    [("64000", 64_000), ("64000M", 64_000), ("250G", 256_000), ("1.50T", 1_572_864), ("2048K", 2)],
)
def test_memory_has_units(text, megabytes):
    assert parse_memory(text) == megabytes


@pytest.mark.parametrize("text", ["", "(null)", "N/A", "-1", "UNLIMITED", "64 G", "64g"])
def test_memory_that_is_none_is_an_error(text):
    with pytest.raises(SlurmError, match="expected an amount of memory"):
        parse_memory(text)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("MaxTime=1-00:00:00", "MaxTime=(null)", "MaxTime"),
        ("MaxTime=1-00:00:00", "MaxTime=N/A", "MaxTime"),
        ("MaxTime=1-00:00:00", "MaxTime=", "MaxTime"),
        ("MaxTime=1-00:00:00 ", "", "MaxTime"),
        ("MaxNodes=UNLIMITED", "MaxNodes=(null)", "MaxNodes"),
        ("MaxCPUsPerNode=UNLIMITED", "MaxCPUsPerNode=n/a", "MaxCPUsPerNode"),
        ("MaxMemPerNode=UNLIMITED", "MaxMemPerNode=lots", "MaxMemPerNode"),
        ("AllowAccounts=ALL", "AllowAccounts=(null)", "AllowAccounts"),
        ("State=UP ", "", "State"),
    ],
)
def test_an_odd_partition_is_an_error_that_names_the_field(tmp_path, old, new, field):
    assert old in GPU
    slurm = say_again(tmp_path, partitions=(GPU.replace(old, new), CPU))
    with pytest.raises(SlurmError, match=rf"partition: gpu: {field}: "):
        read_limits(slurm)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("CPUEfctv=8 CPUTot=8 ", "", "CPUTot"),
        ("CPUEfctv=8", "CPUEfctv=N/A", "CPUEfctv"),
        ("RealMemory=256000", "RealMemory=", "RealMemory"),
        ("Gres=gpu:a100:4 ", "", "Gres"),
    ],
)
def test_an_odd_node_is_an_error_that_names_the_field(tmp_path, old, new, field):
    assert old in NODE_1
    slurm = say_again(tmp_path, nodes=(NODE_1.replace(old, new), NODE_2))
    with pytest.raises(SlurmError, match=rf"node: node1: {field}: "):
        read_limits(slurm)


def test_a_node_of_an_older_release_is_read(tmp_path):
    slurm = say_again(tmp_path, nodes=(NODE_1.replace("CPUEfctv=8 ", ""),))
    assert read_limits(slurm).nodes[0].cpus == 8


def test_what_is_kept_for_the_system_is_not_for_jobs(tmp_path):
    node = NODE_1.replace("CPUEfctv=8", "CPUEfctv=6").replace(
        "Sockets=1", "CoreSpecCount=2 MemSpecLimit=6000 Sockets=1"
    )
    found = read_limits(say_again(tmp_path, nodes=(node,))).nodes[0]
    assert (found.cpus, found.memory_mb) == (6, 250_000)


def test_what_an_administrator_wrote_is_not_read_as_fields(tmp_path):
    note = " Comment=was CPUEfctv=96 Reason=odd Gres=gpu:h100:8 State=IDLE [root@2026-12-01]"
    down = NODE_1.replace("State=IDLE", "State=DOWN*+DRAIN") + note
    node = read_limits(say_again(tmp_path, nodes=(down,))).nodes[0]
    assert node.is_away
    assert node.gpus == {"a100": 4}
    assert node.cpus == 8


@pytest.mark.parametrize(
    ("state", "is_away"),
    [
        ("IDLE", False),
        ("MIXED+PLANNED", False),
        ("IDLE+CLOUD+POWERED_DOWN", False),
        ("IDLE~", False),
        ("ALLOCATED", False),
        ("IDLE+DRAIN", True),
        ("DOWN*", True),
        ("IDLE*", True),
        ("MIXED+DRAIN+MAINTENANCE", True),
        ("UNKNOWN", True),
    ],
)
def test_a_node_that_is_away_is_known_by_its_state(tmp_path, state, is_away):
    node = NODE_1.replace("State=IDLE", f"State={state}")
    assert read_limits(say_again(tmp_path, nodes=(node,))).nodes[0].is_away is is_away


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MaxArraySize            = 1001", "MaxArraySize            = (null)", "MaxArraySize"),
        ("MaxArraySize            = 1001", "MaxArraySize            = 0", "allows no job arrays"),
        ("MaxJobCount             = 10000", "", "MaxJobCount is not there"),
    ],
)
def test_an_odd_configuration_of_a_cluster_is_an_error(tmp_path, old, new, message):
    assert old in CONFIG
    with pytest.raises(SlurmError, match=message):
        read_limits(say_again(tmp_path, config=CONFIG.replace(old, new)))


def test_something_else_than_partitions_is_an_error(tmp_path):
    slurm = say_again(tmp_path, partitions=("slurm_load_partitions: try later",))
    with pytest.raises(SlurmError, match="expected lines of PartitionName="):
        read_limits(slurm)


def test_hidden_partitions_are_asked_for(tmp_path):
    slurm = say_again(tmp_path)
    script = tmp_path / "scontrol"
    script.write_text(
        script.read_text().replace("what=\n", f'echo "$*" >>{tmp_path}/asked\nwhat=\n')
    )
    read_limits(slurm)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert "--all --oneliner show partition" in asked
    assert "--all --oneliner show node" in asked


# --- partitions and nodes ---


def test_what_fits_is_no_problem(tmp_path):
    slurm = say_again(tmp_path)
    fitting = {
        "partition": "gpu",
        "time": "1-00:00:00",
        "cpus": 8,
        "memory_gb": 250,
        "gpus": 4,
        "gpu_type": "a100",
    }
    assert problems(slurm, fitting) == []
    assert warned(slurm, fitting) == []
    assert problems(slurm) == []


@pytest.mark.parametrize(
    ("resources", "parts"),
    [
        (
            {"partition": "gpus"},
            ["resources.default.partition = 'gpus'", "did you mean 'gpu'?", "has: cpu, gpu"],
        ),
        (
            {"time": "1-00:00:01"},
            ["resources.default.time = '1-00:00:01'", "gpu allows 1-00:00:00 (MaxTime)"],
        ),
        ({"cpus": 9}, ["resources.default.cpus = 9", "partition gpu gives 8 at most"]),
        ({"memory_gb": 251}, ["resources.default.memory_gb = 251", "gives 250 at most"]),
        ({"gpus": 5}, ["resources.default.gpus = 5", "has 4 GPUs at most"]),
        (
            {"gpus": 5, "gpu_type": "a100"},
            ["resources.default.gpus = 5", "has 4 a100 GPUs at most"],
        ),
        (
            {"gpus": 1, "gpu_type": "h100"},
            ["resources.default.gpu_type = 'h100'", "it has: a100"],
        ),
        (
            {"constraint": "gpu80gb"},
            ["resources.default.constraint = 'gpu80gb'", "'gpu80gb'; its nodes have no features"],
        ),
    ],
)
def test_what_does_not_fit_names_key_value_and_what_there_is(tmp_path, resources, parts):
    found = problems(say_again(tmp_path), resources)
    assert len(found) == 1, found
    assert found[0].startswith("detect, select, split, match and ")
    for part in parts:
        assert part in found[0]


def test_every_problem_is_named_not_the_first_alone(tmp_path):
    wrong = {"cpus": 9, "time": "9-0", "memory_gb": 999, "gpus": 1, "gpu_type": "v100"}
    found = "\n".join(problems(say_again(tmp_path), wrong))
    for key in ("cpus", "time", "memory_gb", "gpu_type"):
        assert f"resources.default.{key} = " in found


def test_the_key_is_that_of_the_section_which_says_it(tmp_path):
    resources = {
        "default": {"time": "01:00:00", "cpus": 1, "partition": "cpux"},
        "cpu": {"partition": "cpu"},
        "analyze": {"cpus": 16},
        "embedded": {"cpus": 99},
    }
    cluster = validate_cluster({"name": "here", "resources": resources, **BASE}, "file")
    found = check_pieces(pieces_of(cluster), read_limits(say_again(tmp_path)), cluster)
    # No job has what `default` says alone.
    assert [each.partition(":")[0] for each in found] == [
        "verify, rewrite, verify-edits, judge-overlap and 2 more",
        "analyze, report",
    ]
    assert "resources.embedded.cpus = 99" in found[0]
    assert "resources.analyze.cpus = 16" in found[1]


def test_a_role_has_keys_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGMEND_DATA", str(tmp_path))
    cluster = paper_cluster(roles={"llama": {"gpus": 5}, "qwen": {"cpus": 64}})
    pieces = cut_into_pieces(
        build_graph(load_config("paper"), cluster), max_array=1001, tasks_at_most=None
    )
    found = check_pieces(pieces, read_limits(say_again(tmp_path)), cluster)
    assert [each for each in found if "judge-llama" in each and "roles.llama.gpus = 5" in each]
    assert [each for each in found if "judge-qwen" in each and "roles.qwen.cpus = 64" in each]
    assert len(found) == 2


def test_nodes_must_have_all_of_it_together(tmp_path):
    small = NODE_1.replace("Gres=gpu:a100:4", "Gres=gpu:a100_3g.20gb:8(S:0-1)")
    large = NODE_2.replace("Gres=gpu:a100:4", "Gres=(null)").replace("=8 CPUTot", "=64 CPUTot")
    slurm = say_again(tmp_path, nodes=(small, large))
    assert problems(slurm, {"cpus": 64}) == []
    assert problems(slurm, {"gpus": 8, "gpu_type": "a100_3g.20gb"}) == []
    (found,) = problems(slurm, {"cpus": 64, "gpus": 1})
    assert "no node of partition gpu has all of it together: 64 CPUs, 1 GPUs" in found
    assert "1 × (8 CPUs, 250 GB, 8 a100_3g.20gb); 1 × (64 CPUs, 250 GB)" in found


def test_a_partition_without_gpus_names_those_that_have_some(tmp_path):
    bare = NODE_1.replace("Gres=gpu:a100:4", "Gres=(null)").replace("=gpu,cpu ", "=cpu ")
    other = NODE_2.replace("Partitions=gpu,cpu ", "Partitions=gpu ")
    (found,) = problems(say_again(tmp_path, nodes=(bare, other)), {"partition": "cpu", "gpus": 1})
    assert "partition cpu has no GPUs; partitions with GPUs: gpu" in found


def test_gpus_without_a_type_are_not_of_any_type(tmp_path):
    untyped = tuple(node.replace("gpu:a100:4", "gpu:4") for node in (NODE_1, NODE_2))
    slurm = say_again(tmp_path, nodes=untyped)
    assert problems(slurm, {"gpus": 4}) == []
    (found,) = problems(slurm, {"gpus": 1, "gpu_type": "a100"})
    assert "it has: GPUs without a type" in found


@pytest.mark.parametrize(
    ("constraint", "is_there"),
    [
        ("a100", True),
        ("a100&nvlink", True),
        ("a100&ib", False),
        ("a100|h100", True),
        ("h100|h200", False),
        ("nvlink&(a100|h100)", True),
        ("h100", False),
    ],
)
def test_a_constraint_is_looked_up_in_the_features_of_nodes(tmp_path, constraint, is_there):
    node = NODE_1.replace("AvailableFeatures=(null)", "AvailableFeatures=a100,nvlink")
    other = NODE_2.replace("AvailableFeatures=(null)", "AvailableFeatures=ib")
    found = problems(say_again(tmp_path, nodes=(node, other)), {"constraint": constraint})
    assert (found == []) is is_there
    assert all("there are: a100, ib, nvlink" in each or "together" in each for each in found)


@pytest.mark.parametrize(
    ("state", "means"),
    [
        ("DOWN", "takes jobs, but starts none"),
        ("DRAIN", "takes no more jobs"),
        ("INACTIVE", "takes no jobs"),
        ("BROKEN", "is not up"),
    ],
)
def test_a_partition_that_is_not_up_is_a_problem(tmp_path, state, means):
    slurm = say_again(tmp_path, partitions=(GPU.replace("State=UP", f"State={state}"), CPU))
    (found,) = problems(slurm)
    assert f"resources.default.partition: partition gpu is {state}: it {means}" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ReqResv=NO", "ReqResv=YES", "resources.default.reservation is not set"),
        ("MinNodes=0", "MinNodes=2", "each task is on one node"),
        ("MaxNodes=UNLIMITED", "MaxNodes=0", "each task is on one node"),
        ("MaxCPUsPerNode=UNLIMITED", "MaxCPUsPerNode=0", "gives 0 at most"),
        ("MaxTime=1-00:00:00", "MaxTime=00:30:00", "allows 00:30:00 (MaxTime)"),
        ("MaxTime=1-00:00:00", "MaxTime=00:00:00", "allows 00:00:00 (MaxTime)"),
    ],
)
def test_what_a_partition_wants_of_jobs_is_looked_at(tmp_path, old, new, message):
    assert old in GPU
    (found,) = problems(say_again(tmp_path, partitions=(GPU.replace(old, new), CPU)))
    assert message in found


def test_a_partition_without_a_limit_is_named_where_the_time_is_too_long(tmp_path):
    long = GPU.replace("=gpu ", "=long ").replace("MaxTime=1-00:00:00", "MaxTime=UNLIMITED")
    slurm = say_again(tmp_path, partitions=(GPU, long.replace("Default=YES", "Default=NO")))
    (found,) = problems(slurm, {"time": "9-00:00:00"})
    assert "long enough: long (no limit)" in found
    assert problems(slurm, {"time": "9-00:00:00", "partition": "long"}) == []


def test_memory_of_a_partition_has_a_limit_of_its_own(tmp_path):
    slurm = say_again(
        tmp_path, partitions=(GPU.replace("MaxMemPerNode=UNLIMITED", "MaxMemPerNode=10240"), CPU)
    )
    assert problems(slurm, {"memory_gb": 10}) == []
    assert "gives 10 at most" in problems(slurm, {"memory_gb": 11})[0]


def test_no_default_partition_is_a_problem_where_none_is_named(tmp_path):
    slurm = say_again(tmp_path, partitions=(GPU.replace("Default=YES", "Default=NO"), CPU))
    (found,) = problems(slurm)
    assert "resources.default.partition is not set, and ragmend has no default" in found
    assert "it has: cpu, gpu" in found
    assert problems(slurm, {"partition": "cpu"}) == []


def test_one_of_several_partitions_is_enough_unless_all_must_do(tmp_path):
    short = CPU.replace("MaxTime=1-00:00:00", "MaxTime=00:10:00")
    both = {"partition": "gpu,cpu"}
    assert problems(say_again(tmp_path, partitions=(GPU, short)), both) == []
    every = CONFIG.replace("EnforcePartLimits       = NO", "EnforcePartLimits       = ALL")
    (found,) = problems(say_again(tmp_path, partitions=(GPU, short), config=every), both)
    assert "partition cpu allows 00:10:00" in found
    (found,) = problems(say_again(tmp_path), {"partition": "gpu,gqu"})
    assert "there is no partition gqu" in found


def test_nodes_that_are_not_shown_are_a_warning_and_no_licence(tmp_path):
    slurm = say_again(tmp_path, nodes=("No nodes in the system",))
    assert problems(slurm, {"cpus": 999}) == []
    assert "the 2 nodes of partition gpu are not shown to you" in warned(slurm, {"cpus": 999})[0]
    empty = GPU.replace("TotalNodes=2", "TotalNodes=0")
    (found,) = problems(say_again(tmp_path, nodes=("No nodes",), partitions=(empty,)))
    assert "partition gpu has no nodes" in found


def test_nodes_that_are_all_away_are_a_warning(tmp_path):
    down = NODE_1.replace("State=IDLE", "State=DOWN+DRAIN")
    large = NODE_2.replace("CPUEfctv=8", "CPUEfctv=16").replace("State=IDLE", "State=DOWN")
    slurm = say_again(tmp_path, nodes=(down, large))
    assert problems(slurm, {"cpus": 16}) == []
    assert "is up now: it waits for node2" in warned(slurm, {"cpus": 16})[0]
    assert warned(say_again(tmp_path, nodes=(down, NODE_2))) == []


def test_a_partition_that_cancels_is_a_warning(tmp_path):
    slurm = say_again(
        tmp_path, partitions=(GPU.replace("PreemptMode=OFF", "PreemptMode=CANCEL"), CPU)
    )
    assert "partition gpu cancels jobs that make place for others" in warned(slurm)[0]


def test_a_cluster_that_requeues_nothing_by_itself_is_a_warning(tmp_path):
    config = CONFIG.replace("JobRequeue              = 1", "JobRequeue              = 0")
    slurm = say_again(tmp_path, config=config)
    assert problems(slurm) == []
    assert "JobRequeue = 0" in warned(slurm)[0]
    assert warned(slurm, lives=1) == []


# --- how many ---


def test_more_tasks_than_the_controller_holds_are_a_problem(tmp_path):
    config = CONFIG.replace("MaxJobCount             = 10000", "MaxJobCount             = 100")
    slurm = say_again(tmp_path, config=config)
    (found,) = problems(slurm, shards={"verify": 200})
    assert "MaxJobCount" in found
    assert "`tasks_at_most`" in found
    assert problems(slurm, shards={"verify": 200}, tasks_at_most=10) == []


def test_tasks_of_the_queue_count_where_an_account_allows_only_so_many(tmp_path):
    told = {"config": ACCOUNTING, "associations": ASSOCIATIONS}
    shards = {"verify": 30}
    cluster = cluster_of(shards=shards)
    number = sum(len(piece.tasks) for piece in pieces_of(cluster))
    assert 40 < number <= 50
    assert problems(say_again(tmp_path, **told), shards=shards) == []
    queue = "lab|normal\n" * (51 - number) + "root|normal\n" * 40
    (found,) = problems(say_again(tmp_path, queue=queue, **told), shards=shards)
    assert f"{number} tasks altogether, with {51 - number} in the queue already" in found
    assert "account lab allows a user 50 at once" in found
    found = problems(say_again(tmp_path, **told), {"qos": "long"}, shards=shards)
    assert "QOS long allows a user 30 at once" in found[-1]


# --- accounts ---


def accounts(folder, **more):
    return say_again(folder, **{"config": ACCOUNTING, "associations": ASSOCIATIONS, **more})


def test_without_accounting_an_account_cannot_be_checked_and_that_is_said(tmp_path):
    slurm = say_again(tmp_path)
    asked = {"account": "nosuch", "qos": "high"}
    assert problems(slurm, asked) == []
    found = "\n".join(warned(slurm, asked))
    assert "resources.default.account = 'nosuch' could not be checked" in found
    assert "resources.default.qos = 'high' could not be checked" in found
    assert "no accounting" in found


def test_accounting_that_does_not_answer_is_a_warning(tmp_path):
    slurm = say_again(tmp_path, config=ACCOUNTING)
    assert problems(slurm, {"account": "nosuch"}) == []
    (found,) = warned(slurm, {"account": "nosuch"})
    assert "the accounting did not answer (sacctmgr cannot be started" in found


def test_accounting_that_is_not_understood_is_no_permission(tmp_path):
    slurm = accounts(tmp_path, associations="lab||normal|||many|\n")
    (found,) = warned(slurm, {"account": "nosuch"})
    assert "MaxSubmitJobs=many: expected a number" in found


@pytest.mark.parametrize(
    ("resources", "parts"),
    [
        (
            {"account": "labb"},
            ["resources.default.account: 'labb' is no account of yours", "did you mean 'lab'?",
             "has: lab, root"],
        ),
        (
            {"qos": "lomg"},
            ["resources.default.qos = 'lomg': account lab has none such", "'long'",
             "it has: long, normal"],
        ),
        ({"time": "12:00:00"}, ["time = '12:00:00': account lab allows 10:00:00 (MaxWall)"]),
        ({"qos": "long", "cpus": 5}, ["cpus = 5: QOS long allows a job 4 at most"]),
        ({"qos": "long", "memory_gb": 65}, ["memory_gb = 65: QOS long allows a job 64 at most"]),
        ({"qos": "long", "gpus": 3}, ["gpus = 3: QOS long allows a job 2 at most"]),
    ],
)  # fmt: skip
def test_what_an_account_may_not_names_key_value_and_what_it_may(tmp_path, resources, parts):
    (found,) = problems(accounts(tmp_path), resources)
    for part in parts:
        assert part in found


def test_a_quality_of_service_goes_before_an_account_and_may_exceed_a_partition(tmp_path):
    slurm = accounts(tmp_path)
    # The account allows ten hours and the partition a day; this QOS two days, whatever they say.
    assert problems(slurm, {"qos": "long", "time": "2-00:00:00"}) == []
    (found,) = problems(slurm, {"qos": "long", "time": "2-00:00:01"})
    assert "QOS long allows 2-00:00:00 (MaxWall)" in found
    plain = QUALITIES.replace("DenyOnLimit,PartitionTimeLimit", "")
    (found,) = problems(accounts(tmp_path, qualities=plain), {"qos": "long", "time": "2-00:00:00"})
    assert "partition gpu allows 1-00:00:00 (MaxTime)" in found


def test_the_quality_of_service_of_a_partition_has_limits_too(tmp_path):
    own = GPU.replace("QoS=N/A", "QoS=long")
    (found,) = problems(accounts(tmp_path, partitions=(own, CPU)), {"cpus": 5})
    assert "QOS long allows a job 4 at most" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("AllowAccounts=ALL", "DenyAccounts=lab", "account: partition gpu does not admit lab"),
        ("AllowQos=ALL", "AllowQos=long", "qos: partition gpu does not admit normal, only: long"),
        ("AllowQos=ALL", "DenyQos=normal", "qos: partition gpu does not admit normal"),
    ],
)
def test_whom_a_partition_does_not_admit_is_named(tmp_path, old, new, message):
    (found,) = problems(accounts(tmp_path, partitions=(GPU.replace(old, new), CPU)))
    assert message in found


def test_an_account_that_a_partition_does_not_list_is_a_warning(tmp_path):
    own = GPU.replace("AllowAccounts=ALL", "AllowAccounts=bio,chem")
    slurm = accounts(tmp_path, partitions=(own, CPU))
    assert problems(slurm) == []
    assert "partition gpu admits bio, chem only: if lab is not below one" in warned(slurm)[0]
    assert warned(slurm, {"partition": "cpu"}) == []


def test_accounts_are_the_same_in_capitals(tmp_path):
    assert problems(accounts(tmp_path), {"account": "Lab"}) == []


def test_an_account_for_one_partition_is_for_that_alone(tmp_path):
    only = "lab|cpu|normal||||\n"
    slurm = accounts(tmp_path, associations=only)
    assert problems(slurm, {"account": "lab", "partition": "cpu"}) == []
    (found,) = problems(slurm, {"account": "lab", "partition": "gpu"})
    assert "lab is for partition cpu only" in found


def test_a_user_without_any_account_is_told_so(tmp_path):
    (found,) = problems(accounts(tmp_path, associations="", default_account=""))
    assert "resources.default.account is not set, and there is no default account" in found
    assert "has: none" in found


def test_where_accounts_are_not_enforced_an_unknown_one_is_a_warning(tmp_path):
    lax = ACCOUNTING.replace("associations,limits,qos", "none")
    slurm = accounts(tmp_path, config=lax)
    assert problems(slurm, {"account": "nosuch"}) == []
    assert "'nosuch' is no account of yours" in warned(slurm, {"account": "nosuch"})[0]


# --- models ---


def paper_cluster(roles=None, **served):
    environment = {"python": "/x/python"}
    return validate_cluster(
        {
            "name": "here",
            "environments": {"base": environment, "train": environment, "serve": environment},
            "resources": {
                "default": {"time": "08:00:00", "cpus": 1},
                "served": {"gpus": 1, "gpu_type": "a100", **served},
            },
            "roles": roles or {},
        },
        "file",
    )


@pytest.fixture
def paper(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGMEND_DATA", str(tmp_path))
    return load_config("paper")


def test_the_models_of_the_paper_fit_the_gpus_of_the_paper(paper):
    assert check_models(paper, paper_cluster({"llama": {"gpus": 2}}, gpu_memory_gb=80)) == []


def test_a_model_is_spread_over_as_many_gpus_as_its_task_gets(paper):
    (found,) = check_models(paper, paper_cluster())
    assert found == "judge llama: tensor_parallel_size 2 but resources.served.gpus = 1"
    found = check_models(paper, paper_cluster({"verifier": {"gpus": 2}, "llama": {"gpus": 2}}))
    assert found == ["verifier: tensor_parallel_size 1 but roles.verifier.gpus = 2"]


def test_weights_that_do_not_fit_are_a_problem(paper):
    found = check_models(paper, paper_cluster({"llama": {"gpus": 2}}, gpu_memory_gb=40))
    assert [each.partition(":")[0] for each in found] == [
        "judge qwen",
        "judge llama",
        "judge gemma",
    ]
    assert "about 140 GB of weights" in found[1]
    assert "2 × resources.served.gpu_memory_gb = 40 is less" in found[1]


@pytest.mark.parametrize(
    ("model", "gigabytes"),
    [
        ({"id": "meta-llama/Llama-3.1-70B-Instruct"}, 140),
        ({"id": "google/gemma-2-27b-it", "dtype": "float32"}, 108),
        ({"id": "Qwen/Qwen2.5-0.5B"}, 1),
        ({"id": "Qwen/Qwen2.5-32B-Instruct-AWQ", "quantization": "awq"}, 19.2),
        ({"id": "Qwen/Qwen2.5-32B-Instruct-AWQ"}, 19.2),
        ({"id": "x/Llama-3-8B-GPTQ-Int4"}, 4.8),
        ({"id": "x/Llama-3-8B", "quantization": "bitsandbytes"}, 4.8),
        ({"id": "x/Llama-3-8B-FP8"}, 8),
        ({"id": "Qwen/Qwen3-30B-A3B"}, 60),
        ({"id": "openai/gpt-oss-20b"}, 12),
        ({"id": "mistralai/Mixtral-8x7B-Instruct-v0.1"}, None),
        ({"id": "microsoft/phi-2"}, None),
        ({"id": "x/stablelm-2-1_6b"}, None),
        ({"id": "7b-org/nameless"}, None),
        ({"id": "x/bert-4bit"}, None),
    ],
)
def test_the_weights_of_a_model_are_told_by_its_id(model, gigabytes):
    from ragmend.sections.models import ModelConfig

    found = weights_gb(ModelConfig(**model))
    assert found == (None if gigabytes is None else pytest.approx(gigabytes))


def test_a_role_that_the_cpu_serves_is_a_warning(tmp_path, paper):
    cluster = paper_cluster({"llama": {"gpus": 2}, "rewriter": {"gpus": 0}})
    pieces = cut_into_pieces(build_graph(paper, cluster), max_array=9, tasks_at_most=None)
    assert check_models(paper, cluster) == []
    (found,) = find_warnings(pieces, read_limits(say_again(tmp_path)), cluster)
    assert "roles.rewriter.gpus = 0: its model is served by the CPU" in found
