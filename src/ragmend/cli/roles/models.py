"""Opens the language model behind a role: a server, or a model in this process."""

import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.config import quote_key
from ragmend.errors import ConfigError, ServerError
from ragmend.journal import Journal
from ragmend.llm.protocol import LLM
from ragmend.llm.recorded import CheckScores, CheckText, RecordedLLM
from ragmend.paths import shard_path
from ragmend.sections.roles import RoleConfig


class Usage(Protocol):
    """How a model was used since it was opened."""

    def describe(self) -> str:
        """Say it in a few words, for progress."""

    def as_json(self) -> dict[str, JsonValue]:
        """Return the counts, for the manifest."""


class Serving(LLM, Protocol):
    """A model that says what it is and how it was used."""

    @property
    def facts(self) -> dict[str, JsonValue]:
        """What it said of itself."""

    @property
    def usage(self) -> Usage:
        """How it was used."""


class Opened(NamedTuple):
    """A role's language model, ready to answer and recorded; `serving` is what stands behind."""

    llm: LLM
    serving: Serving


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
    """Open the language model of a role, and the journal of its answers.

    Args:
        context: The run.
        name: The role: `verifier`, `rewriter` or a judge's name.
        folder: The folder of the stage that asks.
        label_forms: The words whose log-probabilities will be asked for.
        check_scores: As of a `RecordedLLM`.
        check_text: As of a `RecordedLLM`.

    Raises:
        ConfigError: The configuration names no server for it, or a key is not set.
        ServerError: The server is not there or not the one configured.
    """
    role = context.config.roles()[name]
    async with open_serving(context, name, label_forms=label_forms) as serving:
        with Journal(shard_path(folder, role=name)) as journal:
            recorded = RecordedLLM(
                serving,
                journal,
                _key_of(role),
                check_scores=check_scores,
                check_text=check_text,
            )
            yield Opened(recorded, serving)


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
