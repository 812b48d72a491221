"""A detector behind a server: how it is started, and how its answers are recorded."""

import json
import shlex
from itertools import pairwise

import pytest
from adapter_server import AdapterServer, Characters
from fault_plan import Plan as Faults

from ragmend.cli.experiment import open_experiment
from ragmend.cli.training.plan import RunName, plan_training
from ragmend.cli.training.serving import answer_served, serve_detector, served_model
from ragmend.detector.qlora import served
from ragmend.detector.qlora.adapter_server import adapter_name
from ragmend.detector.qlora.tokens import Coder
from ragmend.detector.training.job import Pair
from ragmend.errors import ConfigError, MissingInputError, PreemptedError, ServerError
from ragmend.records import Response, Source
from ragmend.sections.models import ClientConfig

CLIENT = ClientConfig(concurrency=4, backoff_s=0.001, max_backoff_s=0.002, max_tries=3)


class Tokenizer(Characters):
    """The server's characters, with the interface that a detector's tokenizer has."""

    def encode(self, text, **how):
        return super().encode(text)

    def decode(self, tokens, **how):
        return super().decode(tokens)


class Watch:
    """Asks for an end after so many looks."""

    def __init__(self, n_looks=10**9):
        self.n_looks = n_looks
        self.said = []

    def should_stop(self):
        self.n_looks -= 1
        return self.n_looks < 0

    def say(self, text):
        self.said.append(text)


@pytest.fixture
def context(experiment):
    return open_experiment(str(experiment.config), experiment.out, ()).context


@pytest.fixture
def plan(context, monkeypatch):
    """A training whose adapter is there; its tokenizer has a token a character."""
    coder = Coder(Tokenizer(), begin_id=1, end_id=2, end_ids=frozenset({2}), pad_id=0)
    monkeypatch.setattr(served, "load_coder", lambda job, *, to_ask_a_server: coder)
    plan = plan_training(context, RunName("big", 2))
    plan.paths.adapter.mkdir(parents=True)
    (plan.paths.adapter / "adapter_model.safetensors").write_bytes(b"matrices")
    settings = {"r": 24, "lora_alpha": 64, "target_modules": ["q_proj"]}
    (plan.paths.adapter / "adapter_config.json").write_text(json.dumps(settings))
    return plan


@pytest.fixture
def serve(plan):
    def start(faults=None):
        return AdapterServer(faults, adapter=adapter_name(plan.job, plan.paths.adapter),
                             base="none/big")  # fmt: skip

    return start


@pytest.fixture
def ask(plan, tmp_path):
    """Ask about twelve responses of three sources, two of which are alike in every letter."""
    pairs = [
        Pair(
            Response(record_id=f"r{n}", source_id=f"s{n % 3}", generator="g", split="test",
                     text="Alike." if n < 6 else f"Town {n} has {n} bridges."),
            Source(source_id=f"s{n % 3}", task_type="Summary", text=f"Towns of {n % 3}."),
        )
        for n in range(12)
    ]  # fmt: skip

    def run(server, watch=None):
        return answer_served(
            plan, pairs, tmp_path / "asked", watch or Watch(), url=server.url, client=CLIENT
        )

    return run


def n_asked(server):
    return sum(len(body["prompt"]) > 100 for _, body in server.recent)


def test_every_response_is_answered_once_and_none_again(serve, ask):
    with serve() as server:
        first = ask(server)
        again = ask(server)
    assert sorted(first.answers) == sorted(f"r{n}" for n in range(12))
    assert n_asked(server) == 12
    assert again.answers == first.answers
    assert first.facts["base"] == "none/big"
    assert first.service["n_requests"] == 12
    assert (again.facts, again.service) == ({}, {})


def test_responses_of_one_source_are_asked_about_together(serve, ask):
    with serve() as server:
        ask(server)
    sources = ["".join(map(chr, b["prompt"])).partition("Towns of ")[2][:1]
               for _, b in server.recent if len(b["prompt"]) > 100]  # fmt: skip
    changes = sum(one != two for one, two in pairwise(sources))
    assert changes < 2 * CLIENT.concurrency  # in the data's order each is of another source


