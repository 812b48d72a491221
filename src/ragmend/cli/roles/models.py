"""Opens the language model behind a role: a server, or a model in this process."""

import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.cli.roles.standby import Asked, Memory, Opening, Serving, Standby, standby
from ragmend.cli.sharding.fold import Fold
from ragmend.cli.sharding.journals import Journals, journals_of, open_journal
from ragmend.config import quote_key
from ragmend.errors import ConfigError, ServerError
from ragmend.llm.protocol import LLM
from ragmend.llm.recorded import CheckScores, CheckText, RecordedLLM
from ragmend.paths import shard_facts_path
from ragmend.sections.roles import RoleConfig


class Opened(NamedTuple):
    """A role's language model with its recorded answers; `standby` is what stands behind."""

    llm: LLM
    standby: Standby


@asynccontextmanager
async def open_model(
    context: Context,
    name: str,
    folder: Path,
    *,
    label_forms: Sequence[str] = (),
    check_scores: CheckScores | None = None,
    check_text: CheckText | None = None,
) -> AsyncIterator[Opened]:
    """Hold the language model of a role ready, and open the journal of its answers.

    The model itself is opened when somebody calls `Standby.open`.

    Args:
        context: The run.
        name: The role: `verifier`, `rewriter` or a judge's name.
        folder: The folder of the stage that asks.
        label_forms: The words whose log-probabilities will be asked for.
        check_scores: As of a `RecordedLLM`.
        check_text: As of a `RecordedLLM`.

    Raises:
        RunStateError, DataError: The journal is in use or damaged.
    """
    role = context.config.roles()[name]
    opening = partial(open_serving, context, name, label_forms=label_forms)
    journals = journals_of(context, folder, role=name)
    with open_journal(journals) as journal:
        async with _held(role.language_model.id, opening, context.fold, name, journals) as model:
            recorded = RecordedLLM(
                model,
                journal,
                _key_of(role),
                check_scores=check_scores,
                check_text=check_text,
            )
            yield Opened(recorded, model)


@asynccontextmanager
async def open_serving(
    context: Context, name: str, *, label_forms: Sequence[str] = ()
) -> AsyncIterator[Serving]:
    """Open the language model of a role without any journal; see `open_model`."""
    role = context.config.roles()[name]
    opening = _in_process if role.backend == "transformers" else _on_server
    try:
        async with opening(context, name, label_forms) as serving:
            yield serving
    except (ServerError, ConfigError) as error:
        raise type(error)(f"{name}: {error}") from error


@asynccontextmanager
async def _held(
    model: str, opening: Opening, fold: Fold | None, name: str, journals: Journals
) -> AsyncIterator[Standby]:
    """Hold a role's model ready, or what is known of it where nobody may be asked."""
    if journals.own is not None:
        memory = Memory(
            shard_facts_path(journals.own), tuple(map(shard_facts_path, journals.others))
        )
        async with standby(model, opening, memory) as ready:
            yield ready
    else:
        folded = fold or Fold({})
        yield Asked(model, folded.facts(name), folded.usage(name))


@asynccontextmanager
async def _in_process(
    context: Context, name: str, label_forms: Sequence[str]
) -> AsyncIterator[Serving]:
    from ragmend.llm.in_process.opening import open_in_process

    model = context.config.roles()[name].language_model
    async with open_in_process(model, label_forms=label_forms) as in_process:
        yield in_process


@asynccontextmanager
async def _on_server(
    context: Context, name: str, label_forms: Sequence[str]
) -> AsyncIterator[Serving]:
    from ragmend.llm.server.opening import open_server

    config = context.config
    url, model = await _server_url(context, name), config.roles()[name].language_model
    async with open_server(url, model, config.client, label_forms=label_forms) as server:
        yield server


async def _server_url(context: Context, name: str) -> str:
    """Return where a role's server is: a named one, else one that is started here."""
    url = context.config.servers.get(name)
    if url is not None:
        return url
    if context.keeper is not None:
        return await context.keeper.url_in_loop(
            context.config.roles()[name].language_model, role=name
        )
    raise ConfigError(
        f"there is no server for it: name one by --set 'servers.{quote_key(name)}="
        f"http://HOST:PORT/v1', start one by `ragmend serve {shlex.quote(name)} CONFIG`, or let "
        "--serve start it here"
    )


def _key_of(role: RoleConfig) -> dict[str, JsonValue]:
    return {"backend": role.backend, **role.language_model.identity()}
