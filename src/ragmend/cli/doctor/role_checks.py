"""Every role: whether what plays it opens, and whether it answers."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ragmend.cli.context import Context
from ragmend.cli.doctor.findings import CHECKED, Finding, failure, unchecked, well
from ragmend.cli.doctor.smoke import ask_judge, ask_rewriter, ask_verifier
from ragmend.cli.event_loop import run_to_end
from ragmend.cli.roles import parts
from ragmend.errors import AnswerFaultError, ConfigError
from ragmend.io import shorten
from ragmend.sections.roles import RoleConfig

P = TypeVar("P")


def check_roles(context: Context, role: str | None = None) -> Iterator[Finding]:
    """Open each role, one after another, and ask it about one small case.

    What is answered is recorded in no run.

    Args:
        context: The run.
        role: Only this one.

    Raises:
        ConfigError: There is no such role.
    """
    roles = list(context.config.roles())
    if role is not None and role not in roles:
        raise ConfigError(f"--role {role}: no such role, there are: {', '.join(roles)}")
    for name in roles if role is None else [role]:
        with TemporaryDirectory() as folder:
            yield from run_to_end(partial(_check_role, context, name, Path(folder)))


def leave_out_roles(context: Context, why: str) -> Iterator[Finding]:
    """Say of each role that it is not checked."""
    for name in context.config.roles():
        yield unchecked(name, why)


async def _check_role(context: Context, name: str, folder: Path) -> list[Finding]:
    config = context.config
    role = config.roles()[name]
    if name == "verifier":
        ask = partial(ask_verifier, threshold=config.verifier.threshold)
        return await _try(name, role, parts.open_verifier(context, folder), ask)
    if name == "rewriter":
        return await _try(name, role, parts.open_rewriter(context, folder), ask_rewriter)
    judge = next(judge for judge in config.judges.panel if judge.name == name)
    opening = parts.open_judge(context, judge, folder)
    return await _try(f"judge {name}", role, opening, partial(ask_judge, name=name))


async def _try(
    name: str,
    role: RoleConfig,
    opening: AbstractAsyncContextManager[parts.Handle[P]],
    ask: Callable[[P], Awaitable[str]],
) -> list[Finding]:
    found: list[Finding] = []
    try:
        async with opening as handle:
            await handle.open()
            found.append(well(f"{name} opens", _describe(role, handle)))
            found.append(await _ask(f"{name} answers", ask(handle.part)))
    except CHECKED as error:
        return [*found, failure(f"{name} closes", error)] if found else _unopened(name, error)
    return found


def _unopened(name: str, error: Exception) -> list[Finding]:
    return [failure(f"{name} opens", error), unchecked(f"{name} answers", "it did not open")]


async def _ask(name: str, answer: Awaitable[str]) -> Finding:
    try:
        return well(name, await answer)
    except AnswerFaultError as error:
        came = f"; it answered {shorten(error.raw)}" if error.raw else ""
        return failure(name, ConfigError(f"{error.status}: {error}{came}"))
    except CHECKED as error:
        return failure(name, error)


def _describe(role: RoleConfig, handle: parts.Handle[P]) -> str:
    if role.backend == "lexical" or handle.model is None:
        return "embedded, no language model"
    facts = handle.model.facts.items()
    told = [f"{key} {value}" for key, value in facts if isinstance(value, str | int | float)]
    return f"{role.backend}: {', '.join([role.language_model.id, *told])}"
