"""The cluster file: what it says of a job, and what is refused with the nearest valid key."""

import tomllib
from importlib import resources

import pytest

from ragmend.config import load_config
from ragmend.errors import ConfigError, MissingInputError
from ragmend.slurm.checking.models import check_models
from ragmend.slurm.cluster import load_cluster, validate_cluster
from ragmend.slurm.graph import build_graph
from ragmend.slurm.times import parse_time

HOME = {"HOME": "/home/me", "USER": "me"}
SHIPPED = ("a100", "alice", "one-node", "snellius")
MINIMAL = """
name = "here"
[environments.base]
python = "/env/bin/python"
[resources.default]
time = "01:00:00"
cpus = 1
"""


def load(folder, text, environ=HOME):
    path = folder / "cluster.toml"
    path.write_text(text)
    return load_cluster(str(path), environ)


def refused(folder, text, environ=HOME):
    with pytest.raises(ConfigError) as caught:
        load(folder, text, environ)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'cluster.toml'}: ")
    return message


# --- what ships ---


def test_the_shipped_files_are_those():
    folder = resources.files("ragmend.slurm").joinpath("clusters")
    found = {file.name for file in folder.iterdir() if not file.name.startswith(".")}
    assert found == {f"{name}.toml" for name in SHIPPED}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_is_valid_and_says_what_every_job_of_the_demonstration_gets(name):
    cluster = load_cluster(name, HOME)
    assert cluster.name == name
    jobs = build_graph(load_config("demo"), cluster)
    assert all(not job.resources.gpus for job in jobs)
    assert all(parse_time(job.resources.time) > cluster.signal_lead_s + 60 for job in jobs)


@pytest.mark.parametrize("name", ["a100", "snellius", "alice"])
def test_the_models_of_the_paper_fit_what_a_shipped_cluster_gives_them(name):
    paper = load_config("paper", environ={"RAGMEND_DATA": "/data"})
    cluster = load_cluster(name, HOME)
    assert check_models(paper, cluster) == []
    jobs = {job.name: job.resources for job in build_graph(paper, cluster)}
    # Every served role says how large its GPUs are, or nothing would have been compared.
    assert all(
        job.gpu_memory_gb for name, job in jobs.items() if name.startswith(("verify", "judge-q"))
        and "fold" not in name
    )  # fmt: skip
    assert jobs["judge-llama"].gpus == 2
    for name in ("select", "split", "match", "assemble", "analyze", "report", "judge-fold"):
        assert not jobs[name].gpus


def test_the_resources_of_the_paper_are_as_published():
    paper = load_config("paper", environ={"RAGMEND_DATA": "/data"})
    cluster = load_cluster("a100", HOME)
    jobs = {job.name: job for job in build_graph(paper, cluster)}
    found = {
        name: (jobs[name].resources.gpus, jobs[name].resources.gpu_memory_gb)
        for name in ("train", "predict", "verify", "rewrite", "verify-edits")
    }
    assert set(found.values()) == {(1, 40)}
    assert {jobs[name].resources.gpu_type for name in found} == {"a100"}
    judges = {name: jobs[f"judge-{name}"].resources for name in ("qwen", "llama", "gemma")}
    assert {name: (each.gpus, each.gpu_memory_gb) for name, each in judges.items()} == {
        "qwen": (1, 80),
        "llama": (2, 80),
        "gemma": (1, 80),
    }
    assert len(jobs["train"].tasks) == 10
    assert len(jobs["verify"].tasks) == 4
    assert jobs["train"].environment.python.endswith(".venv-train/bin/python")
    assert jobs["judge-qwen"].environment.python.endswith(".venv-serve/bin/python")
    assert jobs["select"].environment.python.endswith(".venv/bin/python")


@pytest.mark.parametrize("name", ["snellius", "alice"])
def test_a_file_that_is_like_a_real_cluster_says_that_it_must_be_checked(name):
    text = resources.files("ragmend.slurm").joinpath("clusters", f"{name}.toml").read_text("utf-8")
    assert text.startswith("# Like ")
    assert "compare them with `sinfo`" in text


def test_a_name_that_is_neither_file_nor_shipped_lists_what_ships():
    with pytest.raises(MissingInputError, match=r"a100, alice, one-node, snellius"):
        load_cluster("a200", HOME)


