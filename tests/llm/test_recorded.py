"""Answers of a model are recorded once, asked once, and never a failure for an answer."""

import asyncio
import json

import pytest

from ragmend.errors import AnswerFaultError, DataError
from ragmend.journal import Journal, read_journal
from ragmend.llm.protocol import Generation, LabelScores, Prompt, Sampling
from ragmend.llm.recorded import RecordedLLM
from ragmend.llm.scripted import ScriptedLLM

ONE, TWO = Prompt("s", "one"), Prompt("s", "two")
SAMPLING = Sampling(max_tokens=100)


class Asked:
    """A scripted model that keeps what it was asked, and fails where it is told to."""

    def __init__(self, failing=()):
        self.asked, self.failing = [], set(failing)

    def scores(self, prompt):
        self._ask("labels", prompt)
        return {"Yes": -0.5, "No": -1.5}

    def text(self, prompt):
        self._ask("text", prompt)
        return f"answer to {prompt.user}"

    def _ask(self, kind, prompt):
        self.asked.append((kind, prompt.user))
        if prompt.user in self.failing:
            raise AnswerFaultError("no answer", status="timeout")

    @property
    def llm(self):
        return ScriptedLLM(self.scores, self.text)


def with_journal(path, asked, work, identity=None, **checks):
    async def run():
        with Journal(path) as journal:
            return await work(RecordedLLM(asked.llm, journal, identity or {"id": "m"}, **checks))

    return asyncio.run(run())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shards/shard-0000-x.jsonl"


def test_a_recorded_answer_is_not_asked_again(path):
    asked = Asked()

    async def work(llm):
        return await llm.score_labels(ONE), await llm.generate(ONE, SAMPLING)

    first = with_journal(path, asked, work)
    assert with_journal(path, asked, work) == first
    assert asked.asked == [("labels", "one"), ("text", "one")]
    assert isinstance(first[0], LabelScores)
    assert isinstance(first[1], Generation)


def test_the_same_question_at_the_same_time_is_asked_once(path):
    asked = Asked()

    async def work(llm):
        return await asyncio.gather(*(llm.generate(ONE, SAMPLING) for _ in range(5)))

    assert len(set(with_journal(path, asked, work))) == 1
    assert asked.asked == [("text", "one")]


@pytest.mark.parametrize(
    ("identity", "prompt", "sampling"),
    [
        ({"id": "other"}, ONE, SAMPLING),
        ({"id": "m"}, TWO, SAMPLING),
        ({"id": "m"}, Prompt("other", "one"), SAMPLING),
        ({"id": "m"}, ONE, Sampling(max_tokens=99)),
        ({"id": "m"}, ONE, Sampling(max_tokens=100, temperature=0.5)),
        ({"id": "m"}, ONE, Sampling(max_tokens=100, schema={"type": "object"})),
    ],
)
def test_everything_that_changes_an_answer_asks_anew(path, identity, prompt, sampling):
    asked = Asked()
    with_journal(path, asked, lambda llm: llm.generate(ONE, SAMPLING))
    with_journal(path, asked, lambda llm: llm.generate(prompt, sampling), identity)
    assert len(asked.asked) == 2


def test_a_failure_is_no_answer_but_is_not_asked_again_in_the_same_run(path):
    asked = Asked(failing={"one"})

    async def work(llm):
        outcomes = await asyncio.gather(
            *(llm.score_labels(ONE) for _ in range(3)), return_exceptions=True
        )
        with pytest.raises(AnswerFaultError):
            await llm.score_labels(ONE)
        await llm.score_labels(TWO)
        return outcomes

    outcomes = with_journal(path, asked, work)
    assert {type(outcome) for outcome in outcomes} == {AnswerFaultError}
    assert asked.asked == [("labels", "one"), ("labels", "two")]
    assert len(read_journal(path).entries) == 1
    asked.failing.clear()
    with_journal(path, asked, lambda llm: llm.score_labels(ONE))
    assert len(read_journal(path).entries) == 2


def test_a_damaged_answer_is_named_and_not_used(path):
    asked = Asked()
    with_journal(path, asked, lambda llm: llm.score_labels(ONE))
    path.write_text(path.read_text().replace("-0.5", "0.5"))
    with pytest.raises(DataError, match="a recorded answer is damaged"):
        with_journal(path, asked, lambda llm: llm.score_labels(ONE))


def test_token_counts_are_not_recorded(path):
    async def work(llm):
        return await llm.count_tokens(ONE), llm.context_length

    assert with_journal(path, Asked(), work) == (2, 1_000_000)
    assert read_journal(path).entries == {}


def refuse(*answer):
    raise AnswerFaultError(f"cannot be read: {answer[-1]}", status="malformed")


def test_what_the_role_cannot_read_is_no_answer_and_is_asked_again_by_the_next_run(path):
    asked = Asked()

    async def work(llm):
        for ask in (lambda: llm.score_labels(ONE), lambda: llm.generate(ONE, SAMPLING)):
            with pytest.raises(AnswerFaultError, match="cannot be read"):
                await ask()

    with_journal(path, asked, work, check_scores=refuse, check_text=refuse)
    assert read_journal(path).entries == {}
    read = []
    with_journal(
        path,
        asked,
        lambda llm: llm.generate(ONE, SAMPLING),
        check_text=lambda *given: read.append(given),
    )
    assert [(prompt, generation.text) for prompt, generation in read] == [(ONE, "answer to one")]
    assert asked.asked == [("labels", "one"), ("text", "one"), ("text", "one")]


def test_an_entry_with_no_answer_or_two_is_named_and_not_used(path):
    asked = Asked()
    with_journal(path, asked, lambda llm: llm.score_labels(ONE))
    entry = json.loads(path.read_text())
    for answers in ([], entry["answer"] * 2):
        path.write_text(json.dumps({**entry, "answer": answers}) + "\n")
        with pytest.raises(DataError, match=f"{len(answers)} answers of a model to one request"):
            with_journal(path, asked, lambda llm: llm.score_labels(ONE))
