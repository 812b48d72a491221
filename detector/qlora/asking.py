"""One question to a server: the tokens that were trained on, and what is written after them.

A server is sent token ids and asked for token ids, so that neither its tokenizer nor how it writes
tokens has a part in it; and for the log-probability of each token, without which a vLLM server
answers an empty text where the model's numbers are none.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, JsonValue

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.io import shorten
from ragmend.llm.protocol import NEGATIVE_INFINITY, Sampling
from ragmend.llm.server.answers import finite_logprob
from ragmend.llm.server.asking import Asker
from ragmend.llm.server.questions import Dialect

PATH = "completions"


class Written(NamedTuple):
    """What a model wrote after a prompt.

    Attributes:
        ids: Its tokens, with the one that ended it.
        logprobs: The log-probability of each, in nats.
        ended: Whether a token ended it, or the limit did.
    """

    ids: list[int]
    logprobs: list[float]
    ended: bool


class Asking(NamedTuple):
    """How one server is asked.

    Attributes:
        asker: Asks it.
        dialect: The endpoint `completions`; its model is asked where no other is named.
        end_ids: The tokens that end what is written.
    """

    asker: Asker
    dialect: Dialect
    end_ids: frozenset[int]

    async def write(self, ids: list[int], *, max_tokens: int, model: str | None = None) -> Written:
        """Let the model go on after a prompt, greedily.

        Args:
            ids: The prompt's tokens.
            max_tokens: The most tokens that it may write.
            model: Another name on the same server.

        Raises:
            AnswerFaultError: The server gives no usable answer to this.
            ServerError: Nothing can be asked any more.
        """
        body = self.body(ids, max_tokens=max_tokens, model=model)
        read = partial(self.read, ids=ids, model=model or self.dialect.model)
        choice = await self.asker.ask(PATH, body, read)
        self.asker.usage.count(len(ids), len(choice.token_ids))
        return self._checked(choice, max_tokens)

    def body(
        self, ids: list[int], *, max_tokens: int, model: str | None = None
    ) -> dict[str, JsonValue]:
        """Return what is posted."""
        dialect = self.dialect if model is None else self.dialect._replace(model=model)
        return {
            **dialect.to_generate(ids, Sampling(max_tokens)),
            "stop_token_ids": list[JsonValue](sorted(self.end_ids)),
            "return_token_ids": True,
            "logprobs": 0,
        }

    def read(self, content: bytes, ids: list[int], *, model: str) -> "Choice":
        """Read an answer, and check that it is one to this question.

        Raises:
            ValidationError: It is none.
            ServerError: Another model answered, or it was asked something else.
        """
        url, answer = self.asker.server.url, _Completion.model_validate_json(content)
        if answer.model != model:
            other = shorten(self.asker.server.hide_key(answer.model))
            raise ServerError(f"{url}: {other} answered instead of {model!r}: serve that one")
        choice = answer.choices[0]
        if choice.prompt_token_ids != ids:
            raise ServerError(
                f"{url}: the model was asked with {len(choice.prompt_token_ids)} tokens that are "
                f"not the {len(ids)} that were sent: something between cuts or changes prompts; "
                "ask the vLLM server itself"
            )
        return choice

    def _checked(self, choice: "Choice", max_tokens: int) -> Written:
        ids, finish = choice.token_ids, choice.finish_reason
        logprobs = _finite(choice.logprobs.token_logprobs)
        n, last = len(ids), ids[-1] if ids else None
        if len(logprobs) != n:
            raise _malformed(f"{len(logprobs)} log-probabilities of {n} tokens")
        if finish == "stop" and last in self.end_ids:
            return Written(ids, logprobs, ended=True)
        if finish == "length" and n == max_tokens:
            return Written(ids, logprobs, ended=False)
        if finish == "length":
            raise AnswerFaultError(
                f"the server gave the answer {n} tokens, {max_tokens} were asked for",
                status="truncated",
            )
        if finish == "stop" and last is None:
            raise AnswerFaultError("the answer holds no token", status="empty")
        how = shorten(self.asker.server.hide_key(str(finish)))
        raise _malformed(f"the answer of {n} tokens ended with {last} and {how}")


class Choice(BaseModel):
    """What is read of an answer; other fields are ignored."""

    finish_reason: str | None
    token_ids: list[int]
    prompt_token_ids: list[int]
    logprobs: "_Logprobs"


class _Logprobs(BaseModel):
    token_logprobs: list[float | None]


class _Completion(BaseModel):
    model: str
    choices: Annotated[list[Choice], Field(min_length=1)]


def _finite(logprobs: Sequence[float | None]) -> list[float]:
    """Return log-probabilities of tokens that were chosen; none of them is minus infinity."""
    found = [finite_logprob(logprob) for logprob in logprobs]
    if any(logprob <= NEGATIVE_INFINITY for logprob in found):
        raise AnswerFaultError(
            "the most probable token has no probability: the model's numbers are none",
            status="non_finite",
        )
    return found


def _malformed(message: str) -> AnswerFaultError:
    return AnswerFaultError(message, status="malformed")