def test_a_faulty_answer_is_not_recorded_and_asked_again(serve, ask):
    with serve(Faults(final_rate=0.4, final_scored=("refused",))) as server:
        first = ask(server)
        faulty = {key for key, answer in first.answers.items() if answer.problem == "refused"}
        assert 0 < len(faulty) < 12
        server.faults_off()
        asked_before = n_asked(server)
        again = ask(server)
    assert n_asked(server) - asked_before == len(faulty)
    assert all(answer.problem is None for answer in again.answers.values())
    kept = first.answers.keys() - faulty
    assert all(again.answers[key] == first.answers[key] for key in kept)


def test_after_a_dead_server_only_what_is_missing_is_asked(serve, ask):
    with serve() as server:
        # Opening asks two questions before it.
        server.inject(Faults(die_after=7, dies_by="health"))
        with pytest.raises(ServerError, match="the server died"):
            ask(server)
        server.faults_off()
        server.recent.clear()
        found = ask(server)
    assert 0 < n_asked(server) <= 12 - 4
    assert len(found.answers) == 12


def test_a_signal_ends_it_with_everything_recorded(serve, ask):
    with serve() as server:
        with pytest.raises(PreemptedError, match=r"stopped after 5 of 12 answers"):
            ask(server, Watch(4))
        server.recent.clear()
        ask(server)
    assert n_asked(server) == 7


def test_the_command_has_base_adapter_and_context(context, plan):
    lines = list(serve_detector(context, plan, port=8123, log=None, dry_run=True))
    assert lines[0] == "VLLM_NO_USAGE_STATS=1"
    command = shlex.split(lines[-1])
    value = {flag: command[at + 1] for at, flag in enumerate(command) if flag.startswith("--")
             and at + 1 < len(command)}  # fmt: skip
    assert value["--model"] == value["--served-model-name"] == "none/big"
    assert value["--host"] == "127.0.0.1"
    assert value["--port"] == "8123"
    assert value["--max-model-len"] == "2048"
    assert value["--max-lora-rank"] == "32"
    assert "--enable-lora" in command
    module = json.loads(value["--lora-modules"])
    assert module["name"].startswith("big--seed-2--")
    assert module["path"] == str(plan.paths.adapter)


def with_base(plan, **settings):
    trained = plan.job.trained
    model = trained.model.model_copy(update=settings)
    job = plan.job._replace(trained=trained.model_copy(update={"model": model}))
    return plan._replace(job=job)


def test_a_base_in_four_bits_is_served_in_four_bits(context, plan):
    four_bits = with_base(plan, quantization="bitsandbytes", dtype="bfloat16", revision="abc")
    lines = serve_detector(context, four_bits, port=None, log=None, dry_run=True)
    command = " ".join(shlex.split(list(lines)[-1]))
    assert "--quantization bitsandbytes" in command
    assert "--dtype bfloat16" in command
    assert "--revision abc" in command


def test_four_bits_beside_float32_are_refused(plan):
    wide = with_base(plan, quantization="bitsandbytes", dtype="float32")
    with pytest.raises(ConfigError, match="bfloat16 or float16 only"):
        served_model(wide)


def test_a_rank_that_no_server_takes_is_refused(context, plan):
    path = plan.paths.adapter / "adapter_config.json"
    path.write_text(path.read_text().replace("24", "513"))
    with pytest.raises(ConfigError, match="rank 513 cannot be served, vLLM takes 512 at most"):
        list(serve_detector(context, plan, port=None, log=None, dry_run=True))


def test_a_training_without_an_adapter_is_not_served(context, plan):
    (plan.paths.adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(MissingInputError, match=r"adapter_model\.safetensors"):
        list(serve_detector(context, plan, port=None, log=None, dry_run=True))
