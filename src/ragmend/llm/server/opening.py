"""Opening a server: it is connected, it is the one configured, and how to ask it is known."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from pydantic import JsonValue

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.server.asking import Asker
from ragmend.llm.server.connection import connect
from ragmend.llm.server.metrics import Usage
from ragmend.llm.server.model import ServerModel
from ragmend.llm.server.probing import (
    PROBE,
    can_tokenize,
    check_context,
    find_labels,
    find_model,
    find_version,
    refuses_system,
)
from ragmend.llm.server.questions import NEUTRAL, Dialect
from ragmend.sections.models import ClientConfig, ModelConfig

__all__ = ["ServerModel", "open_server"]


@asynccontextmanager
async def open_server(
    base_url: str,
    model: ModelConfig,
    client: ClientConfig,
    *,
    label_forms: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[ServerModel]:
    """Connect to a server with OpenAI's interface, and check that it is the configured model.

    Args:
        base_url: As in "http://127.0.0.1:8000/v1".
        model: The model it has to have.
        client: How it is asked.
        label_forms: What `score_labels` scores; without any it cannot be asked.
        environ: Where the API key's variable is looked up; None: this process's environment.

    Yields:
        The model, until the block ends; its `usage` may be read after that.

    Raises:
        ServerError: No server, not this one, or one that cannot do what is asked of it.
        ConfigError: The API key's variable is not set, or holds no key.
    """
    async with connect(
        base_url, model, client, os.environ if environ is None else environ
    ) as connection:
        usage = Usage(connection)
        asker = Asker(connection, client, usage)
        try:
            opened = await _find_out(asker, model, label_forms)
            asker.probes = await opened.probes(PROBE)
        except AnswerFaultError as fault:
            raise ServerError(
                f"{connection.url}: {model.name_on_server!r} does not answer a short question: "
                f"{fault}"
            ) from fault
        await usage.start()
        try:
            yield opened
            await usage.refresh()
        finally:
            await usage.close()


async def _find_out(asker: Asker, model: ModelConfig, label_forms: Sequence[str]) -> ServerModel:
    card = await find_model(asker, model)
    context_length = check_context(card, model, asker.server.url)
    version = await find_version(asker)
    dialect = Dialect(
        model=card.id,
        endpoint=model.endpoint,
        template=model.chat_template_kwargs,
        sampling={} if version is None else NEUTRAL,
    )
    dialect = dialect._replace(tokenizes=await can_tokenize(asker, dialect))
    facts: dict[str, JsonValue] = {
        "model": model.id,
        "served_as": card.id,
        "version": version,
        "max_model_len": context_length,
        "logprobs": None,
    }
    opened = ServerModel(model.id, context_length, facts, asker, dialect)
    if await refuses_system(opened):
        opened = opened.folding_system()
    if not label_forms:
        return opened
    return opened.scoring(await find_labels(opened, label_forms))
