"""Units are answered side by side, recorded one by one, and come out in their order."""

import asyncio
import random

import pytest

from ragmend.cli.asking import Unit, asking
from ragmend.errors import AnswerFaultError, DataError, ServerError
from ragmend.journal import read_journal
from ragmend.paths import shard_path
from ragmend.records import Verdict
from ragmend.sections.models import ClientConfig


class Work:
    """Units that answer after a while, and what was going on at once."""

    def __init__(self, folder, *, live_sources=2, concurrency=4):
        self.folder = folder
        self.client = ClientConfig(live_sources=live_sources, concurrency=concurrency)
        self.asked, self.live, self.most_live, self.most_sources = [], [], 0, 0
        self.failing = {}

    def unit(self, number, source):
        async def compute():
            self.asked.append(number)
            self.live.append(source)
            self.most_live = max(self.most_live, len(self.live))
            self.most_sources = max(self.most_sources, len({*self.live}))
            try:
                for _ in range(random.Random(number).randrange(5)):
                    await asyncio.sleep(0)
                if number in self.failing:
                    raise self.failing[number]
            finally:
                self.live.remove(source)
            return [verdict(number)]

        return Unit(str(number), source, {"number": number}, compute)

    def run(self, sources):
        async def answer():
            with asking("verify", self.folder, self.client) as stage:
                units = (self.unit(number, source) for number, source in enumerate(sources))
                return await stage.answer(units, model=Verdict, n_units=len(sources))

        return asyncio.run(answer())


def verdict(number):
    return Verdict(record_id=str(number), claim_id=f"{number}-0", p_support=0.5, model="m")


SOURCES = [f"s{n // 3}" for n in range(30)]


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


def test_answers_come_in_the_order_of_the_units(work):
    answers = work.run(SOURCES)
    assert answers.records == [verdict(number) for number in range(30)]
    assert answers.faults == []
    assert work.most_live > 1


@pytest.mark.parametrize("live_sources", [1, 2, 5])
def test_few_sources_are_worked_on_at_once(tmp_path, live_sources):
    work = Work(tmp_path, live_sources=live_sources)
    work.run(SOURCES)
    assert work.most_sources == live_sources


def test_few_units_are_begun_at_once_even_of_one_source(tmp_path):
    work = Work(tmp_path, concurrency=2)
    work.run(["s"] * 50)
    assert work.most_live <= 8


def test_a_fault_of_one_unit_leaves_the_others_and_keeps_its_place(work):
    work.failing = {4: AnswerFaultError("cut", status="truncated", claim_id="4-0", raw="{")}
    answers = work.run(SOURCES)
    assert [record.record_id for record in answers.records] == [str(n) for n in range(30) if n != 4]
    (fault,) = answers.faults
    assert (fault.record_id, fault.claim_id, fault.status, fault.raw) == (
        "4", "4-0", "truncated", "{",
    )  # fmt: skip


def test_what_is_no_fault_of_one_answer_stops_all_and_loses_nothing(work):
    work.failing = {20: ServerError("died")}
    with pytest.raises(ServerError, match="died"):
        work.run(SOURCES)
    assert work.live == []
    n_recorded = len(read_journal(shard_path(work.folder)).entries)
    assert n_recorded > 10
    work.failing, work.asked = {}, []
    assert work.run(SOURCES).records == [verdict(number) for number in range(30)]
    assert len(work.asked) == 30 - n_recorded


def test_a_recorded_unit_is_not_answered_again_and_a_damaged_one_is_named(work):
    work.run(SOURCES[:3])
    work.asked = []
    assert work.run(SOURCES[:3]).records == [verdict(number) for number in range(3)]
    assert work.asked == []
    path = shard_path(work.folder)
    path.write_text(path.read_text().replace('"p_support":0.5', '"p_support":7'))
    with pytest.raises(DataError, match="a recorded answer is damaged"):
        work.run(SOURCES[:3])
