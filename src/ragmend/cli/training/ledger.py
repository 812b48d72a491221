"""The ledger of a training: what was ever evaluated on the test split, and why more than once.

A training has one test evaluation. Whoever looks a second time has seen the first: the reason is
written down before the first answer, and every table says so.
"""

from pathlib import Path

from pydantic import JsonValue

from ragmend.errors import RunStateError
from ragmend.io import read_records, sha256_of, write_records
from ragmend.manifest import now
from ragmend.records import Split
from ragmend.trained import LedgerEntry


def read_ledger(path: Path) -> list[LedgerEntry]:
    """Read a training's ledger; one that is not there has no entry."""
    return list(read_records(path, LedgerEntry)) if path.exists() else []


def begin_evaluation(
    path: Path, *, run_id: str, split: Split, settings: dict[str, JsonValue], again: str | None
) -> int:
    """Write down that an evaluation begins; one that was interrupted goes on.

    Args:
        path: The ledger.
        run_id: The training, for messages.
        split: What is predicted; only the test split is counted.
        settings: What decides the evaluation's answers.
        again: Why it is evaluated once more.

    Returns:
        The evaluation's number, from 1; 0 for a split that is not counted.

    Raises:
        RunStateError: It was evaluated already, and no reason is given; or one is given and it
            was not.
    """
    if split != "test":
        return 0
    entries = read_ledger(path)
    digest = sha256_of(settings)
    last = entries[-1] if entries else None
    if last is not None and last.event == "begun" and last.settings_sha256 == digest:
        return last.number
    if entries and again is None:
        raise RunStateError(
            f"{run_id} was evaluated on the test split already ({entries[0].at}): a training has "
            'one test evaluation. `ragmend detect predict … --again "reason"` does it once more, '
            "and every table says so"
        )
    if not entries and again is not None:
        raise RunStateError(f"{run_id} was never evaluated on the test split: leave --again out")
    number = 1 + max((entry.number for entry in entries), default=0)
    entry = LedgerEntry(
        event="begun", number=number, split=split, settings_sha256=digest, reason=again, at=now()
    )
    write_records(path, [*entries, entry])
    return number


def end_evaluation(path: Path, number: int) -> None:
    """Write down that an evaluation is complete."""
    entries = read_ledger(path)
    own = [entry for entry in entries if entry.number == number]
    if own and all(entry.event == "begun" for entry in own):
        write_records(path, [*entries, own[-1].model_copy(update={"event": "ended", "at": now()})])
