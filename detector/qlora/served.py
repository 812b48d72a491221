"""A generative detector behind a vLLM server, asked as if it were loaded here.

Only its tokenizer is loaded. Answers are those of the server's arithmetic: its adapter is in the
base's number type, not in float32, and near ties between two tokens may fall otherwise.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic import JsonValue

from ragmend.detector.qlora.adapter_server import Opened, open_adapter
from ragmend.detector.qlora.rows import asked_prompt, too_long_answer
from ragmend.detector.qlora.tokens import Coder, load_coder
from ragmend.detector.training.job import Job, Pair
from ragmend.errors import AnswerFaultError
from ragmend.llm.server.metrics import Usage
from ragmend.sections.models import ClientConfig
from ragmend.trained import DetectorAnswer


class ServedPredictor:
    """A detector behind a server; `open_served` makes one that is checked.

    Requests run in a thread of their own: what a signal raises here cannot get lost in them.
    """

    def __init__(
        self, job: Job, coder: Coder, opened: Opened, portal: BlockingPortal, n_ahead: int
    ) -> None:
        """Take a server that is open.

        Args:
            job: The training.
            coder: Its tokenizer.
            opened: The server.
            portal: Leads to the thread in which it is asked.
            n_ahead: How many responses are in work at once, at most.
        """
        self._job, self._coder, self._opened = job, coder, opened
        self._portal, self._n_ahead = portal, n_ahead

    @property
    def facts(self) -> dict[str, JsonValue]:
        """What the server said of itself."""
        return self._opened.facts

    @property
    def usage(self) -> Usage:
        """Counts of what it answered."""
        return self._opened.usage

    def answer(self, batch: Sequence[Pair]) -> list[DetectorAnswer]:
        """Answer a batch at once, in order.

        Raises:
            ServerError: The server is dead, or not the one that it was.
        """
        found = {answer.record_id: answer for answer in self.stream(batch)}
        return [found[pair.response.record_id] for pair in batch]

    def stream(self, pairs: Iterable[Pair]) -> Generator[DetectorAnswer, None, None]:
        """Answer many, and yield each answer as soon as it is there, in no order.

        An answer that could not be had says so in `problem`. When the server dies, everything
        that it still answered is yielded before the error is raised.

        Raises:
            ServerError: As `answer`.
        """
        waiting, running = iter(pairs), set[Future[DetectorAnswer]]()
        failed: BaseException | None = None
        try:
            while True:
                if failed is None:
                    running |= {
                        self._portal.start_task_soon(self._answer, pair)
                        for pair in islice(waiting, self._n_ahead - len(running))
                    }
                if not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    error = future.exception()
                    failed = failed or error
                    if error is None:
                        yield future.result()
        finally:
            for future in running:
                future.cancel()
        if failed is not None:
            raise failed

    async def _answer(self, pair: Pair) -> DetectorAnswer:
        recipe, record_id = self._job.recipe, pair.response.record_id
        prompt = asked_prompt(pair, self._coder, recipe)
        if prompt is None:
            return too_long_answer(pair, self._coder, recipe)
        try:
            written = await self._opened.asking.write(prompt.ids, max_tokens=recipe.answer_tokens)
        except AnswerFaultError as fault:
            return DetectorAnswer(
                record_id=record_id,
                text=fault.raw or "",
                ended=False,
                left_out_fragments=prompt.n_left_out,
                problem=fault.status,
                message=f"response {record_id}: {fault}",
            )
        return DetectorAnswer(
            record_id=record_id,
            text=self._coder.text_of(written.ids),
            n_tokens=len(written.ids),
            ended=written.ended,
            left_out_fragments=prompt.n_left_out,
        )


@contextmanager
def open_served(
    job: Job,
    weights: Path,
    url: str,
    client: ClientConfig,
    *,
    coder: Coder | None = None,
    environ: Mapping[str, str] | None = None,
) -> Iterator[ServedPredictor]:
    """Open a detector behind a server, and let go of the server's connections at the end.

    Args:
        job: The training.
        weights: The folder of its adapter: what the server must have.
        url: As in "http://127.0.0.1:8000/v1".
        client: How the server is asked.
        coder: The detector's tokenizer; None: it is loaded.
        environ: Where the API key's variable is looked up; None: this process's environment.

    Raises:
        ServerError, ConfigError, MissingInputError: As `open_adapter`, and `load_coder`.
    """
    own = coder or load_coder(job, to_ask_a_server=True)
    with start_blocking_portal() as portal:
        opening = open_adapter(job, weights, own, url, client, environ=environ)
        with portal.wrap_async_context_manager(opening) as opened:
            yield ServedPredictor(job, own, opened, portal, 2 * client.concurrency)
