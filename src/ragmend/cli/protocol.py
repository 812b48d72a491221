"""The protocol lock: what was fixed before any judging, and what was changed after all."""

import json
from typing import Literal

from pydantic import JsonValue

from ragmend.analysis.settings import PAPER_CONTRASTS
from ragmend.cli.context import Context, say
from ragmend.cli.data import detector_run_id
from ragmend.errors import DataError, RagmendError, RunStateError
from ragmend.io import (
    dump_record,
    read_record,
    sha256_of_file,
    write_bytes,
    write_bytes_of_many,
)
from ragmend.paths import STAGE_NAMES, StageName
from ragmend.records import CONDITIONS, Record
from ragmend.repair.arms import ARM_POLICIES

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
    "outcomes": "judge",
    "primary_judge": "analyze",
    "contrasts": "analyze",
    "analysis": "analyze",
    "prompt_of_verifier": "verify",
    "prompt_of_rewriter": "propose",
    "prompt_of_judges": "judge",
}
PROMPT_ENTRY = {
    "verifier": "prompt_of_verifier",
    "rewriter": "prompt_of_rewriter",
    "judges": "prompt_of_judges",
}


class Amendment(Record):
    """One entry that was changed after the lock had been written."""

    entry: str
    was: JsonValue
    now: JsonValue
    after_judging: bool

    @property
    def when(self) -> str:
        """Say whether it was changed before or after judging had begun."""
        return "after judging" if self.after_judging else "before judging"


class Lock(Record):
    """The protocol of a run, as `protocol.lock.json` holds it.

    `judged` stays true once judging has begun, whatever is done again later.
    """

    schema_version: Literal[1] = 1
    protocol: dict[str, JsonValue]
    judged: bool = False
    amendments: tuple[Amendment, ...] = ()


def write_lock(context: Context) -> None:
    """Fix the protocol when the population is drawn; a lock that is there is amended."""
    if context.paths.lock.is_file():
        _amend(context, since="detect")
    else:
        _write(context, Lock(protocol=current_protocol(context)))


def refuse_locked(context: Context, redo: StageName | None) -> None:
    """Check that the configuration changes nothing that the lock holds fixed.

    Entries that decide nothing before the stage that is redone may change; they become
    amendments. Where the population is drawn anew, all may.

    Raises:
        RunStateError: Another entry changed; the message names it and the stage to redo.
    """
    paths = context.paths
    is_drawn = paths.lock.is_file() and paths.population.is_file()
    if redo in ("detect", "select") or not is_drawn:
        return
    first = len(STAGE_NAMES) if redo is None else STAGE_NAMES.index(redo)
    changed = _changed(read_lock(context).protocol, current_protocol(context))
    for entry in changed:
        if STAGE_NAMES.index(DECIDES[entry]) < first:
            raise RunStateError(
                f"the protocol is locked and {entry} is no longer what {paths.lock.name} says; "
                f"the first stage that it decides is {DECIDES[entry]}: `ragmend run … --redo "
                f"{DECIDES[entry]}` amends the protocol, another --out makes a new run"
            )


def amend_lock(context: Context, redo: StageName) -> None:
    """Take over what changed; `select` does it itself when the population is drawn anew."""
    if redo not in ("detect", "select") and context.paths.lock.is_file():
        _amend(context, since=redo)


def mark_judging(context: Context) -> None:
    """Record that judging has begun: whatever changes from here on is known to come after.

    Many shards may begin at once; they all say the same.
    """
    lock = read_lock(context)
    if not lock.judged:
        judged = lock.model_copy(update={"judged": True})
        write_bytes_of_many(context.paths.lock, dump_record(judged))


def is_lock_readable(context: Context) -> bool:
    """Tell whether there is a lock that can be read."""
    try:
        read_lock(context)
    except RagmendError:
        return False
    return True


def _amend(context: Context, *, since: StageName) -> None:
    lock, new = read_lock(context), current_protocol(context)
    first = STAGE_NAMES.index(since)
    changed = [
        entry
        for entry in _changed(lock.protocol, new)
        if STAGE_NAMES.index(DECIDES[entry]) >= first
    ]
    if not changed:
        return
    added = tuple(
        Amendment(entry=e, was=lock.protocol.get(e), now=new.get(e), after_judging=lock.judged)
        for e in changed
    )
    for amendment in added:
        say(f"protocol amended {amendment.when}: {amendment.entry}")
    protocol = {**lock.protocol, **{entry: new.get(entry) for entry in changed}}
    amendments = (*lock.amendments, *added)
    _write(context, Lock(protocol=protocol, judged=lock.judged, amendments=amendments))


def read_lock(context: Context) -> Lock:
    """Read the lock of a run.

    Raises:
        RunStateError: There is none.
        DataError: It is damaged.
    """
    path = context.paths.lock
    if not path.exists():
        raise RunStateError(f"{path}: no such file; run the stage select first")
    try:
        return read_record(path, Lock)
    except DataError as error:
        raise DataError(f"{error}; put it back, or --redo select") from error


def current_protocol(context: Context) -> dict[str, JsonValue]:
    """Return the protocol that the configuration and the population stand for now."""
    from ragmend.cli.roles.identities import (
        judge_entries,
        prompt_entries,
        rewriter_entry,
        verifier_entry,
    )

    config = context.config
    arms: dict[str, JsonValue] = {
        arm: ["keep", *policy, "drop"] for arm, policy in ARM_POLICIES.items()
    }
    protocol: dict[str, JsonValue] = {
        "population": {
            "run": config.population.run or detector_run_id(config),
            "limit": config.population.limit,
            "sha256": sha256_of_file(context.paths.population),
        },
        "verify": config.claims.verify,
        "evidence": config.evidence.model_dump(mode="json"),
        "verifier": verifier_entry(config),
        "threshold": config.verifier.threshold,
        "verify_edit": config.verifier.verify_edit,
        "rewriter": rewriter_entry(config),
        "candidates_for": {
            "extract": "statements of the source",
            "rewrite": "statements of the source"
            if config.rewriter.backend == "lexical"
            else "every eligible claim",
        },
        **{PROMPT_ENTRY[role]: entry for role, entry in prompt_entries(config).items()},
        "arms": arms,
        "judges": judge_entries(config),
        "primary_judge": config.judges.primary,
        "outcomes": ["label: at least one unsupported span", *CONDITIONS],
        "contrasts": {
            family: [c.name for c in PAPER_CONTRASTS if c.family == family]
            for family in ("primary", "exploratory")
        },
        "analysis": config.analysis.model_dump(mode="json"),
    }
    return json.loads(json.dumps(protocol))  # type: ignore[no-any-return] # plain JSON types


def _changed(old: dict[str, JsonValue], new: dict[str, JsonValue]) -> list[str]:
    entries = [entry for entry in DECIDES if old.get(entry) != new.get(entry)]
    return sorted(entries, key=lambda entry: STAGE_NAMES.index(DECIDES[entry]))


def _write(context: Context, lock: Lock) -> None:
    write_bytes(context.paths.lock, dump_record(lock))
