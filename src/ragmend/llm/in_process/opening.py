"""Opens a language model in this process; it answers as one behind a server does.

The model runs in one thread of its own, so that the event loop stays free; questions wait their
turn in order. Who asks them by source, as the stages do, has the source's tokens computed once.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from pydantic import JsonValue

from ragmend.errors import AnswerFaultError, RagmendError, ServerError
from ragmend.llm.in_process.chat import Chat, open_chat
from ragmend.llm.in_process.constraint import Constraints
from ragmend.llm.in_process.decoding import Generated, generate_tokens
from ragmend.llm.in_process.label_tokens import label_tokens
from ragmend.llm.in_process.loading import Loaded, load_model
from ragmend.llm.in_process.running import Abandoned, Runner, ShouldStop
from ragmend.llm.in_process.usage import Usage
from ragmend.llm.protocol import Generation, LabelScores, Prompt, Sampling
from ragmend.sections.models import ModelConfig

T = TypeVar("T")


@asynccontextmanager
async def open_in_process(
    model: ModelConfig, *, label_forms: Sequence[str] = ()
) -> AsyncIterator["InProcessModel"]:
    """Load a language model, and let go of its memory at the end.

    Args:
        model: Which one, and how.
        label_forms: The words whose log-probabilities will be asked for.

    Raises:
        ConfigError: torch or transformers is not installed; the weights are not what the
            configuration says; no label form is one token.
        MissingInputError: There is no such folder, or it or the cache lacks a file.
        ServerError: There is no memory for it.
    """
    # In this thread, since nothing else can be done before, and a signal then ends it at once.
    loaded = load_model(model)
    chat = open_chat(loaded.tokenizer, model.chat_template_kwargs, model=model.id)
    labels = label_tokens(loaded.tokenizer, label_forms, model=model.id)
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="language-model")
    opened = InProcessModel(model, loaded, chat, labels, worker)
    del loaded
    try:
        yield opened
    finally:
        opened.close()
        _free_memory()


class InProcessModel:
    """A loaded model: an `LLM`, with what it is and how it was used."""

    def __init__(
        self,
        model: ModelConfig,
        loaded: Loaded,
        chat: Chat,
        labels: Mapping[str, int],
        worker: ThreadPoolExecutor,
    ) -> None:
        """Take what `open_in_process` has made; the worker becomes its own."""
        self.usage = Usage()
        self._model = model
        self._context_length = loaded.context_length
        self._dtype = str(loaded.model.dtype).removeprefix("torch.")
        self._end_ids = loaded.end_ids
        self._chat = chat
        self._labels = labels
        self._runner: Runner | None = Runner(loaded.model, n_threads=model.threads)
        self._constraints: Constraints | None = None
        self._worker = worker
        self._is_closing = threading.Event()

    @property
    def model(self) -> str:
        """The name that stands in verdicts and tables."""
        return self._model.id

    @property
    def context_length(self) -> int:
        """The most tokens of a prompt and its answer together."""
        return self._context_length

    @property
    def facts(self) -> dict[str, JsonValue]:
        """What it is, for the manifest."""
        from importlib.metadata import version

        return {
            "model": self._model.id,
            "version": f"transformers {version('transformers')}, torch {version('torch')}",
            "max_model_len": self._context_length,
            "logprobs": "token-ids" if self._labels else None,
            "dtype": self._dtype,
        }

    async def score_labels(self, prompt: Prompt) -> LabelScores:
        """Return the log-probability of every label form that is one token; see `LLM`.

        Raises:
            AnswerFaultError: `too_long`, or `non_finite`.
            ServerError: The model failed.
        """
        if not self._labels:
            raise RuntimeError("open_in_process was given no label forms")
        ids = self._encode(prompt, n_more=1)
        logprobs, n_reused = await self._run(lambda stop: self._score(ids, stop))
        self.usage.add(n_prompt_tokens=len(ids), n_reused_tokens=n_reused)
        return LabelScores(logprobs=logprobs, n_prompt_tokens=len(ids))

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Return the model's answer; see `LLM`.

        Raises:
            AnswerFaultError: `too_long`, `non_finite`, or `malformed` where nothing can follow
                under the schema.
            ConfigError: The answer cannot be held to the schema.
            ServerError: The model failed.
        """
        ids = self._encode(prompt, n_more=sampling.max_tokens)
        generated = await self._run(lambda stop: self._generate(ids, sampling, stop))
        self.usage.add(
            n_prompt_tokens=len(ids),
            n_reused_tokens=generated.n_reused,
            n_tokens=len(generated.ids),
        )
        text = self._chat.tokenizer.decode(
            [token for token in generated.ids if token not in self._end_ids],
            skip_special_tokens=True,
            clean_up_tokenization_spaces=False,
        )
        return Generation(
            text=str(text),
            finish=generated.finish,
            n_prompt_tokens=len(ids),
            n_tokens=len(generated.ids),
        )

    async def count_tokens(self, prompt: Prompt) -> int:
        """Return how many tokens a prompt has, its chat template included."""
        return len(self._chat.encode(prompt))

    def close(self) -> None:
        """Stop what runs at its next token, and let go of the weights."""
        self._is_closing.set()
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._runner = self._constraints = None

    def _encode(self, prompt: Prompt, *, n_more: int) -> list[int]:
        ids = self._chat.encode(prompt)
        if len(ids) + n_more > self._context_length:
            raise AnswerFaultError(
                f"the prompt has {len(ids)} tokens, which with {n_more} of an answer is over the "
                f"context of {self._context_length}",
                status="too_long",
            )
        return ids

    async def _run(self, work: Callable[[ShouldStop], T]) -> T:
        """Let the worker do something; should nobody wait for it any more, it stops."""
        if self._is_closing.is_set():
            raise self._closed()
        is_abandoned = threading.Event()

        def should_stop() -> bool:
            return is_abandoned.is_set() or self._is_closing.is_set()

        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._worker, work, should_stop)
        except RagmendError:
            raise
        except Abandoned as error:
            raise self._closed() from error
        except RuntimeError as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ServerError(
                f"{self.model} failed in this process: {reason}; where memory was short, lower "
                "max_model_len, or take a smaller dtype or model"
            ) from error
        finally:
            is_abandoned.set()

    def _score(self, ids: Sequence[int], stop: ShouldStop) -> tuple[dict[str, float], int]:
        """Run a prompt; return the log-probability of each form, and how much was reused."""
        import torch

        logits, n_reused = self._ready_runner().prefill(ids, stop)
        every = torch.log_softmax(logits, dim=-1)
        found = {form: float(every[token]) for form, token in self._labels.items()}
        if any(not -float("inf") < logprob <= 0 for logprob in found.values()):
            raise AnswerFaultError(
                "a label's log-probability is not finite; try another dtype", status="non_finite"
            )
        return found, n_reused

    def _generate(self, ids: Sequence[int], sampling: Sampling, stop: ShouldStop) -> Generated:
        constraint = None
        if sampling.schema is not None:
            constraint = self._ready_constraints().start(sampling.schema)
        return generate_tokens(
            self._ready_runner(),
            ids,
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            end_ids=self._end_ids,
            constraint=constraint,
            should_stop=stop,
        )

    def _ready_runner(self) -> Runner:
        if self._runner is None:
            raise self._closed()
        return self._runner

    def _ready_constraints(self) -> Constraints:
        if self._constraints is None:
            settings = self._ready_runner().model.config.get_text_config()
            self._constraints = Constraints(
                self._chat.tokenizer, n_vocabulary=settings.vocab_size, end_ids=self._end_ids
            )
        return self._constraints

    def _closed(self) -> ServerError:
        return ServerError(f"{self.model}: is closed, nothing can be asked any more")


def _free_memory() -> None:
    """Give a GPU's memory back, which the next role's model may need."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
