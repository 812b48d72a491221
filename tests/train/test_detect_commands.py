"""The commands with the real libraries: detectors are trained, killed, resumed, judged, asked."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from tiny_encoders import make_encoder
from training_data import read_jsonl, write_training_data

from ragmend.cli import group
from ragmend.io import read_record, read_records
from ragmend.records import Detection
from ragmend.trained import HealthReport, LogRow

pytestmark = pytest.mark.train

CONFIG = """
name = "tiny"
[data]
path = "{data}"
limit = 6
[detector]
kind = "trained"
[training]
seeds = [7]
limit = 8
probe = 4
[training.development]
sources = 2
limit = 4
[training.recipe]
epochs = {epochs}
learning_rate = 5e-3
max_length = 2000
answer_tokens = 40
batch_size = 4
micro_batch_size = 2
save_steps = 1
generation_batch_size = 4
[training.models.tiny]
kind = "{kind}"
[training.models.tiny.model]
id = "org/tiny"
folder = "{folder}"
dtype = "float32"
{quantization}
[judges]
primary = "overlap"
[[judges.panel]]
name = "overlap"
"""
RUN = "tiny/seed-7"


class Experiment(NamedTuple):
    config: Path
    out: Path

    @property
    def where(self):
        return (str(self.config), "--out", str(self.out))

    @property
    def training(self):
        return self.out / "00-training" / RUN

    @property
    def health(self):
        return read_record(self.training / "health.json", HealthReport)

    @property
    def log(self):
        return list(read_records(self.training / "log.jsonl", LogRow))


def write_experiment(place, folder, *, kind="generative", epochs=2, nf4=True):
    config = place / "tiny.toml"
    quantization = 'quantization = "bitsandbytes"' if nf4 else ""
    data = write_training_data(place / "data")
    config.write_text(
        CONFIG.format(
            data=data,
            folder=folder,
            kind=kind,
            epochs=epochs,
            quantization=quantization,
        )
    )
    return Experiment(config, place / "run")


@pytest.fixture
def experiment(tmp_path):
    """Write a configuration; return where it is, and where its run goes."""

    def write(folder, **how):
        return write_experiment(tmp_path, folder, **how)

    return write


@pytest.fixture(scope="session")
def encoder(training_libraries, tmp_path_factory):
    """A folder with a random encoder."""
    folder = tmp_path_factory.mktemp("base") / "modernbert"
    return make_encoder(folder, "modernbert", max_position_embeddings=2048)


@pytest.fixture(scope="module")
def undisturbed(llama, tmp_path_factory):
    """A training that nobody interrupted."""
    tiny = write_experiment(tmp_path_factory.mktemp("undisturbed"), llama, epochs=3)
    done = run("detect", "train", *tiny.where)
    assert done.returncode == 0, done.stderr
    return tiny


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line in this process."""

    def run_here(*words):
        monkeypatch.setattr(sys, "argv", ["ragmend", *map(str, words)])
        capsys.readouterr()
        return (group.run_command_line(), *capsys.readouterr())

    return run_here


def test_a_4_bit_detector_is_trained_asked_and_scored_by_the_commands(llama_2, experiment, command):
    tiny = experiment(llama_2)
    code, _, said = command("detect", "train", *tiny.where)
    assert code == 0, said
    assert "tokens" in said
    assert "memory    about, in GiB" in said
    assert [row.step for row in tiny.log] == [1, 2, 3, 4]
    assert tiny.health.n_reload_differs == 0
    tokens = tiny.health.tokens
    assert (tokens.n_without_end, tokens.n_double_begin, tokens.n_served_otherwise) == (0, 0, 0)
    assert tokens.pad_token != tokens.end_token
    assert all(layer.delta > 0 for layer in tiny.health.layers)
    assert len(tiny.health.layers) == 2 * 7
    names = {path.name for path in (tiny.training / "adapter").iterdir()}
    assert {"adapter_model.safetensors", "adapter_config.json", "README.md"} <= names
    adapter = json.loads((tiny.training / "adapter/adapter_config.json").read_text())
    assert adapter["base_model_name_or_path"] == "org/tiny"

    code, _, said = command("detect", "predict", *tiny.where)
    assert code == 0, said
    detections = list(
        read_records(tiny.out / "01-detections" / RUN / "detections.jsonl", Detection)
    )
    assert len(detections) == 6
    code, table, said = command("detect", "score", tiny.out, "--runs", tiny.out / "runs.csv")
    assert code == 0, said
    assert "tiny" in table
    code, found, said = command("detect", "diagnose", tiny.out, "--probe")
    assert code == 0, said
    assert "14 adapted" in found
    assert "asked again" in found
    assert "0 answers differ" in found


