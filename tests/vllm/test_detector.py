"""A real vLLM server with a detector's base and adapter answers what the two say together."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import ragmend
from ragmend.cli.serving.command import Adapter
from ragmend.cli.serving.server import run_server
from ragmend.detector.qlora.adapter_server import adapter_name
from ragmend.detector.training.job import Job
from ragmend.sections.models import ModelConfig
from ragmend.sections.training import Recipe, TrainedModelConfig

pytestmark = pytest.mark.vllm

HERE = Path(__file__).parent
TIE = 1e-3
"""Logits so close are a tie: the two sum in another order, and either token may win."""


def run_there(python, script, *words, given=""):
    """Run a script in the environment of vllm, with this package on its path."""
    own = {"PYTHONPATH": str(Path(ragmend.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, str(HERE / script), *map(str, words)],
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, **own},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(vllm_python, folder, tmp_path_factory):
    """Folders of a base, an adapter and a broken one; the names have what a flag could break on."""
    root = tmp_path_factory.mktemp("detector, a=b")
    found = [root / name for name in ("base", "adapter", "broken")]
    run_there(vllm_python, "make_adapter.py", folder, *found)
    return found


@pytest.fixture(scope="module")
def ask(vllm_python, serve, made, tmp_path_factory):
    """Serve the detector with settings of the base, and ask it and the same one in process."""

    def serve_and_ask(**settings):
        base, adapter, _ = made
        model = ModelConfig(id="org/tiny", folder=str(base), **settings)
        job = Job("tiny", TrainedModelConfig(model=model), Recipe(), 1, (), adapter)
        own = Adapter(adapter_name(job, adapter), adapter, 4)
        served = model.model_copy(update={"max_model_len": 1024})
        environment = {**serve.environment, "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}
        how = serve.model_copy(update={"environment": environment})
        log = tmp_path_factory.mktemp("server") / "log"
        with run_server(served, how, log=log, adapter=own) as running:
            words = (running.base_url, *made)
            said = run_there(vllm_python, "ask_detector.py", *words, given=json.dumps(settings))
        return json.loads(said) | {"name": own.name, "root": str(adapter)}

    return serve_and_ask


@pytest.fixture(scope="module")
def found(ask):
    """What was answered with weights in float32."""
    return ask(dtype="float32")


def told(answers):
    return [(answer["text"], answer["n_tokens"], answer["ended"]) for answer in answers]


def test_answers_are_those_of_base_and_adapter_in_process(found, note):
    rows = list(zip(told(found["served"]), told(found["plain"]), found["plain"], strict=True))
    sure = [(served, plain) for served, plain, how in rows if how["margin"] > TIE]
    note(f"detector: {len(sure)} of {len(rows)} answers without a tie")
    assert len(sure) >= len(rows) * 3 // 4
    for served, plain in sure:
        assert served == plain
    assert not any(answer["problem"] for answer in found["served"])
    assert len({served for served, _ in sure}) > 3
    assert found["distance"]["plain"] < TIE < found["distance"]["base"]


def test_some_answers_end_by_either_token_and_some_at_the_limit(found):
    assert {answer["ended"] for answer in found["served"]} == {True, False}
    for answer in found["served"]:
        assert answer["ended"] or answer["n_tokens"] == 24


def test_the_base_alone_answers_otherwise(found):
    pairs = zip(told(found["served"]), told(found["base"]), strict=True)
    assert sum(served != base for served, base in pairs) > len(found["base"]) // 2


def test_the_server_is_known_by_what_it_says(found):
    facts = found["facts"]
    assert facts["served_as"] == found["name"]
    assert facts["base"] == "org/tiny"
    assert facts["adapter_root"] == found["root"]
    assert facts["max_model_len"] == 1024
    assert facts["tokenizes_alike"] is True


def test_an_adapter_whose_numbers_are_none_gives_no_answer(found):
    assert "log-probabilities are not numbers" in found["broken"]


def test_a_base_in_four_bits_is_the_one_that_was_trained_on(ask, note):
    found = ask(dtype="bfloat16", quantization="bitsandbytes")
    assert not any(answer["problem"] for answer in found["served"])
    apart = found["distance"]
    note(
        "NF4 detector: log-probabilities apart {plain:.2f}, not quantised {whole:.2f}".format(
            **apart
        )
    )
    assert apart["plain"] < apart["whole"] / 2  # in bfloat16 a random model is noisy
    assert apart["plain"] < apart["base"] / 2
