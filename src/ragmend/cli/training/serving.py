"""A trained generative detector behind a vLLM server: how that is started, and how it is asked.

vLLM has an environment of its own (`serve.python`); here is the detector's tokenizer.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.cli.serving.command import Adapter
from ragmend.cli.serving.server import run_server
from ragmend.cli.serving.showing import show_command
from ragmend.cli.training.plan import Plan
from ragmend.detector.qlora.adapter_server import adapter_name
from ragmend.detector.qlora.adapters import read_settings
from ragmend.detector.qlora.served import open_served
from ragmend.detector.training.job import Pair, Watch
from ragmend.errors import ConfigError, PreemptedError
from ragmend.io import sha256_of
from ragmend.journal import Journal
from ragmend.paths import shard_path
from ragmend.sections.models import ClientConfig, ModelConfig
from ragmend.trained import DetectorAnswer

SAY_EVERY = 64  # answers between two lines of progress


class ServedAnswers(NamedTuple):
    """What a server answered, by record id, what it said of itself, and counts of its service.

    The last two are empty where every answer was recorded already.
    """

    answers: dict[str, DetectorAnswer]
    facts: dict[str, JsonValue]
    service: dict[str, JsonValue]


def answer_served(
    plan: Plan, pairs: Sequence[Pair], folder: Path, watch: Watch, *, url: str, client: ClientConfig
) -> ServedAnswers:
    """Ask a detector behind a server about pairs; what is answered is recorded at once.

    Args:
        plan: The training; its chosen adapter must be what the server has.
        pairs: The responses with their sources.
        folder: Where answers are recorded.
        watch: Whether the process is asked to end.
        url: As in "http://127.0.0.1:8000/v1".
        client: How the server is asked.

    Raises:
        PreemptedError: A signal asked for an end.
        ServerError: No server, not the right one, or a dead one.
        RagmendError: As `open_served`.
    """
    weights = plan.paths.adapter
    name = adapter_name(plan.job, weights)
    found: dict[str, DetectorAnswer] = {}
    with Journal(shard_path(folder)) as journal:
        for pair in pairs:
            for recorded in journal.read(_key(name, pair), DetectorAnswer) or ():
                found[recorded.record_id] = recorded
        missing = [pair for pair in pairs if pair.response.record_id not in found]
        if not missing:
            return ServedAnswers(found, {}, {})
        keys = {pair.response.record_id: _key(name, pair) for pair in missing}
        # Prompts about one source begin alike: its prefix cache then holds them.
        missing.sort(key=lambda pair: pair.response.source_id)
        with (
            open_served(plan.job, weights, url, client) as predictor,
            closing(predictor.stream(missing)) as stream,
        ):
            for answer in stream:
                found[answer.record_id] = answer
                if answer.problem is None:  # a failure is never recorded as an answer
                    journal.append(keys[answer.record_id], [answer.model_dump(mode="json")])
                if len(found) % SAY_EVERY == 0 or len(found) == len(pairs):
                    watch.say(f"served    {len(found):,} of {len(pairs):,} answers")
                if watch.should_stop():
                    raise PreemptedError(
                        f"{plan.run_id}: stopped after {len(found)} of {len(pairs)} answers; they "
                        "are recorded: run the same command again to go on"
                    )
    return ServedAnswers(found, predictor.facts, predictor.usage.as_json())


def serve_detector(
    context: Context, plan: Plan, *, port: int | None, log: Path | None, dry_run: bool
) -> Iterator[str]:
    """Serve a detector until a signal, and yield what a person needs to know, a line each.

    Args:
        context: The run folder, and how servers are started.
        plan: The training, which is complete.
        port: Where the server listens; None: any port that is free.
        log: Where its output goes; None: among the run's logs of servers.
        dry_run: Only show how it would be started.

    Raises:
        ConfigError, MissingInputError: It cannot be served as configured.
        ServerError: It did not come up, is not what it should be, or ended by itself.
    """
    model, adapter = served_model(plan), _adapter(plan)
    serve, client = context.config.serve, context.config.client
    if dry_run:
        yield from show_command(model, serve, port=port, adapter=adapter)
        return
    where = log or context.paths.server_logs / f"{adapter.name}.log"
    with run_server(model, serve, log=where, port=port, adapter=adapter) as server:
        with open_served(plan.job, adapter.folder, server.base_url, client) as opened:
            facts = opened.facts
        yield f"model     {model.id}, vLLM {facts['version']}, context {model.max_model_len} tokens"
        yield f"adapter   {adapter.name}, and with it the base says something else"
        yield f"use       {_line_to_use(context, plan, server.base_url)}"
        yield "serving   until Ctrl-C"
        server.await_end()


def served_model(plan: Plan) -> ModelConfig:
    """Return the base as its server has it.

    Raises:
        ConfigError: The detector is none that a server can have.
    """
    trained = plan.job.trained
    if trained.kind != "generative":
        raise ConfigError(
            f"{plan.job.name} is a {trained.kind} detector: only a generative one has a server"
        )
    if trained.model.quantization == "bitsandbytes" and trained.model.dtype == "float32":
        raise ConfigError(
            f"{plan.job.name}: vLLM holds 4-bit weights in bfloat16 or float16 only, model.dtype "
            "is float32; predict without --server, or train with another dtype"
        )
    return trained.model.model_copy(update={"max_model_len": plan.job.recipe.max_length})


def _adapter(plan: Plan) -> Adapter:
    folder = plan.paths.adapter
    return Adapter(adapter_name(plan.job, folder), folder, read_settings(folder).r)


def _line_to_use(context: Context, plan: Plan, url: str) -> str:
    root, job = context.paths.root, plan.job
    run = ("--model", job.name, "--seed", str(job.seed), "--out", str(root), "--server", url)
    return shlex.join(["ragmend", "detect", "predict", str(context.paths.config), *run])


def _key(name: str, pair: Pair) -> str:
    response, source = pair
    return sha256_of(
        {
            "served": name,
            "record": response.record_id,
            "response": response.text,
            "source": source.model_dump(mode="json"),
        }
    )
