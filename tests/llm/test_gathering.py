"""Several questions at once: every answer is waited for, whichever fails."""

import asyncio

import pytest

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.llm.gathering import gather_answers


def fault(message):
    return AnswerFaultError(message, status="empty")


def gather(*outcomes):
    done = []

    async def question(outcome, number):
        for _ in range(len(outcomes) - number):
            await asyncio.sleep(0)
        done.append(number)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def ask():
        return await gather_answers(question(each, n) for n, each in enumerate(outcomes))

    try:
        return asyncio.run(ask()), sorted(done)
    except (AnswerFaultError, ServerError) as error:
        return error, sorted(done)


def test_answers_come_in_the_order_of_the_questions():
    assert gather("a", "b", "c") == (["a", "b", "c"], [0, 1, 2])
    assert gather() == ([], [])


def test_the_first_fault_is_raised_after_all_are_answered():
    first, second = fault("first"), fault("second")
    assert gather("a", first, "c", second) == (first, [0, 1, 2, 3])


def test_what_is_no_fault_of_one_answer_comes_before_faults():
    dead = ServerError("dead")
    assert gather(fault("first"), dead, "c") == (dead, [0, 1, 2])


def test_a_cancelled_question_is_no_answer():
    async def cancelled():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(gather_answers([cancelled()]))
