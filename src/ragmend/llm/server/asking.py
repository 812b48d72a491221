"""Asking a server: so many requests at once, and again while what went wrong is transient."""

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from openai import APIError
from pydantic import JsonValue, ValidationError

from ragmend.errors import AnswerFaultError, RagmendError, ServerError
from ragmend.llm.server.connection import Connection
from ragmend.llm.server.faults import Transient, UnreadableError, classify, unreadable
from ragmend.llm.server.metrics import Usage
from ragmend.sections.models import ClientConfig

T = TypeVar("T")
FAILED_IN_A_ROW = 3
# What may be the server's state as well as the question's own fault.
_COUNTED = {"unavailable", "timeout", "refused", "malformed"}


class Question(NamedTuple, Generic[T]):
    """One thing to ask.

    Attributes:
        path: Where; see `Connection.post`.
        body: What is posted; None: nothing, it is a GET.
        read: Reads the answer's body; see `Asker.ask`.
    """

    path: str
    body: Mapping[str, JsonValue] | None
    read: Callable[[bytes], T]


class Asker:
    """Asks one server, and stops for good once nothing can be asked of it.

    That questions fail one after another may be their own doing, as where all are about one long
    source. So a short one is asked before the server is given up.

    Attributes:
        server: Whom.
        settings: How.
        usage: Where retries are counted.
        probes: By path, a question that is answered if any is; empty while the server is opened.
    """

    def __init__(self, server: Connection, settings: ClientConfig, usage: Usage) -> None:
        """Make an asker; it has asked nothing yet."""
        self.server = server
        self.settings = settings
        self.usage = usage
        self.probes: Mapping[str, Question[object]] = {}
        self._slots = asyncio.Semaphore(settings.concurrency)  # first come, first served
        self._random = random.Random()  # noqa: S311 - spreads retries, decides nothing
        self._stopped = asyncio.Event()
        self._why_stopped = ""
        self._has_answered = False
        self._n_failed_in_a_row = 0
        self._probing = asyncio.Lock()

    async def ask(
        self, path: str, body: Mapping[str, JsonValue] | None, read: Callable[[bytes], T]
    ) -> T:
        """Ask one thing until it is answered.

        A request keeps its slot while it waits for its next try: a server in trouble is asked
        less, and the order of the sources stays.

        Args:
            path: Where; see `Connection.post`.
            body: What is posted; None: nothing, it is a GET.
            read: Reads the answer's body. It raises ValidationError for a body of another shape,
                AnswerFaultError or ServerError for one that says what it must not.

        Raises:
            AnswerFaultError: The server gives no usable answer to this.
            ServerError: Nothing can be asked any more; from then on everything raises it.
        """
        async with self._slots:
            try:
                return await self._ask_guarded(Question(path, body, read))
            except ServerError as error:
                self._why_stopped = str(error)
                self._stopped.set()
                raise

    async def _ask_guarded(self, question: Question[T]) -> T:
        try:
            answer = await self._ask_until_answered(question)
        except AnswerFaultError as fault:
            await self._stop_if_all_fails(question.path, fault)
            raise
        self._n_failed_in_a_row = 0
        return answer

    async def _stop_if_all_fails(self, path: str, fault: AnswerFaultError) -> None:
        self._n_failed_in_a_row += 1
        if fault.status not in _COUNTED:
            self._n_failed_in_a_row = 0  # the server has read the question
        if path not in self.probes:
            return
        async with self._probing:
            # One short question does for all that failed meanwhile.
            if self._n_failed_in_a_row < FAILED_IN_A_ROW:
                return
            try:
                await self._ask_until_answered(self.probes[path])
            except AnswerFaultError as again:
                raise ServerError(
                    f"{self.server.url}: the server lives and fails everything, {FAILED_IN_A_ROW} "
                    f"requests in a row and a short question after them ({again}); what is "
                    "answered is recorded: put it right and run the same command again"
                ) from fault
            self._n_failed_in_a_row = 0

    async def _ask_until_answered(self, question: Question[T]) -> T:
        now = asyncio.get_running_loop().time
        deadline = now() + self.settings.deadline_s
        n_tries = 0
        while True:
            self._refuse_if_stopped()
            n_tries += 1
            try:
                async with asyncio.timeout(min(self.settings.timeout_s, deadline - now())):
                    content = await self._send(question)
                answer = self._read(content, question)
            except (APIError, TimeoutError, UnreadableError) as error:
                fault = classify(error, self.server, is_opening=not self.probes)
                if not isinstance(fault, Transient):
                    raise fault from error
                pause_s = self._pause_s(n_tries, fault)
                is_last = n_tries >= self.settings.max_tries or now() + pause_s >= deadline
                if is_last or (fault.is_no_server and not self._has_answered):
                    raise await self._give_up(fault, n_tries) from error
            else:
                self._has_answered = True
                return answer
            self.usage.n_retries += 1
            await self._pause(pause_s)

    async def _send(self, question: Question[T]) -> bytes:
        if question.body is None:
            return await self.server.get(question.path)
        return await self.server.post(question.path, question.body)

    def _read(self, content: bytes, question: Question[T]) -> T:
        try:
            return question.read(content)
        except ValidationError as error:
            raise unreadable(content, error, self.server) from error

    def _pause_s(self, n_tries: int, fault: Transient) -> float:
        longest = self.settings.max_backoff_s
        pause_s = min(longest, self.settings.backoff_s * 2.0 ** (n_tries - 1))
        pause_s *= 0.5 + 0.5 * self._random.random()
        return max(pause_s, fault.retry_after_s or 0.0)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    async def _give_up(self, fault: Transient, n_tries: int) -> RagmendError:
        url, tries = self.server.url, f"{n_tries} {'try' if n_tries == 1 else 'tries'}"
        if not await self.server.is_alive():
            if not self._has_answered:
                return ServerError(
                    f"{url}: no server answers there ({fault.message}): start it, or put "
                    "its address right"
                )
            return ServerError(
                f"{url}: the server died ({fault.message}); what is answered is recorded: start "
                "it and run the same command again"
            )
        return AnswerFaultError(
            f"{url}: {fault.message} ({tries})", status=fault.status, raw=fault.raw
        )

    def _refuse_if_stopped(self) -> None:
        if self._stopped.is_set():
            raise ServerError(self._why_stopped)
