"""How a prompt is put to one server: the bodies of its requests, settled once at opening."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ragmend.llm.protocol import Prompt, Sampling
from ragmend.llm.server.answers import Answer, read_chat, read_completion
from ragmend.llm.server.label_tokens import N_TOP, LabelTokens

# Without them a vLLM server takes what the model's generation_config.json says, as Qwen2.5's
# repetition penalty of 1.05, and a greedy answer is not the model's own.
NEUTRAL: Mapping[str, JsonValue] = {"repetition_penalty": 1.0, "top_k": -1, "min_p": 0.0}
ONE_TOKEN = Sampling(max_tokens=1)


class Dialect(NamedTuple):
    """How one server is asked.

    Attributes:
        model: The model's name on it.
        endpoint: Where answers come from.
        tokenizes: Whether it has `/tokenize`.
        folds_system: The chat template has no system turn: its text opens the user's.
        template: What the chat template is told.
        sampling: Fields of every request that keep the server's own defaults out.
        labels: How labels are scored; None: they are not.
    """

    model: str
    endpoint: Literal["chat", "completions"]
    template: Mapping[str, JsonValue]
    sampling: Mapping[str, JsonValue]
    tokenizes: bool = False
    folds_system: bool = False
    labels: LabelTokens | None = None

    @property
    def path(self) -> str:
        """Where questions are posted."""
        return "chat/completions" if self.endpoint == "chat" else "completions"

    def to_tokenize(self, prompt: Prompt) -> dict[str, JsonValue]:
        """Return what asks for a prompt's tokens, as the chat endpoint would make them."""
        return {
            "model": self.model,
            "messages": self._messages(prompt),
            "add_generation_prompt": True,
            **self._template(),
        }

    def to_tokenize_text(self, text: str) -> dict[str, JsonValue]:
        """Return what asks for the tokens of a text alone."""
        return {"model": self.model, "prompt": text, "add_special_tokens": False}

    def to_generate(self, prompt: Prompt | list[int], sampling: Sampling) -> dict[str, JsonValue]:
        """Return what asks for an answer.

        Args:
            prompt: Two turns for `chat`; for `completions` the tokens of them, never their text:
                that would be given a second token of beginning.
            sampling: How it is to be generated.
        """
        body: dict[str, JsonValue] = {
            "model": self.model,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": 1.0,
            "seed": 0,
            **self.sampling,
        }
        if sampling.schema is not None:
            body["response_format"] = _json_schema(sampling.schema)
        if isinstance(prompt, Prompt):
            return {**body, "messages": self._messages(prompt), **self._template()}
        return {**body, "prompt": list(prompt)}

    def to_score(self, prompt: Prompt | list[int], labels: LabelTokens) -> dict[str, JsonValue]:
        """Return what asks for the labels' log-probabilities as the answer's first token."""
        body = self.to_generate(prompt, ONE_TOKEN)
        n_top = 0 if labels.style == "token-ids" else N_TOP
        if self.endpoint == "completions":
            body["logprobs"] = n_top
        else:
            body["logprobs"] = True
            if n_top:
                body["top_logprobs"] = n_top
        if labels.style == "token-ids":
            body["logprob_token_ids"] = list(labels.ids)
        if labels.are_named_by_id:
            body["return_tokens_as_token_ids"] = True
        return body

    def read(self, body: bytes) -> Answer:
        """Read an answer to any of these but those of tokens.

        Raises:
            ValidationError: It is none.
        """
        return read_chat(body) if self.endpoint == "chat" else read_completion(body)

    def _messages(self, prompt: Prompt) -> list[JsonValue]:
        system, user = prompt
        if system and self.folds_system:
            system, user = "", f"{system}\n\n{user}"
        turns: list[JsonValue] = [{"role": "user", "content": user}]
        return [{"role": "system", "content": system}, *turns] if system else turns

    def _template(self) -> dict[str, JsonValue]:
        return {"chat_template_kwargs": dict(self.template)} if self.template else {}


def _json_schema(schema: Mapping[str, JsonValue]) -> JsonValue:
    described: JsonValue = {"name": "answer", "schema": dict(schema), "strict": True}
    return {"type": "json_schema", "json_schema": described}
