"""Several questions at once, none of whose answers is lost when another one fails."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from ragmend.errors import AnswerFaultError

T = TypeVar("T")


async def gather_answers(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Await all, then return their answers in order, or raise what went wrong.

    All are awaited even when one has failed: what the others answered is recorded where they are
    asked, so that no answer is asked for twice.

    Raises:
        Exception: The first in order that is no fault of one answer, else the first fault.
    """
    answers = await asyncio.gather(*questions, return_exceptions=True)
    errors = [answer for answer in answers if isinstance(answer, BaseException)]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, AnswerFaultError))
    return [answer for answer in answers if not isinstance(answer, BaseException)]