# --- sections on top of one another ---


def test_a_job_gets_the_most_special_of_what_is_said(tmp_path):
    cluster = load(
        tmp_path,
        MINIMAL
        + """
partition = "any"
memory_gb = 4
[resources.cpu]
cpus = 2
[resources.analyze]
memory_gb = 16
[resources.train]
partition = "gpu"
gpus = 1
[resources.predict]
time = "10"
[resources.served]
gpus = 1
[roles.llama]
gpus = 2
""",
    )
    analyze = cluster.resources_of("analyze")
    assert (analyze.partition, analyze.cpus, analyze.memory_gb) == ("any", 2, 16)
    predict = cluster.resources_of("predict")
    assert (predict.partition, predict.gpus, predict.time) == ("gpu", 1, "10")
    assert cluster.resources_of("served", "llama").gpus == 2
    assert cluster.resources_of("served", "qwen").gpus == 1
    # A role's section is about its server: without one it changes nothing.
    assert cluster.resources_of("embedded", "llama").gpus is None


@pytest.mark.parametrize(
    ("field", "kind", "role", "key"),
    [
        ("time", "analyze", None, "resources.default.time"),
        ("cpus", "analyze", None, "resources.cpu.cpus"),
        ("gpus", "predict", None, "resources.train.gpus"),
        ("gpus", "served", "llama", "roles.llama.gpus"),
        ("gpus", "served", "qwen", "resources.served.gpus"),
        ("account", "served", "qwen", "resources.default.account"),
    ],
)
def test_a_key_is_named_as_it_stands_in_the_file(tmp_path, field, kind, role, key):
    cluster = load(
        tmp_path,
        MINIMAL + "[resources.cpu]\ncpus = 2\n[resources.train]\ngpus = 1\n"
        "[resources.served]\ngpus = 1\n[roles.llama]\ngpus = 2\n",
    )
    assert cluster.key_of(field, kind, role) == key


def test_a_job_without_time_or_cpus_is_refused_by_its_key(tmp_path):
    text = MINIMAL.replace("[resources.default]", "[resources.cpu]")
    with pytest.raises(ConfigError, match=r"resources\.train\.time is not set"):
        load(tmp_path, text).resources_of("train")
    text = MINIMAL.replace("cpus = 1", "")
    with pytest.raises(ConfigError, match=r"resources\.cpu\.cpus is not set"):
        load(tmp_path, text).resources_of("cpu")


def test_an_environment_that_is_not_there_names_what_to_install(tmp_path):
    with pytest.raises(ConfigError, match=r"pip install 'ragmend\[serve\]'"):
        load(tmp_path, MINIMAL).environment_of("serve")


# --- what is refused ---


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("partitions = 'gpu'", "partition"),
        ("gpu = 1", "gpus"),
        ("memory = 8", "memory_gb"),
        ("acount = 'lab'", "account"),
        ("walltime = '1:00:00'", "time"),
    ],
)
def test_an_unknown_resource_names_the_nearest(tmp_path, line, near):
    message = refused(tmp_path, MINIMAL + line)
    assert "unknown key 'resources.default." in message
    assert f"did you mean 'resources.default.{near}'?" in message


