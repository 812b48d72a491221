"""Asks for answers one unit at a time through a journal, and keeps faults apart."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import JsonValue, ValidationError

from ragmend.cli.context import say
from ragmend.cli.progress import stage_progress
from ragmend.errors import AnswerFaultError, DataError
from ragmend.io import canonical_json, explain, sha256_of
from ragmend.journal import ADVICE, Answer, Journal
from ragmend.paths import StageName, shard_path
from ragmend.records import Fault, Record

T = TypeVar("T", bound=Record)


class Unit(NamedTuple, Generic[T]):
    """One piece of work that is answered and recorded as a whole.

    Attributes:
        record_id: The answer that it is about.
        request: Everything that changes the result, for the journal's key.
        compute: Does the work; raises `AnswerFaultError` when no usable answer came.
        condition: The condition, where a unit is one answer in one condition.
        judge: The judge, where a unit is one judgement.
    """

    record_id: str
    request: dict[str, JsonValue]
    compute: Callable[[], Sequence[T]]
    condition: str | None = None
    judge: str | None = None


class Answers(NamedTuple, Generic[T]):
    """The answers of all units in their order, and the faults of those that have none."""

    records: list[T]
    faults: list[Fault]


def answer_units(
    units: Iterable[Unit[T]], *, model: type[T], stage: StageName, folder: Path, n_units: int
) -> Answers[T]:
    """Answer all units, taking from the journal what it holds.

    Args:
        units: The work, in the order in which the records come out.
        model: The record type of the answers.
        stage: Stands in faults and progress.
        folder: The stage's folder, under which the journal lies.
        n_units: How many units there are, for the progress display.
    """
    records: list[T] = []
    faults: list[Fault] = []
    with Journal(shard_path(folder)) as journal, stage_progress(stage, n_units) as advance:
        _say_what_is_there(journal, stage, n_units)
        for unit in units:
            try:
                records += _answer(unit, model, stage, journal)
            except AnswerFaultError as error:
                faults.append(_as_fault(unit, stage, error))
            advance()
    return Answers(records, faults)


def _answer(unit: Unit[T], model: type[T], stage: StageName, journal: Journal) -> Sequence[T]:
    key = sha256_of({"stage": stage, "record_id": unit.record_id, **unit.request})
    recorded = journal.entries.get(key)
    if recorded is not None:
        return [_as_record(record, model, journal) for record in recorded]
    try:
        answer = unit.compute()
    except ValidationError as error:
        # A part answered something that is no such record: no answer, then, but a fault.
        raise AnswerFaultError(explain(error, model.__name__), status="malformed") from error
    journal.append(key, [record.model_dump(mode="json") for record in answer])
    return answer


def _say_what_is_there(journal: Journal, stage: StageName, n_units: int) -> None:
    if journal.n_torn:
        say(f"{stage:9} the journal's last line was torn by a kill; that answer is asked again")
    if journal.entries:
        say(f"{stage:9} resuming: {len(journal.entries):,} of {n_units:,} units are recorded")


def _as_record(recorded: Answer, model: type[T], journal: Journal) -> T:
    try:
        return model.model_validate_json(canonical_json(recorded))
    except ValidationError as error:
        found = explain(error, model.__name__)
        raise DataError(
            f"{journal.path}: a recorded answer is damaged ({found}); {ADVICE}"
        ) from error


def _as_fault(unit: Unit[T], stage: StageName, error: AnswerFaultError) -> Fault:
    return Fault(
        stage=stage,
        record_id=unit.record_id,
        status=error.status,
        message=str(error),
        claim_id=error.claim_id,
        condition=unit.condition,
        judge=unit.judge,
        raw=error.raw,
    )
