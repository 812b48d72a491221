"""What a server's answers look like, and what is read of them; other fields are ignored."""

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from ragmend.errors import AnswerFaultError
from ragmend.records import Count


class ModelCard(BaseModel):
    """A model that a server has."""

    id: str
    max_model_len: int | None = None


class ModelList(BaseModel):
    """The answer of `/v1/models`."""

    data: list[ModelCard]


class Version(BaseModel):
    """The answer of vLLM's `/version`."""

    version: str


class Tokens(BaseModel):
    """The answer of vLLM's `/tokenize`."""

    count: Count
    tokens: list[int]


class Answer(NamedTuple):
    """The first choice of an answer, the same for both endpoints.

    Attributes:
        model: Who answered.
        text: What; None where the server gave no text.
        finish: Why it ended.
        logprobs: The name and log-probability of each token told for the first place; names are
            the server's, and two tokens that decode alike may have one.
        n_prompt_tokens: As the server counted them.
        n_tokens: As the server counted them.
    """

    model: str
    text: str | None
    finish: str | None
    logprobs: Sequence[tuple[str, float | None]]
    n_prompt_tokens: int
    n_tokens: int


def read_chat(body: bytes) -> Answer:
    """Read an answer of `/v1/chat/completions`.

    Raises:
        ValidationError: It is none.
    """
    answer = _Chat.model_validate_json(body)
    choice = answer.choices[0]
    places = choice.logprobs.content if choice.logprobs else None
    entries = (places[0].top_logprobs or []) if places else []
    logprobs = [(entry.token, entry.logprob) for entry in entries]
    return _answer(answer, choice.message.content, choice.finish_reason, logprobs)


def read_completion(body: bytes) -> Answer:
    """Read an answer of `/v1/completions`.

    Raises:
        ValidationError: It is none.
    """
    answer = _Completion.model_validate_json(body)
    choice = answer.choices[0]
    places = choice.logprobs.top_logprobs if choice.logprobs else None
    told = (places[0] or {}) if places else {}
    return _answer(answer, choice.text, choice.finish_reason, list(told.items()))


def finite_logprob(logprob: float | None) -> float:
    """Return a log-probability that is one; rounding may have brought it above zero.

    Raises:
        AnswerFaultError: `non_finite` where it is no number; `malformed` where it is positive.
    """
    if logprob is None or not math.isfinite(logprob):
        raise AnswerFaultError(
            f"a log-probability is no finite number ({logprob})", status="non_finite"
        )
    if logprob > ROUNDING:
        raise AnswerFaultError(f"a log-probability is positive ({logprob})", status="malformed")
    return min(logprob, 0.0)


ROUNDING = 1e-6


class _Usage(BaseModel):
    prompt_tokens: Count
    completion_tokens: Count


class _Entry(BaseModel):
    token: str
    logprob: float | None


class _Place(BaseModel):
    top_logprobs: list[_Entry] | None = None


class _ChatLogprobs(BaseModel):
    content: list[_Place] | None = None


class _Message(BaseModel):
    content: str | None


class _ChatChoice(BaseModel):
    message: _Message
    finish_reason: str | None
    logprobs: _ChatLogprobs | None = None


class _Chat(BaseModel):
    model: str
    choices: Annotated[list[_ChatChoice], Field(min_length=1)]
    usage: _Usage


class _CompletionLogprobs(BaseModel):
    top_logprobs: list[dict[str, float | None] | None] | None = None


class _CompletionChoice(BaseModel):
    text: str | None
    finish_reason: str | None
    logprobs: _CompletionLogprobs | None = None


class _Completion(BaseModel):
    model: str
    choices: Annotated[list[_CompletionChoice], Field(min_length=1)]
    usage: _Usage


def _answer(
    answer: _Chat | _Completion,
    text: str | None,
    finish: str | None,
    logprobs: Sequence[tuple[str, float | None]],
) -> Answer:
    usage = answer.usage
    return Answer(
        answer.model, text, finish, logprobs, usage.prompt_tokens, usage.completion_tokens
    )