@pytest.mark.parametrize(
    ("text", "unknown", "near"),
    [
        ("sahrds = 3\n" + MINIMAL, "sahrds", "shards"),
        (MINIMAL + "[resources.trian]\ncpus = 1\n", "resources.trian", "resources.train"),
        (MINIMAL + "[shards]\njudges = 2\n", "shards.judges", "shards.judge"),
        (
            MINIMAL + "[environments.sreve]\npython = '/x'\n",
            "environments.sreve",
            "environments.serve",
        ),
        (
            MINIMAL.replace("python =", "pyhton = 1\npython ="),
            "environments.base.pyhton",
            "environments.base.python",
        ),
    ],
)
def test_an_unknown_key_anywhere_names_the_nearest(tmp_path, text, unknown, near):
    message = refused(tmp_path, text)
    assert f"unknown key {unknown!r}" in message
    assert f"did you mean {near!r}?" in message


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("time = '90m'", ["is no time of SLURM's", "write '01:30:00'"]),
        ("time = '2h'", ["write '02:00:00'"]),
        ("time = '1:2:3:4'", ["is no time of SLURM's"]),
        ("time = 30", ["time"]),
        ("cpus = 0", ["cpus"]),
        ("cpus = '4'", ["cpus"]),
        ("gpus = -1", ["gpus"]),
        ("memory_gb = 0", ["memory_gb"]),
        ("memory_gb = 1.5", ["memory_gb"]),
        ("partition = 'gpu; rm -rf /'", ["partition"]),
        ("partition = ''", ["partition"]),
        ('account = "a\\nb"', ["account"]),
        ("extra = ['exclusive']", ["extra", "expected --name"]),
        ("extra = ['--mem=4G']", ["extra", "--mem is set by ragmend itself"]),
        ("extra = ['--array=0-3']", ["--array is set by ragmend itself"]),
        ("extra = ['--exclude=a b']", ["expected --name or --name=VALUE"]),
    ],
)
def test_a_bad_resource_is_refused_by_its_name(tmp_path, line, parts):
    text = MINIMAL.replace('time = "01:00:00"\ncpus = 1\n', "") + line
    message = refused(tmp_path, text)
    for part in ["resources.default", *parts]:
        assert part in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("name = 'a b'\n" + MINIMAL.replace('name = "here"', ""), "name"),
        ("signal_lead_s = 5\n" + MINIMAL, "signal_lead_s"),
        ("lives = 0\n" + MINIMAL, "lives"),
        ("tasks_at_most = 0\n" + MINIMAL, "tasks_at_most"),
        ("export = ['A-B']\n" + MINIMAL, "export"),
        (MINIMAL + "[shards]\nverify = 0\n", "shards.verify"),
        (MINIMAL + "[shards]\njudge = 1001\n", "shards.judge"),
        (MINIMAL.replace("/env/bin/python", "bin/python"), "python"),
        (MINIMAL + "[variables]\nHF_TOKEN = 'hf_x'\n", "HF_TOKEN would be written to disk"),
        (MINIMAL.replace("environments.base", "environments.train"), "environments.base"),
        (MINIMAL.replace("resources.default", "resources.train"), "resources.cpu or"),
        (MINIMAL.replace('name = "here"', ""), "name"),
        ("", "name"),
    ],
)
def test_a_file_that_is_wrong_elsewhere_is_refused_by_its_key(tmp_path, text, part):
    assert part in refused(tmp_path, text)


@pytest.mark.parametrize(
    "content", ["name = ", "[a\n", "\x00", "name = 1\nname = 2\n", "= 3", "a = {" * 200]
)
def test_what_is_no_toml_is_an_error_of_ours(tmp_path, content):
    assert "TOML" in refused(tmp_path, content)


def test_bytes_that_are_no_utf8_are_an_error_of_ours(tmp_path):
    (tmp_path / "cluster.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_cluster(str(tmp_path / "cluster.toml"), HOME)


def test_a_table_of_a_thousand_levels_is_an_error_of_ours(tmp_path):
    assert "nested deeper" in refused(tmp_path, "a" + ".a" * 40 + " = 1\n")


# --- variables ---


def test_variables_of_the_environment_stand_in_values_but_not_in_shell_lines(tmp_path):
    text = MINIMAL.replace("/env/bin/python", "${HOME}/env/bin/python").replace(
        "[resources.default]", "setup = ['export P=${SLURM_TMPDIR}']\n[resources.default]"
    )
    cluster = load(tmp_path, text + "[variables]\nHF_HOME = '/scratch/${USER}/hf'\n")
    assert cluster.environments["base"].python == "/home/me/env/bin/python"
    assert cluster.environments["base"].setup == ("export P=${SLURM_TMPDIR}",)
    assert cluster.variables == {"HF_HOME": "/scratch/me/hf"}


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_a_variable_that_is_not_set_is_named_with_its_key(tmp_path, environ):
    text = MINIMAL.replace("/env", "${HOME}/env")
    message = refused(tmp_path, text, environ)
    assert "environments.base.python needs the environment variable HOME" in message


def test_what_a_file_says_is_what_its_written_form_says_again(tmp_path):
    cluster = load_cluster("snellius", HOME)
    import tomli_w

    raw = cluster.model_dump(mode="json", exclude_none=True)
    assert validate_cluster(tomllib.loads(tomli_w.dumps(raw)), "again") == cluster
