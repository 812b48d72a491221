"""A language model behind a server, as roles know it."""

from dataclasses import dataclass, replace
from typing import Self

from pydantic import JsonValue

from ragmend.errors import AnswerFaultError, ServerError
from ragmend.io import shorten
from ragmend.llm.protocol import Generation, LabelScores, Prompt, Sampling
from ragmend.llm.server.answers import Answer, Tokens
from ragmend.llm.server.asking import Asker, Question
from ragmend.llm.server.label_tokens import LabelTokens
from ragmend.llm.server.metrics import Usage
from ragmend.llm.server.questions import ONE_TOKEN, Dialect


@dataclass(frozen=True)
class ServerModel:
    """Implements `ragmend.llm.protocol.LLM`; `open_server` makes one that is checked.

    Attributes:
        model: Its full repository id.
        context_length: In tokens, as the server told; as configured where it told nothing.
        facts: What the server said of itself, for the record.
        asker: Asks the server.
        dialect: How it is asked.
    """

    model: str
    context_length: int
    facts: dict[str, JsonValue]
    asker: Asker
    dialect: Dialect

    @property
    def usage(self) -> Usage:
        """Live counts of what it answered."""
        return self.asker.usage

    def folding_system(self) -> Self:
        """Return the same model, sent the system's text as the beginning of the user's."""
        return replace(self, dialect=self.dialect._replace(folds_system=True))

    def scoring(self, labels: LabelTokens) -> Self:
        """Return the same model with labels to score."""
        facts = {**self.facts, "logprobs": labels.style}
        return replace(self, facts=facts, dialect=self.dialect._replace(labels=labels))

    async def score_labels(self, prompt: Prompt) -> LabelScores:
        """Return the log-probability of every label form as the answer's first token.

        Raises:
            AnswerFaultError, ServerError: As the Protocol says.
        """
        labels = self.dialect.labels
        if labels is None:
            raise RuntimeError("open_server was given no label forms")
        return labels.read(await self.first_token(prompt, labels))

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Generation:
        """Return the model's answer to a prompt; an empty one is an answer.

        Raises:
            AnswerFaultError, ServerError: As the Protocol says.
        """
        body = self.dialect.to_generate(await self._as_sent(prompt), sampling)
        return self._read_text(await self._answer(body), sampling)

    async def count_tokens(self, prompt: Prompt) -> int:
        """Return how many tokens a prompt has for this model, its chat template included.

        A server without `/tokenize` is asked for an answer of one token, and counts with that.

        Raises:
            AnswerFaultError, ServerError: As the Protocol says.
        """
        if self.dialect.tokenizes:
            return (await self._tokenize(prompt)).count
        return (await self.generate(prompt, ONE_TOKEN)).n_prompt_tokens

    async def first_token(self, prompt: Prompt, labels: LabelTokens) -> Answer:
        """Return an answer of one token with the log-probabilities of labels.

        Raises:
            AnswerFaultError, ServerError: As `score_labels`.
        """
        return await self._answer(self.dialect.to_score(await self._as_sent(prompt), labels))

    async def probes(self, prompt: Prompt) -> dict[str, Question[object]]:
        """Return questions that the server can answer if it can answer any, by their paths.

        Raises:
            AnswerFaultError, ServerError: As `score_labels`.
        """
        dialect, sent = self.dialect, await self._as_sent(prompt)
        body = (
            dialect.to_generate(sent, ONE_TOKEN)
            if dialect.labels is None
            else dialect.to_score(sent, dialect.labels)
        )
        found = {dialect.path: Question[object](dialect.path, body, self._read_checked)}
        if dialect.tokenizes:
            body, read = dialect.to_tokenize(prompt), Tokens.model_validate_json
            found["/tokenize"] = Question[object]("/tokenize", body, read)
        return found

    async def tokenize_text(self, text: str) -> list[int]:
        """Return the tokens of a text alone.

        Raises:
            AnswerFaultError, ServerError: As `score_labels`.
        """
        body = self.dialect.to_tokenize_text(text)
        return (await self.asker.ask("/tokenize", body, Tokens.model_validate_json)).tokens

    async def _as_sent(self, prompt: Prompt) -> Prompt | list[int]:
        if self.dialect.endpoint == "chat":
            return prompt
        return (await self._tokenize(prompt)).tokens

    async def _tokenize(self, prompt: Prompt) -> Tokens:
        body = self.dialect.to_tokenize(prompt)
        return await self.asker.ask("/tokenize", body, Tokens.model_validate_json)

    async def _answer(self, body: dict[str, JsonValue]) -> Answer:
        answer = await self.asker.ask(self.dialect.path, body, self._read_checked)
        self.usage.count(answer.n_prompt_tokens, answer.n_tokens)
        return answer

    def _read_checked(self, content: bytes) -> Answer:
        answer = self.dialect.read(content)
        if answer.model != self.dialect.model:
            other = shorten(self._hide_key(answer.model))
            raise ServerError(
                f"{self.asker.server.url}: {other} answered instead of "
                f"{self.dialect.model!r}: serve the one that is configured"
            )
        return answer

    def _read_text(self, answer: Answer, sampling: Sampling) -> Generation:
        text, finish = answer.text, answer.finish
        raw = None if text is None else self._hide_key(text)
        if finish not in ("stop", "length"):
            ended = None if finish is None else self._hide_key(finish)
            message = f"the answer ended with {shorten(ended)}, expected 'stop' or 'length'"
            raise AnswerFaultError(message, status="malformed", raw=raw)
        if text is None:
            raise AnswerFaultError("the answer holds no text", status="empty")
        n_needed = answer.n_prompt_tokens + sampling.max_tokens
        if finish == "length" and n_needed > self.context_length:
            raise AnswerFaultError(
                f"the prompt's {answer.n_prompt_tokens} tokens and {sampling.max_tokens} for the "
                f"answer do not fit the context of {self.context_length}: the server gave the "
                f"answer {answer.n_tokens} only",
                status="too_long",
                raw=raw,
            )
        return Generation(
            text=text,
            finish="length" if finish == "length" else "stop",
            n_prompt_tokens=answer.n_prompt_tokens,
            n_tokens=answer.n_tokens,
        )

    def _hide_key(self, text: str) -> str:
        return self.asker.server.hide_key(text)