def test_a_corrupted_adapter_is_seen_and_named(llama, experiment, command):
    import torch
    from safetensors.torch import load_file, save_file

    tiny = experiment(llama, epochs=1)
    assert command("detect", "train", *tiny.where)[0] == 0
    path = tiny.training / "adapter/adapter_model.safetensors"
    weights = load_file(path)
    first = sorted(name for name in weights if "lora_B" in name)[0]
    weights[first] = torch.full_like(weights[first], float("nan"))
    save_file(weights, path, metadata={"format": "pt"})
    code, _, said = command("detect", "predict", *tiny.where)
    assert code == 1
    assert "is damaged" in said
    code, found, said = command("detect", "diagnose", tiny.out, "--probe")
    assert code == 0, said
    assert "damaged" in found
    assert "1 with numbers that are none" in found
    assert "1 of 14 adapted layers hold numbers that are none" in found


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGKILL], ids=str)
def test_a_training_that_a_signal_ends_goes_on_to_the_same_weights(
    llama, experiment, number, undisturbed
):
    tiny = experiment(llama, epochs=3)
    process = start("detect", "train", *tiny.where)
    wait_for_steps(tiny.training / "log.jsonl", 2, process)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    if number == signal.SIGKILL:
        assert process.returncode == -number
        assert run("unlock", tiny.out).returncode == 0
    else:
        assert process.returncode == 75, said
        assert "run the same command again" in said
    assert len(tiny.log) < 6
    done = run("detect", "train", *tiny.where)
    assert done.returncode == 0, done.stderr
    losses = [row.loss for row in tiny.log]
    assert losses == pytest.approx([row.loss for row in undisturbed.log], abs=1e-6)
    assert losses[-1] < losses[0]
    files = [
        (each.training / "adapter/adapter_model.safetensors").read_bytes()
        for each in (tiny, undisturbed)
    ]
    assert files[0] == files[1]


def test_a_token_classifier_is_trained_by_the_same_commands(encoder, experiment, command):
    tiny = experiment(encoder, kind="token-classification", nf4=False)
    code, _, said = command("detect", "train", *tiny.where)
    assert code == 0, said
    assert tiny.health.tokens is None
    assert tiny.health.n_reload_differs == 0
    epochs = read_jsonl(tiny.training / "epochs.jsonl")
    assert all(0 <= row["threshold"] <= 1 for row in epochs)
    code, _, said = command("detect", "predict", *tiny.where)
    assert code == 0, said
    code, table, said = command("detect", "score", tiny.out)
    assert code == 0, said
    assert "threshold" in table


BAD = [
    ({"folder": "none"}, "no such folder"),
    ({"folder": "empty"}, "holds no model of transformers"),
    ({"quantization": "awq"}, "cannot be trained on"),
]


@pytest.mark.parametrize(("change", "telling"), BAD, ids=[telling for _, telling in BAD])
def test_a_base_that_cannot_be_loaded_is_one_line(
    llama, experiment, command, tmp_path, change, telling
):
    (tmp_path / "empty").mkdir()
    tiny = experiment(tmp_path / change["folder"] if "folder" in change else llama)
    if "quantization" in change:
        text = tiny.config.read_text()
        tiny.config.write_text(text.replace("bitsandbytes", change["quantization"]))
    code, _, said = command("detect", "train", *tiny.where)
    assert code == 1
    assert telling in said.strip().splitlines()[-1]


def test_a_model_that_is_not_in_the_cache_says_how_to_get_it(llama, experiment, command):
    tiny = experiment(llama)
    text = tiny.config.read_text()
    tiny.config.write_text(text.replace(f'folder = "{llama}"\n', ""))
    code, _, said = command("detect", "train", *tiny.where)
    assert code == 1
    assert "hf download org/tiny" in said
    assert "HF_TOKEN" in said  # a gated one wants a token


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "ragmend", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def run(*words):
    process = start(*words)
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


def wait_for_steps(log, n_steps, process):
    while process.poll() is None:
        if log.exists() and log.read_bytes().count(b"\n") >= n_steps:
            return
        time.sleep(0.02)
    pytest.fail(f"ended before step {n_steps}: {process.communicate()[1]}")
