"""The ledger of a training: what was ever evaluated on the test split, and why more than once.

A training has one test evaluation. Whoever looks a second time has seen the first: the reason is
written down before the first answer, and every table says so. What identifies an evaluation are
its settings, its weights and its data: one that was interrupted goes on only as the same.
"""

from pathlib import Path
from typing import NamedTuple

from ragmend.errors import RunStateError
from ragmend.io import read_records, write_records
from ragmend.manifest import now
from ragmend.records import Split
from ragmend.trained import LedgerEntry


class Evaluation(NamedTuple):
    """One evaluation that is about to begin, or to go on.

    Attributes:
        run_id: The training, for messages.
        split: What is predicted; only the test split is counted.
        digest: The SHA-256 of all that decides its answers.
        again: Why it is evaluated once more, if it is.
    """

    run_id: str
    split: Split
    digest: str
    again: str | None


def read_ledger(path: Path) -> list[LedgerEntry]:
    """Read a training's ledger; one that is not there has no entry."""
    return list(read_records(path, LedgerEntry)) if path.exists() else []


def refuse_evaluation(path: Path, wanted: Evaluation) -> None:
    """Refuse an evaluation that the ledger does not allow; nothing is written.

    Raises:
        RunStateError: It was evaluated already, and no reason is given; or one is given and it
            was not, or another one is under way.
    """
    _number(read_ledger(path), wanted)


def begin_evaluation(path: Path, wanted: Evaluation) -> int:
    """Write down that an evaluation begins; one that was interrupted goes on.

    Returns:
        Its number, from 1; 0 of a split that is not counted.

    Raises:
        RunStateError: As `refuse_evaluation`.
    """
    entries = read_ledger(path)
    number = _number(entries, wanted)
    if number == 0 or any(entry.number == number for entry in entries):
        return number
    entry = LedgerEntry(
        event="begun",
        number=number,
        split=wanted.split,
        settings_sha256=wanted.digest,
        reason=wanted.again,
        at=now(),
    )
    write_records(path, [*entries, entry])
    return number


def end_evaluation(path: Path, number: int) -> None:
    """Write down that an evaluation is complete, if it is the last and was not yet known to be.

    Args:
        path: The ledger.
        number: That of the verdicts that are there.
    """
    entries = read_ledger(path)
    if entries and entries[-1].event == "begun" and entries[-1].number == number:
        ended = entries[-1].model_copy(update={"event": "ended", "at": now()})
        write_records(path, [*entries, ended])


def _number(entries: list[LedgerEntry], wanted: Evaluation) -> int:
    """Return the number of a new evaluation, or of the one that goes on; 0: it is not counted."""
    if wanted.split != "test":
        return 0
    last = entries[-1] if entries else None
    if last is not None and last.event == "begun" and last.settings_sha256 == wanted.digest:
        if wanted.again not in (None, last.reason):
            raise RunStateError(
                f"{wanted.run_id}: an evaluation is under way, begun {last.at} because "
                f"{last.reason!r}: leave --again out to go on with it"
            )
        return last.number
    if entries and wanted.again is None:
        raise RunStateError(
            f"{wanted.run_id} was evaluated on the test split already ({entries[0].at}): a "
            'training has one test evaluation. `ragmend detect predict … --again "reason"` does '
            "it once more, and every table says so"
        )
    if not entries and wanted.again is not None:
        raise RunStateError(
            f"{wanted.run_id} was never evaluated on the test split: leave --again out"
        )
    return 1 + max((entry.number for entry in entries), default=0)
