"""Asks for answers one unit at a time through a journal, and keeps faults apart."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import JsonValue, ValidationError

from ragmend.cli.context import say
from ragmend.cli.progress import stage_progress
from ragmend.cli.sharding.journals import Journals, SharedJournal, open_journal
from ragmend.cli.sharding.markers import FaultyUnit
from ragmend.errors import AccountingError, AnswerFaultError
from ragmend.io import explain, sha256_of
from ragmend.paths import StageName, shard_path
from ragmend.records import Fault, Record
from ragmend.sections.models import ClientConfig

T = TypeVar("T", bound=Record)

UNITS_A_REQUEST = 4  # units begun for each request that may be in flight: enough to keep it busy


class Unit(NamedTuple, Generic[T]):
    """One piece of work that is answered and recorded as a whole.

    Attributes:
        record_id: The answer that it is about.
        source_id: That answer's source; few sources are worked on at once.
        request: Everything that changes the result, for the journal's key.
        compute: Does the work; raises `AnswerFaultError` when no usable answer came.
        condition: The condition, where a unit is one answer in one condition.
        judge: The judge, where a unit is one judgement.
    """

    record_id: str
    source_id: str
    request: dict[str, JsonValue]
    compute: Callable[[], Awaitable[Sequence[T]]]
    condition: str | None = None
    judge: str | None = None


class Answers(NamedTuple, Generic[T]):
    """The answers of all units in their order, and the units that have none."""

    records: list[T]
    faulty: list[FaultyUnit]

    @property
    def faults(self) -> list[Fault]:
        """The faults of those that have none."""
        return [unit.fault for unit in self.faulty]


async def _prepared() -> None:
    """Make nothing ready: what answers is there."""


class Asking(NamedTuple):
    """A stage that asks for answers, and the open journal of what its units came to.

    Attributes:
        stage: Stands in faults and progress.
        journal: What is recorded.
        live_sources: Sources that are worked on at once, at most.
        most_units: Units that are worked on at once, at most.
        settled: In a fold, the faults of units that have one: all others are recorded, and
            nobody is asked.
    """

    stage: StageName
    journal: SharedJournal
    live_sources: int
    most_units: int
    settled: Mapping[str, Fault] | None = None

    async def answer(
        self,
        units: Iterable[Unit[T]],
        *,
        model: type[T],
        n_units: int,
        prepare: Callable[[], Awaitable[None]] = _prepared,
        describe: Callable[[], str] = lambda: "",
    ) -> Answers[T]:
        """Answer all units, taking from the journal what it holds.

        Args:
            units: The work, in the order in which the records come out, those of a source
                together.
            model: The record type of the answers.
            n_units: How many units there are, for the progress display.
            prepare: Makes ready what answers; awaited before anything that is not recorded.
            describe: What else progress says.

        Raises:
            AccountingError: In a fold, a unit is neither recorded nor faulty.
            RagmendError: What is no fault of one answer; all that was answered is recorded.
        """
        outcomes: dict[int, Sequence[T] | FaultyUnit] = {}
        live: dict[asyncio.Task[Sequence[T] | FaultyUnit], tuple[int, str]] = {}

        async def settle() -> None:
            done, _ = await asyncio.wait(live, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                outcomes[live.pop(task)[0]] = task.result()
                advance()

        with stage_progress(self.stage, n_units, describe=describe) as advance:
            try:
                for number, unit in enumerate(units):
                    while live and self._is_full(unit.source_id, [own for _, own in live.values()]):
                        await settle()
                    answering = self._answer(unit, model, prepare)
                    live[asyncio.ensure_future(answering)] = number, unit.source_id
                while live:
                    await settle()
            finally:
                for task in live:
                    task.cancel()
                await asyncio.gather(*live, return_exceptions=True)
        return _in_order(outcomes)

    def _is_full(self, source_id: str, live: Sequence[str]) -> bool:
        is_new = source_id not in live
        return len(live) >= self.most_units or (is_new and len({*live}) >= self.live_sources)

    async def _answer(
        self, unit: Unit[T], model: type[T], prepare: Callable[[], Awaitable[None]]
    ) -> Sequence[T] | FaultyUnit:
        key = sha256_of(
            {"stage": self.stage, "of": model.__name__, "record_id": unit.record_id, **unit.request}
        )
        settled = None if self.settled is None else self.settled.get(key)
        if settled is not None:
            return FaultyUnit(key=key, fault=settled)
        recorded = self.journal.read(key, model)
        if recorded is not None:
            return recorded
        if self.settled is not None:
            raise AccountingError(
                f"stage {self.stage}, record {unit.record_id}: its shard has a marker, but its "
                f"answer is neither recorded in {self.journal.path.parent} nor among the faults: a "
                "journal was deleted or changed. Delete the shards' .done.json there, and answer "
                "them again (`ragmend submit RUN --resume`, or `ragmend shard …`)"
            )
        await prepare()
        try:
            answer = await _compute(unit, model)
        except AnswerFaultError as error:
            return FaultyUnit(key=key, fault=_as_fault(unit, self.stage, error))
        self.journal.append(key, [record.model_dump(mode="json") for record in answer])
        return answer


@contextmanager
def asking(
    stage: StageName,
    folder: Path,
    client: ClientConfig,
    *,
    journals: Journals | None = None,
    settled: Mapping[str, Fault] | None = None,
) -> Iterator[Asking]:
    """Open a stage's journals and say what they hold; see `Asking`.

    Args:
        stage: The stage.
        folder: Its folder.
        client: How much is asked at once.
        journals: What is read, and appended to; None: the one of a stage without parts.
        settled: As of an `Asking`.
    """
    journals = journals or Journals(shard_path(folder))
    with open_journal(journals) as journal:
        if settled is None:
            _say_recorded(stage, journal, journals)
        yield Asking(
            stage, journal, client.live_sources, UNITS_A_REQUEST * client.concurrency, settled
        )


def _say_recorded(stage: StageName, journal: SharedJournal, journals: Journals) -> None:
    # What others hold is a part's to use, but is nothing of its own that it resumes.
    n_torn = journal.n_torn + (journal.n_torn_elsewhere if journals.is_whole else 0)
    n_recorded = journal.n_recorded if journals.is_whole else len(journal.entries)
    if n_torn == 1:
        say(f"{stage:9} the journal's last line was torn by a kill; that answer is asked again")
    elif n_torn:
        say(f"{stage:9} {n_torn} journals' last lines were torn by kills; those are asked again")
    if n_recorded:
        say(f"{stage:9} resuming: {n_recorded:,} units are recorded")


async def _compute(unit: Unit[T], model: type[T]) -> Sequence[T]:
    try:
        return await unit.compute()
    except ValidationError as error:
        # A part answered something that is no such record: no answer, then, but a fault.
        raise AnswerFaultError(explain(error, model.__name__), status="malformed") from error


def _in_order(outcomes: dict[int, Sequence[T] | FaultyUnit]) -> Answers[T]:
    records: list[T] = []
    faulty: list[FaultyUnit] = []
    for _, outcome in sorted(outcomes.items()):
        if isinstance(outcome, FaultyUnit):
            faulty.append(outcome)
        else:
            records += outcome
    return Answers(records, faulty)


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
