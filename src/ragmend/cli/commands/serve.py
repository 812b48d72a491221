"""`ragmend serve`: the model server of one role, until Ctrl-C."""

import shlex
from functools import partial
from pathlib import Path

import click

from ragmend.cli.context import say
from ragmend.cli.experiment import load_experiment_config
from ragmend.cli.serving.command import LOOPBACK
from ragmend.cli.serving.server import EVERY_ADDRESS, base_url, run_server
from ragmend.cli.serving.showing import show_command
from ragmend.config import Config
from ragmend.errors import ConfigError
from ragmend.sections.models import ModelConfig
from ragmend.sections.roles import RoleConfig

LOOPBACK_ADDRESSES = (LOOPBACK, "::1", "localhost")


@click.command("serve")
@click.argument("role")
@click.argument("config")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; KEY= unsets it."
)
@click.option("--port", type=click.IntRange(1, 65535), help="Its port [any that is free].")
@click.option("--host", default=LOOPBACK, show_default=True, help="The address it listens at.")
@click.option(
    "--log", type=click.Path(path_type=Path), help="Where its output goes [serve-ROLE.log]."
)
@click.option("--dry-run", is_flag=True, help="Print the command and its variables only.")
def serve_command(
    role: str,
    config: str,
    overrides: tuple[str, ...],
    port: int | None,
    host: str,
    log: Path | None,
    dry_run: bool,
) -> None:
    """Start the vLLM server of ROLE: verifier, rewriter or a judge's name.

    Its flags come from CONFIG. Once it answers, it is asked one question; then it stays until
    Ctrl-C or SIGTERM, and ends with all of its processes.
    """
    loaded = load_experiment_config(config, overrides)
    served = _served_role(loaded, role)
    model = served.language_model
    if host not in LOOPBACK_ADDRESSES:
        say(_describe_exposure(host, model))
    if dry_run:
        for line in show_command(model, loaded.serve, port=port, host=host):
            click.echo(line)
        return
    where = log or Path(f"serve-{role.replace('/', '-')}.log")
    with run_server(model, loaded.serve, log=where, port=port, host=host) as server:
        _self_test(server.base_url, loaded, served)
        url = _outside_url(server.base_url, host)
        click.echo(f"use       {_line_to_use(config, overrides, role, url)}")
        click.echo("serving   until Ctrl-C")
        server.await_end()


def _served_role(config: Config, name: str) -> RoleConfig:
    roles = config.roles()
    if name not in roles:
        raise ConfigError(f"{config.name}: no role {name!r}, there are: {', '.join(roles)}")
    role = roles[name]
    if role.backend != "openai":
        why = {
            "lexical": "it is embedded and has no language model",
            "transformers": "its model is loaded in the process of `ragmend run`",
        }[role.backend]
        raise ConfigError(
            f"{config.name}: {name} has backend {role.backend!r}: {why}; only a role with backend "
            "'openai' has a server"
        )
    return role


def _describe_exposure(host: str, model: ModelConfig) -> str:
    key = model.api_key_env
    who = "everybody who reaches it" if key is None else f"everybody with the key in {key}"
    return f"warning   the server at {host} is open to other machines and answers {who}" + (
        "; `api_key_env` gives it a key" if key is None else ""
    )


def _self_test(url: str, config: Config, role: RoleConfig) -> None:
    from ragmend.cli.event_loop import run_to_end
    from ragmend.cli.serving.self_test import ask_once

    found = run_to_end(partial(ask_once, url, role, config.client))
    version = "no version told" if found.version is None else f"vLLM {found.version}"
    model = role.language_model
    click.echo(f"model     {model.id}, {version}, context {found.context_length:,} tokens")
    click.echo(f"self-test {found.answer}")


def _outside_url(url: str, host: str) -> str:
    """Return where other machines find a server that listens at every address."""
    if host not in EVERY_ADDRESS:
        return url
    import socket

    port = int(url.removesuffix("/v1").rpartition(":")[2])
    return base_url(socket.gethostname(), port)


def _line_to_use(config: str, overrides: tuple[str, ...], role: str, url: str) -> str:
    name = role if role.replace("-", "").replace("_", "").isalnum() else f'"{role}"'
    settings = [*overrides, f"servers.{name}={url}"]
    words = [word for setting in settings for word in ("--set", setting)]
    return shlex.join(["ragmend", "run", config, *words])
