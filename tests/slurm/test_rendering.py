"""The scripts that sbatch gets, to the letter, and what cannot be written into one."""

import shlex
import subprocess
from importlib import resources
from pathlib import Path

import pytest

from ragmend.config import load_config
from ragmend.errors import ConfigError
from ragmend.slurm.cluster import load_cluster, validate_cluster
from ragmend.slurm.graph import build_graph
from ragmend.slurm.rendering import Places, Submitting, cut_into_pieces, render

GOLDEN = Path(__file__).parents[1] / "golden/slurm"
PLACES = Places(
    *map(Path, ("/runs/x", "/runs/x/jobs/s/config.toml", "/runs/x/jobs/s/code",
                "/runs/x/jobs/s/scripts", "/runs/x/jobs/logs"))
)  # fmt: skip
TOKEN = "0123456789abcdef"
HOME = {"HOME": "/home/me", "USER": "me"}


def scripts_of(config, cluster, **changes):
    submitting = Submitting(config.name, TOKEN, PLACES, cluster, **changes)
    pieces = cut_into_pieces(build_graph(config, cluster), max_array=1001, tasks_at_most=None)
    return {piece.name: render(piece, submitting) for piece in pieces}


def paper():
    return load_config("paper", environ={"RAGMEND_DATA": "/data"})


CASES = {
    "paper": (paper, "a100"),
    "demo": (lambda: load_config("demo"), "one-node"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_script_is_as_its_golden(case, request):
    config, cluster = CASES[case]
    found = scripts_of(config(), load_cluster(cluster, HOME))
    folder = GOLDEN / case
    if request.config.getoption("--update-golden"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, text in found.items():
            (folder / f"{name}.sbatch").write_text(text)
    golden = {path.stem: path.read_text() for path in folder.glob("*.sbatch")}
    assert found == golden


def small(**changes):
    raw = {
        "name": "here",
        "environments": {"base": {"python": "/py"}},
        "resources": {"default": {"time": "10:00", "cpus": 1}},
        "signal_lead_s": 20,
    }
    return validate_cluster(raw | changes, "here.toml")


@pytest.mark.parametrize("word", ["a b", "it's", "$(touch x)", "`x`", "é", "-x", "a;b", "*"])
def test_what_a_shell_would_read_otherwise_stays_a_word(word):
    text = scripts_of(load_config("demo"), small(), accept_faults=word)["select"]
    (line,) = [each for each in text.splitlines() if each.startswith("accept_faults=")]
    assert shlex.split(line) == [f"accept_faults={word}"]
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


def test_a_line_break_cannot_stand_in_a_script():
    with pytest.raises(ConfigError, match="line break"):
        scripts_of(load_config("demo"), small(), accept_faults="a\nrm -rf x")


@pytest.mark.parametrize("folder", ["/a b", '/a"b', "/a%b", "/a\\b", "/a'b"])
def test_a_folder_that_sbatch_would_misread_is_refused(folder):
    config, cluster = load_config("demo"), small()
    (piece, *_) = cut_into_pieces(build_graph(config, cluster), max_array=10, tasks_at_most=None)
    places = PLACES._replace(logs=Path(folder))
    with pytest.raises(ConfigError, match="choose another --out"):
        render(piece, Submitting("demo", TOKEN, places, cluster))


def test_a_time_limit_within_the_warning_is_refused():
    cluster = small(signal_lead_s=600)
    with pytest.raises(ConfigError, match="raise its time or lower signal_lead_s"):
        scripts_of(load_config("demo"), cluster)


def test_what_passes_the_environment_on_stands_in_the_header():
    config = load_config("demo")
    assert "#SBATCH --export=ALL\n" in scripts_of(config, small())["select"]
    assert "#SBATCH --export=NONE\n" in scripts_of(config, small(export="NONE"))["select"]
    named = scripts_of(config, small(export=["HF_TOKEN", "X_KEY"]))["select"]
    assert "#SBATCH --export=HF_TOKEN,X_KEY\n" in named


def test_modules_and_lines_of_the_site_come_before_the_work():
    base = {"python": "/py", "modules": ["2023", "CUDA/12.1"], "setup": ["source /etc/lmod.sh"]}
    text = scripts_of(load_config("demo"), small(environments={"base": base}))["select"]
    setup, module, source = (
        text.index(each)
        for each in ("source /etc/lmod.sh", "module load CUDA/12.1", 'source "$here/task.sh"')
    )
    assert setup < module < source


@pytest.mark.parametrize("name", ["train", "predict", "stage", "parts", "doctor", "report"])
def test_a_plain_file_can_be_read_by_bash_and_says_how_to_submit_it(name):
    text = resources.files("ragmend.slurm").joinpath(f"{name}.sbatch").read_text()
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    assert "sbatch " in text.partition("#SBATCH")[0]
