"""Opening a server that has a detector's base and adapter: it is this adapter, and it is used.

A server does not tell what is in an adapter. So its name on a server carries the digest of its
bytes: a server that has the name has this adapter, wherever its files lie, and one that has an
older training's does not.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from ragmend.detector.qlora.adapters import SETTINGS, WEIGHTS
from ragmend.detector.qlora.asking import PATH, Asking
from ragmend.detector.qlora.tokens import Coder
from ragmend.detector.training.job import Job
from ragmend.errors import AnswerFaultError, ConfigError, ServerError
from ragmend.io import sha256_of, sha256_of_file
from ragmend.llm.server.answers import ModelCard, Tokens
from ragmend.llm.server.asking import Asker, Question
from ragmend.llm.server.connection import connect
from ragmend.llm.server.faults import MissingEndpointError
from ragmend.llm.server.metrics import Usage
from ragmend.llm.server.probing import find_version
from ragmend.llm.server.questions import NEUTRAL, Dialect
from ragmend.sections.models import ClientConfig

DIGITS = 12
SHORT = "Is water wet?"
SHORT_TOKENS = 4
SAME_LOGPROB = 1e-5
"""Two log-probabilities of one token that are so close, in nats, are one."""


class Opened(NamedTuple):
    """A server that is the right one.

    Attributes:
        asking: How it is asked.
        facts: What it said of itself, for the record.
        usage: Live counts of what it answered.
    """

    asking: Asking
    facts: dict[str, JsonValue]
    usage: Usage


def adapter_name(job: Job, weights: Path) -> str:
    """Return the name under which a server has an adapter: "llama-2-13b--seed-42--5be2d41f0c9a".

    Raises:
        MissingInputError: There is no adapter in the folder.
    """
    digest = sha256_of({name: sha256_of_file(weights / name) for name in (SETTINGS, WEIGHTS)})
    return f"{job.run_id.replace('/', '--')}--{digest[:DIGITS]}"


@asynccontextmanager
async def open_adapter(
    job: Job,
    weights: Path,
    coder: Coder,
    url: str,
    client: ClientConfig,
    *,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[Opened]:
    """Connect to a server, and check that it has the adapter, on its base, and uses it.

    Args:
        job: The training.
        weights: The folder of its adapter.
        coder: Its tokenizer.
        url: As in "http://127.0.0.1:8000/v1".
        client: How the server is asked.
        environ: Where the API key's variable is looked up; None: this process's environment.

    Raises:
        ServerError: No server, or not the right one; the message says how to start that.
        ConfigError: The API key's variable is not set.
        MissingInputError: There is no adapter.
    """
    if job.trained.kind != "generative":
        raise ConfigError(
            f"{job.name} is a {job.trained.kind} detector: only a generative one has a server"
        )
    name = adapter_name(job, weights)
    model = job.trained.model.model_copy(update={"served_name": name})
    async with connect(url, model, client, os.environ if environ is None else environ) as server:
        usage = Usage(server)
        asker = Asker(server, client, usage)
        try:
            opened = await _find_out(job, name, coder, asker)
        except AnswerFaultError as fault:
            raise ServerError(
                f"{server.url}: no answer to a short question as vLLM gives one: {fault}; put its "
                "address right, or serve the detector with vLLM"
            ) from fault
        await usage.start()
        try:
            yield opened
            await usage.refresh()
        finally:
            await usage.close()


async def _find_out(job: Job, name: str, coder: Coder, asker: Asker) -> Opened:
    cards = (await asker.ask("models", None, _Cards.model_validate_json)).data
    found = _find_cards(job, name, cards, asker)
    version = await find_version(asker)
    dialect = Dialect(name, "completions", {}, {} if version is None else NEUTRAL)
    asking = Asking(asker, dialect, coder.end_ids)
    facts: dict[str, JsonValue] = {
        "model": job.trained.model.id,
        "served_as": name,
        "version": version,
        "max_model_len": found.context_length,
        "logprobs": "chosen",
        "base": found.base.id,
        "base_root": found.base.root,
        "adapter_root": found.adapter.root,
        "tokenizes_alike": await _tokenizes_alike(coder, asking),
    }
    await _check_use(coder, asking, found.base.id)
    ids = coder.prompt_ids(SHORT)
    body = asking.body(ids, max_tokens=1)
    read = partial(asking.read, ids=ids, model=name)
    asker.probes = {PATH: Question[object](PATH, body, read)}
    return Opened(asking, facts, asker.usage)


class _Card(ModelCard):
    root: str | None = None
    parent: str | None = None


class _Cards(BaseModel):
    data: list[_Card]


class _Found(NamedTuple):
    adapter: _Card
    base: _Card
    context_length: int


def _find_cards(job: Job, name: str, cards: list[_Card], asker: Asker) -> _Found:
    """Return what the server says of adapter and base.

    Raises:
        ServerError: It does not have them, or not together, or not with enough context.
    """
    url, hide = asker.server.url, asker.server.hide_key
    by_name = {card.id: card for card in cards}
    base_name = job.trained.model.name_on_server
    start = "start the one that `ragmend detect serve` starts"
    if (adapter := by_name.get(name)) is None:
        there = ", ".join(repr(hide(card.id)) for card in cards) or "no model"
        raise ServerError(
            f"{url} does not have the adapter {name!r}, it has {there}; the last digits of the "
            f"name are those of the adapter's bytes, so one trained again has another: {start}"
        )
    if adapter.parent != base_name:
        parent = "no model" if adapter.parent is None else repr(hide(adapter.parent))
        raise ServerError(
            f"{url} has {name!r} on {parent}, expected an adapter on {base_name!r}: {start}"
        )
    base = by_name.get(base_name)
    length = None if base is None else base.max_model_len
    wanted = job.recipe.max_length
    if base is None or length is None or length < wanted:
        raise ServerError(
            f"{url} serves {base_name!r} with a context of {length or 'unknown'} tokens, the "
            f"detector was trained on up to {wanted}: start it with --max-model-len {wanted}"
        )
    return _Found(adapter, base, length)


async def _tokenizes_alike(coder: Coder, asking: Asking) -> bool | None:
    """Tell whether the server makes the same tokens of a text; None where it makes none.

    Nothing depends on its tokenizer, but one that differs is that of another base.

    Raises:
        ServerError: It makes others.
    """
    body, read = asking.dialect.to_tokenize_text(SHORT), Tokens.model_validate_json
    try:
        theirs = (await asking.asker.ask("/tokenize", body, read)).tokens
    except MissingEndpointError:
        return None
    ours = coder.target_ids(SHORT)[:-1]
    if theirs != ours:
        raise ServerError(
            f"{asking.asker.server.url}: its tokenizer makes {theirs} of {SHORT!r}, the "
            f"detector's makes {ours}: it has another base, or another revision of it"
        )
    return True


async def _check_use(coder: Coder, asking: Asking, base: str) -> None:
    """Find out that the adapter changes what its base says.

    Raises:
        ServerError: It does not.
    """
    ids = coder.prompt_ids(SHORT)
    adapted = await asking.write(ids, max_tokens=SHORT_TOKENS)
    plain = await asking.write(ids, max_tokens=SHORT_TOKENS, model=base)
    pairs = zip(adapted.logprobs, plain.logprobs, strict=False)
    if adapted.ids == plain.ids and all(abs(one - two) <= SAME_LOGPROB for one, two in pairs):
        raise ServerError(
            f"{asking.asker.server.url}: with the adapter {asking.dialect.model!r} the base says "
            "what it says without: either the server does not use it, or it adds nothing "
            "(`ragmend detect diagnose` shows that)"
        )
