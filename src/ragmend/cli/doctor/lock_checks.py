"""The protocol: its threshold and prompts, and whether they are what the lock of a run says."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from ragmend.cli.context import Context
from ragmend.cli.doctor.findings import Finding, check, examine, unchecked
from ragmend.cli.protocol import DECIDES, PROMPT_ENTRY, Lock, current_protocol, read_lock
from ragmend.cli.roles.identities import prompt_entries
from ragmend.errors import RunStateError
from ragmend.paths import manifest_path

_OF_THEIR_OWN = ("threshold", *PROMPT_ENTRY.values())
_NO_LOCK = "nothing is locked yet"


def check_protocol(context: Context) -> Iterator[Finding]:
    """Check threshold and prompts, and where there is a lock, every entry of it."""
    if not is_locked(context):
        yield check("threshold", lambda: f"{_threshold(context):g}; {_NO_LOCK}")
        yield check("prompts", lambda: f"{_name_all(prompt_entries(context.config))}; {_NO_LOCK}")
        yield unchecked("protocol", _NO_LOCK)
        return
    examined = examine("lock", lambda: read_lock(context), _describe)
    yield examined.finding
    lock = examined.value
    if lock is None:
        for name in ("threshold", "prompts", "protocol"):
            yield unchecked(name, "the lock cannot be read")
        return
    yield check("threshold", lambda: _check_threshold(lock, context))
    yield check("prompts", lambda: _check_prompts(lock, context))
    yield check("protocol", lambda: _check_entries(lock, context))


def is_locked(context: Context) -> bool:
    """Tell whether a run's population is drawn, so that a lock is there or should be."""
    paths = context.paths
    return paths.lock.exists() or manifest_path(paths.population).is_file()


def _describe(lock: Lock) -> str:
    amended = ", ".join(f"{each.entry} {each.when}" for each in lock.amendments) or "nothing"
    return f"judging {'has' if lock.judged else 'has not'} begun; amended: {amended}"


def _threshold(context: Context) -> float:
    return context.config.verifier.threshold


def _check_threshold(lock: Lock, context: Context) -> str:
    now, locked = _threshold(context), lock.protocol.get("threshold")
    if locked != now:
        raise RunStateError(f"it is {now:g}, locked is {locked}: {_advise('threshold')}")
    return f"{now:g}, as locked"


def _check_prompts(lock: Lock, context: Context) -> str:
    now = prompt_entries(context.config)
    was = {role: lock.protocol.get(entry) for role, entry in PROMPT_ENTRY.items()}
    changed = [role for role in now if was[role] != now[role]]
    if changed:
        raise RunStateError(
            f"changed since the lock ({', '.join(changed)}): now {_name_all(now)}, "
            f"locked {_name_all(was)}: {_advise(PROMPT_ENTRY[changed[0]])}"
        )
    return f"{_name_all(now)}; as locked"


def _name_all(prompts: Mapping[str, JsonValue]) -> str:
    named = "; ".join(_name(role, entry) for role, entry in prompts.items() if entry)
    return named or "none, all is embedded"


def _name(role: str, entry: JsonValue) -> str:
    if not isinstance(entry, dict):
        return f"{role} {entry}"
    return (
        f"{role} {entry.get('name')} version {entry.get('version')} ({entry.get('sha256')!s:.12})"
    )


def _check_entries(lock: Lock, context: Context) -> str:
    changed = _changed(lock, current_protocol(context))
    if changed:
        said = ", ".join(f"{entry} ({DECIDES.get(entry, 'select')})" for entry in changed)
        raise RunStateError(
            f"no longer what {context.paths.lock.name} says, with the first stage that each "
            f"decides: {said}; `ragmend run … --redo STAGE` amends it, another --out makes a new "
            "run"
        )
    return f"{len(lock.protocol)} entries as locked"


def _changed(lock: Lock, now: Mapping[str, JsonValue]) -> list[str]:
    names = [name for name in {**lock.protocol, **now} if name not in _OF_THEIR_OWN]
    return [name for name in names if lock.protocol.get(name) != now.get(name)]


def _advise(entry: str) -> str:
    return f"`ragmend run … --redo {DECIDES[entry]}` amends it, another --out makes a new run"
