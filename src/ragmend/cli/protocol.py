"""The protocol lock: what was fixed before any judging, and what was changed after all."""

import json

from pydantic import JsonValue, ValidationError

from ragmend.cli.context import Context, say
from ragmend.errors import DataError, RunStateError
from ragmend.io import explain, sha256_of_file, write_bytes
from ragmend.paths import STAGE_NAMES, StageName
from ragmend.records import CONDITIONS, Record
from ragmend.repair.arms import ARM_POLICIES

PRIMARY_CONTRASTS = (
    "original-removal",
    "original-extractive",
    "original-generative",
    "removal-extractive",
    "extractive-generative",
)
EXPLORATORY_CONTRASTS = ("removal-generative",)
# The first stage whose results each entry decides.
DECIDES: dict[str, StageName] = {
    "population": "select",
    "evidence": "match",
    "verify": "verify",
    "verifier": "verify",
    "threshold": "propose",
    "verify_edit": "propose",
    "rewriter": "propose",
    "candidates_for": "propose",
    "arms": "assemble",
    "judges": "judge",
    "primary_judge": "judge",
    "outcomes": "judge",
    "contrasts": "analyze",
    "analysis": "analyze",
    "prompts": "verify",
}


class Amendment(Record):
    """One entry that was changed after the lock had been written."""

    entry: str
    was: JsonValue
    now: JsonValue
    after_judging: bool


class Lock(Record):
    """The protocol of a run, as `protocol.lock.json` holds it."""

    schema_version: int = 1
    protocol: dict[str, JsonValue]
    amendments: tuple[Amendment, ...] = ()


def write_lock(context: Context) -> None:
    """Fix the protocol; a lock that is already there must say the same."""
    if context.paths.lock.is_file():
        check_lock(context)
    else:
        _write(context, Lock(protocol=current_protocol(context)))


def check_lock(context: Context) -> None:
    """Check that the configuration still says what the lock says.

    Raises:
        RunStateError: It does not; the message names the entry and the stage to redo.
    """
    lock = read_lock(context)
    changed = _changed(lock.protocol, current_protocol(context))
    if changed:
        entry = changed[0]
        raise RunStateError(
            f"the protocol is locked and {entry} is no longer what {context.paths.lock.name} "
            f"says; the first stage that it decides is {DECIDES[entry]}: use --redo "
            f"{DECIDES[entry]}, or another --out for a new run"
        )


def amend_lock(context: Context, redo: StageName) -> None:
    """Take over changed entries that decide nothing before the stage that is redone."""
    if not context.paths.lock.is_file():
        return
    if redo in ("detect", "select"):
        # The population itself is drawn anew: `select` writes a new lock.
        context.paths.lock.unlink()
        return
    lock = read_lock(context)
    new = current_protocol(context)
    first = STAGE_NAMES.index(redo)
    changed = [e for e in _changed(lock.protocol, new) if STAGE_NAMES.index(DECIDES[e]) >= first]
    if not changed:
        return
    judged = context.paths.judgements.is_file()
    added = tuple(
        Amendment(entry=e, was=lock.protocol.get(e), now=new.get(e), after_judging=judged)
        for e in changed
    )
    for amendment in added:
        say(f"protocol amended: {amendment.entry}" + (" (after judging)" if judged else ""))
    kept = {**lock.protocol, **{entry: new[entry] for entry in changed}}
    _write(context, Lock(protocol=kept, amendments=(*lock.amendments, *added)))


def read_lock(context: Context) -> Lock:
    """Read the lock of a run.

    Raises:
        RunStateError: There is none.
        DataError: It is damaged.
    """
    path = context.paths.lock
    try:
        return Lock.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise RunStateError(f"{path}: no such file; run the stage select first") from error
    except ValidationError as error:
        raise DataError(f"{path}: {explain(error, 'Lock')}") from error


def current_protocol(context: Context) -> dict[str, JsonValue]:
    """Return the protocol that the configuration and the population stand for now."""
    from ragmend.cli.backends import judge_entries, rewriter_entry, verifier_entry

    config = context.config
    arms: dict[str, JsonValue] = {
        arm: ["keep", *policy, "drop"] for arm, policy in ARM_POLICIES.items()
    }
    protocol: dict[str, JsonValue] = {
        "population": {
            "run": config.population.run,
            "limit": config.population.limit,
            "sha256": sha256_of_file(context.paths.population),
        },
        "verify": config.claims.verify,
        "evidence": {"top_k": config.evidence.top_k},
        "verifier": verifier_entry(config),
        "threshold": config.verifier.threshold,
        "verify_edit": config.verifier.verify_edit,
        "rewriter": rewriter_entry(config),
        "candidates_for": ["statement"],
        "prompts": {},
        "arms": arms,
        "judges": judge_entries(config),
        "primary_judge": config.judges.primary,
        "outcomes": ["label: at least one unsupported span", *CONDITIONS],
        "contrasts": {
            "primary": list(PRIMARY_CONTRASTS),
            "exploratory": list(EXPLORATORY_CONTRASTS),
        },
        "analysis": config.analysis.model_dump(mode="json"),
    }
    return json.loads(json.dumps(protocol))  # type: ignore[no-any-return] # plain JSON types


def _changed(old: dict[str, JsonValue], new: dict[str, JsonValue]) -> list[str]:
    entries = [entry for entry in DECIDES if old.get(entry) != new.get(entry)]
    return sorted(entries, key=lambda entry: STAGE_NAMES.index(DECIDES[entry]))


def _write(context: Context, lock: Lock) -> None:
    write_bytes(context.paths.lock, lock.model_dump_json(indent=2).encode() + b"\n")
