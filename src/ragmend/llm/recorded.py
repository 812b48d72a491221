"""A language model whose answers are recorded, so that nothing is asked twice.

The key of an answer is all that changes it (model, prompt, sampling) and nothing that does not:
two conditions with one text are one question. A failure is never recorded as an answer, and what
its role cannot read is one; within a run it is not asked again either.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from pydantic import JsonValue

from ragmend.errors import DataError
from ragmend.io import sha256_of
from ragmend.journal import ADVICE, Journal
from ragmend.llm.protocol import LLM, Generation, LabelScores, Prompt, Sampling
from ragmend.records import Record

A = TypeVar("A", LabelScores, Generation)
CheckScores = Callable[[LabelScores], object]
CheckText = Callable[[Prompt, Generation], object]


class RecordedLLM:
    """Answers from a journal what it holds, and asks the model for the rest."""

    def __init__(
        self,
        llm: LLM,
        journal: Journal,
        identity: Mapping[str, JsonValue],
        *,
        check_scores: CheckScores | None = None,
        check_text: CheckText | None = None,
    ) -> None:
        """Take the model and its journal.

        Args:
            llm: The model.
            journal: An open journal, of this model in this role alone.
            identity: What identifies the model in keys.
            check_scores: Raises `AnswerFaultError` for scores that the role cannot read.
            check_text: The same for a generated text.
        """
        self._llm = llm
        self._check_scores, self._check_text = check_scores, check_text
        self._journal = journal
        self._identity = dict(identity)
        self._asked: dict[str, asyncio.Task[Record]] = {}

    @property
    def model(self) -> str:
        """The model's name."""
        return self._llm.model

    @property
    def context_length(self) -> int:
        """The model's context in tokens."""
        return self._llm.context_length

    async def score_labels(self, prompt: Prompt) -> LabelScores:
        """Return the recorded scores, or the model's; see `LLM`."""
        return await self._answer(
            {"ask": "labels", "prompt": list(prompt)},
            partial(self._score, prompt),
            LabelScores,
        )

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Return the recorded text, or the model's; see `LLM`."""
        how: dict[str, JsonValue] = {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "schema": None if sampling.schema is None else dict(sampling.schema),
        }
        return await self._answer(
            {"ask": "text", "prompt": list(prompt), **how},
            partial(self._generate, prompt, sampling),
            Generation,
        )

    async def count_tokens(self, prompt: Prompt) -> int:
        """Return the model's count; it is no answer, and not recorded."""
        return await self._llm.count_tokens(prompt)

    async def _score(self, prompt: Prompt) -> LabelScores:
        scores = await self._llm.score_labels(prompt)
        if self._check_scores is not None:
            self._check_scores(scores)
        return scores

    async def _generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        generation = await self._llm.generate(prompt, sampling)
        if self._check_text is not None:
            self._check_text(prompt, generation)
        return generation

    async def _answer(
        self, question: dict[str, JsonValue], ask: Callable[[], Awaitable[A]], model: type[A]
    ) -> A:
        key = sha256_of({"model": self._identity, **question})
        recorded = self._journal.read(key, model)
        if recorded is not None:
            if len(recorded) != 1:
                raise DataError(
                    f"{self._journal.path}: {len(recorded)} answers of a model to one request; "
                    f"{ADVICE}"
                )
            return recorded[0]
        if key not in self._asked:
            self._asked[key] = asyncio.ensure_future(self._ask(key, ask))
        answer = await self._asked[key]
        self._asked.pop(key, None)  # recorded from here on; a failure stays
        if not isinstance(answer, model):
            raise TypeError(f"{type(answer).__name__} for {model.__name__}: keys must differ")
        return answer

    async def _ask(self, key: str, ask: Callable[[], Awaitable[A]]) -> Record:
        answer = await ask()
        self._journal.append(key, [answer.model_dump(mode="json")])
        return answer
