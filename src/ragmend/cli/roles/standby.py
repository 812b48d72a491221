"""A role's language model that is opened when it is first needed, and is the same ever after.

A stage of which everything is recorded needs no server. What a model said of itself lies beside
the records that it answered: answers of another one, with another context or another version, do
not go among them unnoticed.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from ragmend.errors import AccountingError, DataError, RunStateError
from ragmend.io import Line, parse_object, read_file, write_bytes
from ragmend.llm.protocol import LLM, Generation, LabelScores, Prompt, Sampling

Facts = dict[str, JsonValue]


class Usage(Protocol):
    """How a model was used since it was opened."""

    def describe(self) -> str:
        """Say it in a few words, for progress."""

    def as_json(self) -> dict[str, JsonValue]:
        """Return the counts, for the manifest."""


class Serving(LLM, Protocol):
    """A model that says what it is and how it was used."""

    @property
    def facts(self) -> Facts:
        """What it said of itself."""

    @property
    def usage(self) -> Usage:
        """How it was used."""


Opening = Callable[[], AbstractAsyncContextManager[Serving]]


class Memory(NamedTuple):
    """What a model said of itself, in files beside the records that it answered.

    Attributes:
        own: The file of the journal that is appended to.
        others: Those of the journals that are only read; not all of them are there.
    """

    own: Path
    others: tuple[Path, ...] = ()

    def read(self) -> Facts:
        """Return what it said; nothing where it never was opened.

        Raises:
            RunStateError: It said different things.
            DataError: A file is damaged.
        """
        said = [_read_facts(path) for path in (self.own, *self.others) if path.is_file()]
        for other in said[1:]:
            check_same(said[0], other)
        return said[0] if said else {}

    def keep(self, facts: Facts) -> None:
        """Write down what it says now.

        Raises:
            RunStateError: It is not the model that answered so far.
        """
        was = self.read()
        if was:
            check_same(was, facts)
        if not self.own.is_file():
            write_bytes(self.own, json.dumps(facts, indent=1).encode())


class Standby:
    """A language model before and after it is opened; see `standby`."""

    def __init__(self, model: str, opening: Opening, memory: Memory, stack: AsyncExitStack) -> None:
        """Open nothing yet."""
        self.model = model
        self._opening, self._memory, self._stack = opening, memory, stack
        self._serving: Serving | None = None
        self._lock = asyncio.Lock()

    @property
    def facts(self) -> Facts:
        """What the model says of itself; unopened, what it said when it last was."""
        return self._memory.read() if self._serving is None else self._serving.facts

    def as_json(self) -> dict[str, JsonValue]:
        """Return how it was used, for the manifest."""
        return {} if self._serving is None else self._serving.usage.as_json()

    def describe(self) -> str:
        """Say how it is used, for progress."""
        return "" if self._serving is None else self._serving.usage.describe()

    @property
    def context_length(self) -> int:
        """The most tokens of a prompt and its answer together."""
        return self.serving.context_length

    async def open(self) -> None:
        """Open the model, if nobody has yet.

        Raises:
            ConfigError, ServerError: It cannot be opened.
            RunStateError: It is not the one that answered what is recorded.
        """
        async with self._lock:
            if self._serving is None:
                serving = await self._stack.enter_async_context(self._opening())
                self._memory.keep(serving.facts)
                self._serving = serving

    async def score_labels(self, prompt: Prompt) -> LabelScores:
        """See `LLM`."""
        return await self.serving.score_labels(prompt)

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """See `LLM`."""
        return await self.serving.generate(prompt, sampling)

    async def count_tokens(self, prompt: Prompt) -> int:
        """See `LLM`."""
        return await self.serving.count_tokens(prompt)

    @property
    def serving(self) -> Serving:
        """The opened model."""
        if self._serving is None:
            raise RuntimeError(f"{self.model} is asked before it is opened")
        return self._serving


class Asked(Standby):
    """A language model of which all is known: it is not asked again, and cannot be."""

    def __init__(self, model: str, facts: Facts, usage: dict[str, JsonValue]) -> None:
        """Take what it said of itself and how it was used."""
        super().__init__(model, self._refuse, Memory(Path()), AsyncExitStack())
        self._facts, self._was_used = facts, usage

    @property
    def facts(self) -> Facts:
        """What it said of itself."""
        return self._facts

    def as_json(self) -> dict[str, JsonValue]:
        """Return how it was used, for the manifest."""
        return self._was_used

    def _refuse(self) -> AbstractAsyncContextManager[Serving]:
        raise AccountingError(f"{self.model} is asked where all answers should be recorded")


@asynccontextmanager
async def standby(model: str, opening: Opening, memory: Memory) -> AsyncIterator[Standby]:
    """Hold a model ready for a block; it is closed at its end, if it was opened.

    Args:
        model: Its name.
        opening: Opens it.
        memory: What holds what it said of itself, while records of it are there.
    """
    async with AsyncExitStack() as stack:
        yield Standby(model, opening, memory, stack)


def check_same(was: Facts, now: Facts) -> None:
    """Check that a model is the one that it was.

    Raises:
        RunStateError: It says otherwise of itself.
    """
    changed = [
        f"{key} was {was.get(key)}, is {now.get(key)}"
        for key in sorted({*was, *now})
        if was.get(key) != now.get(key)
    ]
    if changed:
        raise RunStateError(
            f"another model than the one that answered so far: {'; '.join(changed)}; start that "
            "one again, or --redo the stage that it first answered in"
        )


def _read_facts(memory: Path) -> Facts:
    try:
        return parse_object(Line(str(memory), read_file(memory).decode()))
    except UnicodeDecodeError as error:
        raise DataError(f"{memory}: not UTF-8 ({error.reason}); --redo the stage") from error
