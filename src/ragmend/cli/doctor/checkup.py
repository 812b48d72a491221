"""All checks of a configuration or a run, in order; none is left out because another failed."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from ragmend.cli.context import Context
from ragmend.cli.doctor.data_checks import check_data
from ragmend.cli.doctor.findings import Finding, examine, unchecked
from ragmend.cli.doctor.lock_checks import check_protocol
from ragmend.cli.doctor.record_checks import check_records
from ragmend.cli.doctor.role_checks import check_roles, leave_out_roles
from ragmend.cli.experiment import load_experiment_config, reopen_experiment
from ragmend.config import Config
from ragmend.manifest import current_environment
from ragmend.paths import RunPaths


def check_up(
    target: str,
    overrides: Sequence[str] = (),
    *,
    out: Path | None = None,
    asks_models: bool = True,
    serves: bool = False,
    role: str | None = None,
) -> Iterator[Finding]:
    """Check a configuration, or a run if `target` is a folder; a finding comes when it is made.

    Args:
        target: A configuration's path or shipped name, or a run folder.
        overrides: `key=value` strings.
        out: Where a configuration's run is, if one is; `runs/<name>` when None.
        asks_models: Whether the roles are opened and asked.
        serves: Whether servers are started here, one after another, for the roles that need one.
        role: Only this role is opened and asked, and nothing but the protocol is checked besides.

    Raises:
        ConfigError: There is no such role.
    """
    is_run = Path(target).is_dir()
    examined = examine("configuration", lambda: _load(target, overrides, is_run), _describe)
    yield examined.finding
    config = examined.value
    if config is None:
        yield unchecked("all else", "there is no configuration")
        return
    root = Path(target) if is_run else out or Path("runs") / config.name
    context = Context(config, RunPaths(root), current_environment())
    if role is not None:
        yield from check_protocol(context)
        yield from _check_roles(context, serves=serves, role=role)
        return
    yield from check_data(context)
    yield from check_protocol(context)
    if asks_models:
        yield from _check_roles(context, serves=serves)
    else:
        yield from leave_out_roles(context, "--without-models")
    if is_run:
        yield from check_records(context)


def _load(target: str, overrides: Sequence[str], is_run: bool) -> Config:
    if not is_run:
        return load_experiment_config(target, overrides)
    reopened = reopen_experiment(Path(target)).context
    return (
        load_experiment_config(str(reopened.paths.config), overrides)
        if overrides
        else reopened.config
    )


def _describe(config: Config) -> str:
    roles = (f"{name} {role.backend}" for name, role in config.roles().items())
    return f"{config.name}; {', '.join(roles)}"


def _check_roles(context: Context, *, serves: bool, role: str | None = None) -> Iterator[Finding]:
    with ExitStack() as stack:
        if serves:
            from ragmend.cli.serving.keeper import ServerKeeper

            logs = Path(stack.enter_context(TemporaryDirectory()))
            keeper = stack.enter_context(ServerKeeper(context.config.serve, logs))
            context = context._replace(keeper=keeper)
        yield from check_roles(context, role)
